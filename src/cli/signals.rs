//! SIGINT and SIGTERM: the first requests a graceful shutdown of the arena, the second ends the process at once.
//!
//! Other commands handle signals themselves ([`Signals`]). Otherwise `until_signal` ends them once they open an embedded database, so that
//! it is closed. Before that, and with PostgreSQL, the operating system ends the process at a signal, but no longer once there has been a
//! [`Signals`]: the runtime never restores the default action, and an unawaited signal has no effect.

use std::future::pending;
use std::io::Write as _;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::error::{CommandResult, Interrupted};

/// Time that a command has to end after a signal before [`end_if_busy`] ends the process: longer than its databases take to close.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(3);
/// Delay without a reaction to the signal after which [`end_if_busy`] reports that the command is busy.
const BUSY_NOTICE_DELAY: Duration = Duration::from_millis(500);
const BUSY_NOTICE: &str = "the command is busy and will be stopped within 3 seconds; press Ctrl-C again to stop it now";

/// Number of [`Signals`] values: while there is one, a part of the command handles signals.
static ACTIVE_SIGNALS: AtomicUsize = AtomicUsize::new(0);
/// Whether [`until_signal`] has ended the command, which now closes its databases.
static ENDED_BY_SIGNAL: AtomicBool = AtomicBool::new(false);

/// Handler of the two signals that end the process. While a value exists, they end neither the process nor the command.
pub struct Signals(SignalStreams);

impl Signals {
    /// Installs the handlers, which replace the default action of ending the process.
    pub fn listen() -> std::io::Result<Self> {
        let streams = SignalStreams::open()?;
        ACTIVE_SIGNALS.fetch_add(1, Ordering::SeqCst);
        Ok(Self(streams))
    }

    /// Waits for either signal.
    pub async fn next(&mut self) -> SignalKind {
        self.0.next().await
    }

    /// Ends the process at the next signal, with the exit code that shells report for it. Acknowledged data is in the database; all else is
    /// lost, as in a crash.
    pub async fn exit_at_next_signal(mut self) {
        let signal = self.next().await;
        tracing::warn!("second signal: exiting at once");
        std::process::exit(128 + signal.as_raw_value());
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        ACTIVE_SIGNALS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Signal streams of the runtime.
struct SignalStreams {
    interrupt: Signal,
    terminate: Signal,
}

impl SignalStreams {
    fn open() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) -> SignalKind {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
        }
    }

    /// Waits for a signal that no [`Signals`] handles.
    async fn next_unhandled(&mut self) -> SignalKind {
        loop {
            let signal = self.next().await;
            if ACTIVE_SIGNALS.load(Ordering::SeqCst) == 0 {
                return signal;
            }
        }
    }
}

/// Runs a command. Once `armed` completes, a signal drops the command and makes it fail, unless a part of it handles signals.
///
/// # Errors
/// Those of the command, or a signal.
pub(super) async fn until_signal<T>(
    command: impl Future<Output = CommandResult<T>>,
    armed: impl Future<Output = ()>,
) -> CommandResult<T> {
    let signalled = async {
        armed.await;
        match SignalStreams::open() {
            Ok(mut signals) => signals.next_unhandled().await,
            // The operating system ends the process.
            Err(_) => pending().await,
        }
    };
    tokio::select! {
        biased;
        done = command => done,
        _ = signalled => {
            ENDED_BY_SIGNAL.store(true, Ordering::SeqCst);
            Err(Interrupted::BEFORE_THE_END.into())
        }
    }
}

/// Ends the process if a command is computing and does not react to a signal: [`BUSY_TIMEOUT`] after the signal, with a notice, or at the
/// next one.
pub(super) fn end_if_busy() {
    std::thread::spawn(|| {
        // A separate runtime, because that of the command is blocked. Without one, the second signal has no more effect than the first.
        let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let Ok(mut signals) = SignalStreams::open() else { return };
            let signal = signals.next_unhandled().await;
            wait_while_busy(signals.next(), || {
                if !ENDED_BY_SIGNAL.load(Ordering::SeqCst) {
                    // `eprintln!` would panic if stderr is closed, and the process would not end.
                    let _ = writeln!(std::io::stderr(), "{BUSY_NOTICE}");
                }
            })
            .await;
            std::process::exit(128 + signal.as_raw_value());
        });
    });
}

/// Waits for the second signal, at most [`BUSY_TIMEOUT`], and gives notice after a short delay.
async fn wait_while_busy<T>(second: impl Future<Output = T>, give_notice: impl FnOnce()) {
    let mut second = pin!(second);
    // After the signal or the timeout, the process ends.
    let _ = timeout(BUSY_TIMEOUT, async {
        if timeout(BUSY_NOTICE_DELAY, second.as_mut()).await.is_err() {
            give_notice();
            second.await;
        }
    })
    .await;
}

/// Runs work whose unfinished files are removed on drop: a signal drops it, and the command fails.
///
/// # Errors
/// Those of the work, or a signal.
pub(super) async fn unless_interrupted<T>(work: impl Future<Output = CommandResult<T>>) -> CommandResult<T> {
    or_interrupted(Interrupted::NO_FILE, work).await
}

/// Runs work as [`unless_interrupted`] does, with a given error for a signal.
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

/// Runs work that needs a graceful shutdown: a signal cancels its token, and a second one drops it.
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
pub(crate) mod tests {
    use std::cell::Cell;
    use std::future::ready;
    use std::process::{Command, id};

    use futures_util::FutureExt;
    use tokio::sync::{Mutex, MutexGuard, oneshot};

    use super::*;

    /// Lock of tests that wait for signals, since a signal reaches all of them.
    static ALONE: Mutex<()> = Mutex::const_new(());

    /// Acquires the lock of tests that wait for signals.
    pub(crate) async fn alone() -> MutexGuard<'static, ()> {
        ALONE.lock().await
    }

    /// Sends SIGINT to this process.
    pub(crate) fn interrupt() {
        let signalled = Command::new("sh").args(["-c", &format!("kill -INT {}", id())]).status();
        assert!(signalled.unwrap().success());
    }

    #[actix_web::test]
    async fn a_signal_drops_work_with_its_unfinished_files_or_has_it_end_in_order() {
        let _alone = alone().await;
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

    #[tokio::test(start_paused = true)]
    async fn a_busy_command_is_ended_at_the_second_signal_or_when_its_time_is_over() {
        let (interrupt, second) = oneshot::channel::<()>();
        let noticed = Cell::new(false);
        let mut busy = pin!(wait_while_busy(second, || noticed.set(true)));
        assert!(timeout(BUSY_NOTICE_DELAY / 2, busy.as_mut()).await.is_err() && !noticed.get());
        assert!(timeout(BUSY_NOTICE_DELAY, busy.as_mut()).await.is_err() && noticed.get());
        interrupt.send(()).unwrap();
        assert_eq!(busy.now_or_never(), Some(()), "the second signal ends it at once");

        let mut busy = pin!(wait_while_busy(pending::<()>(), || {}));
        assert!(timeout(BUSY_TIMEOUT / 2, busy.as_mut()).await.is_err());
        assert!(timeout(BUSY_TIMEOUT, busy).await.is_ok(), "it ends without a second signal");
        let unnoticed = wait_while_busy(ready(()), || unreachable!("the second signal came at once"));
        assert_eq!(unnoticed.now_or_never(), Some(()));
    }

    #[actix_web::test]
    async fn a_signal_ends_a_command_unless_a_part_of_it_decides_what_a_signal_does() {
        let _alone = alone().await;
        let left_to_us = async {
            // Yields once, so that the handlers are installed.
            tokio::task::yield_now().await;
            interrupt();
            pending::<CommandResult<()>>().await
        };
        let error = until_signal(left_to_us, std::future::ready(())).await.unwrap_err();
        assert_eq!(error.message(), "interrupted: the command ended before it was done");
        let handled = async {
            let mut signals = Signals::listen()?;
            tokio::task::yield_now().await;
            interrupt();
            signals.next().await;
            // Yields so that the other listener receives the signal too.
            tokio::task::yield_now().await;
            CommandResult::Ok("in order")
        };
        assert_eq!(until_signal(handled, std::future::ready(())).await.unwrap(), "in order");
    }
}
