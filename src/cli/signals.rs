//! SIGINT and SIGTERM: the first asks the arena to end in order, the second ends the process at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

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
    let mut signals = Signals::listen()?;
    tokio::select! {
        done = work => done,
        _ = signals.next() => Err(Interrupted.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, id};

    use super::*;

    #[actix_web::test]
    async fn a_signal_drops_work_with_its_unfinished_files() {
        let folder = tempfile::tempdir().unwrap();
        let partial = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
        let work = async move {
            let _partial = partial;
            let signalled = Command::new("sh").args(["-c", &format!("kill -INT {}", id())]).status();
            assert!(signalled.unwrap().success());
            std::future::pending::<CommandResult<()>>().await
        };
        let error = unless_interrupted(work).await.unwrap_err();
        assert_eq!((error.message().as_str(), error.is_interrupt()), ("interrupted: no file was written", true));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
