//! The owner of everything that runs beside a request. It ends in two steps: visitors are served to the end of what
//! they began and nothing new begins ([`Tasks::drain`]); then all that is left is told to end ([`Tasks::end`]).

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// Background tasks of this process.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    /// Turns and sockets, which are in `tracker` as well: what a drain waits for.
    visits: TaskTracker,
    draining: CancellationToken,
    shutdown: CancellationToken,
}

impl Tasks {
    /// Runs a task that heeds [`Tasks::shutdown`]; its log lines are those of whoever began it.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn(task.in_current_span());
    }

    /// Runs a task that a visitor waits for: as [`Tasks::spawn`], and a drain waits for it too.
    pub fn spawn_turn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn(self.visits.track_future(task.in_current_span()));
    }

    /// Counts a task that runs on the thread of its socket; a drain waits for it.
    pub fn track<F: Future>(&self, task: F) -> impl Future<Output = F::Output> + use<F> {
        self.tracker.track_future(self.visits.track_future(task))
    }

    /// Fires when nothing new may begin any more.
    #[must_use]
    pub fn draining(&self) -> CancellationToken {
        self.draining.clone()
    }

    /// Whether nothing new may begin any more.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Fires when the process is to end.
    #[must_use]
    pub fn shutdown(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Lets nothing new begin and waits for turns and sockets to come to their ends, `patience` at the most; `false`
    /// if some had not by then. Jobs go on.
    pub async fn drain(&self, patience: Duration) -> bool {
        self.draining.cancel();
        self.visits.close();
        tokio::time::timeout(patience, self.visits.wait()).await.is_ok()
    }

    /// Tells all tasks to end.
    pub fn stop(&self) {
        self.draining.cancel();
        self.shutdown.cancel();
    }

    /// Tells all tasks to end and waits for them, `patience` at the most; `false` if some were still running.
    pub async fn end(&self, patience: Duration) -> bool {
        self.stop();
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}
