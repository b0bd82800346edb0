//! SIGINT and SIGTERM: the first asks the arena to end in order, the second ends the process at once.

use std::pin::pin;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::{CommandResult, Interrupted};

/// The two signals that end the process.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Takes the signals over from the system, which would end the process.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for either.
    pub async fn next(&mut self) -> SignalKind {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
        }
    }

    /// Ends the process at the next signal, with the exit code that shells give to it. What was acknowledged is in the
    /// database; all else is lost, as in a crash.
    pub async fn end_at_the_next(mut self) {
        let signal = self.next().await;
        tracing::warn!("second signal: exiting at once");
        std::process::exit(128 + signal.as_raw_value());
    }
}

/// Does work whose unfinished files go with it: at a signal it is dropped, and the command fails.
///
/// # Errors
/// Those of the work, or a signal.
pub(super) async fn unless_interrupted<T>(work: impl Future<Output = CommandResult<T>>) -> CommandResult<T> {
    or_interrupted(Interrupted::NO_FILE, work).await
}

/// As [`unless_interrupted`], with the error of a signal.
///
/// # Errors
/// As [`unless_interrupted`].
pub(super) async fn or_interrupted<T>(
    interrupted: Interrupted,
    work: impl Future<Output = CommandResult<T>>,
) -> CommandResult<T> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        done = work => done,
        _ = signals.next() => Err(interrupted.into()),
    }
}

/// As [`unless_interrupted`], of work that has to end in order: a signal cancels its token, and a second one drops it.
///
/// # Errors
/// The second signal.
pub(super) async fn until_interrupted<T>(work: impl AsyncFnOnce(CancellationToken) -> T) -> CommandResult<T> {
    let mut signals = Signals::listen()?;
    let stop = CancellationToken::new();
    let mut work = pin!(work(stop.clone()));
    tokio::select! {
        done = &mut work => return Ok(done),
        _ = signals.next() => stop.cancel(),
    }
    tokio::select! {
        done = &mut work => Ok(done),
        _ = signals.next() => Err(Interrupted::NO_FILE.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, id};

    use super::*;

    #[actix_web::test]
    async fn a_signal_drops_work_with_its_unfinished_files_or_has_it_end_in_order() {
        let interrupt = || {
            let signalled = Command::new("sh").args(["-c", &format!("kill -INT {}", id())]).status();
            assert!(signalled.unwrap().success());
        };
        let folder = tempfile::tempdir().unwrap();
        let partial = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
        let work = async move {
            let _partial = partial;
            interrupt();
            std::future::pending::<CommandResult<()>>().await
        };
        let error = unless_interrupted(work).await.unwrap_err();
        assert_eq!((error.message().as_str(), error.is_interrupt()), ("interrupted: no file was written", true));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let in_order = until_interrupted(async |stop| {
            interrupt();
            stop.cancelled().await;
            tokio::task::yield_now().await;
            "in order"
        });
        assert_eq!(in_order.await.unwrap(), "in order");
    }
}
