//! SIGINT and SIGTERM: the first asks the arena to end in order, the second ends the process at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The two signals that end the process.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Takes the signals over from the system, which would end the process.
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for either.
    pub(super) async fn next(&mut self) -> SignalKind {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
        }
    }

    /// Ends the process at the next signal, with the exit code that shells give to it. What was acknowledged is in the
    /// database; all else is lost, as in a crash.
    pub(super) async fn end_at_the_next(mut self) {
        let signal = self.next().await;
        tracing::warn!("second signal: exiting at once");
        std::process::exit(128 + signal.as_raw_value());
    }
}
