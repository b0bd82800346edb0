//! The owner of everything that runs beside a request: it tells all of it to end, and waits for it.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// Background tasks of this process.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    shutdown: CancellationToken,
}

impl Tasks {
    /// Runs a task that heeds [`Tasks::shutdown`]; its log lines are those of whoever began it.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn(task.in_current_span());
    }

    /// Counts a task that runs on the thread of its socket.
    pub fn track<F: Future>(&self, task: F) -> impl Future<Output = F::Output> + use<F> {
        self.tracker.track_future(task)
    }

    /// Fires when the process is to end.
    #[must_use]
    pub fn shutdown(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Tells all tasks to end.
    pub fn stop(&self) {
        self.shutdown.cancel();
    }

    /// Tells all tasks to end and waits for them, `patience` at the most; `false` if some were still running.
    pub async fn end(&self, patience: Duration) -> bool {
        self.stop();
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}
