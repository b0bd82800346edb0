//! Owner of all background tasks. It shuts down in two steps: visitors are served to the end of what they began and nothing new begins
//! ([`Tasks::drain`]); then all remaining tasks are asked to end ([`Tasks::end`]).
//!
//! Every panic is logged under the task's name, without its message, and counted. A job ([`Tasks::supervise`]) is restarted after one.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::Instrument;

use crate::backoff::Backoff;
use crate::job_report::{JobReport, JobReports, JobStatus};
use crate::metrics;

/// Backoff before a job is restarted after a panic.
const RESTART_BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60) };
/// Time since its last panic after which a job has settled: the next panic counts as the first.
const STABLE_PERIOD: Duration = Duration::from_secs(60);

/// Background tasks of this process.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    /// Turns and sockets, which are in `tracker` as well: a drain waits for them.
    visits: TaskTracker,
    draining: CancellationToken,
    shutdown: CancellationToken,
    /// Jobs that have panicked and not settled since.
    panicked_jobs: Arc<Mutex<BTreeMap<&'static str, PanickedJob>>>,
    reports: JobReports,
}

/// A job that has recently panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PanickedJob {
    /// Whether battles need the job.
    pub need: JobNeed,
    /// State of the job.
    pub state: JobState,
}

/// Whether battles depend on a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobNeed {
    /// They do: the instance is not ready while the job is down.
    Battles,
    /// They do not.
    Nothing,
}

/// State of a job after a panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// The job waits for its restart.
    Down,
    /// The job runs again, and may panic again.
    Restarted,
}

/// Error of a task that panicked; the panic is logged and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a task panicked")]
pub struct Panicked;

/// Runs a task to its end. A panic is logged and counted under the task's name; its message is not logged, since it may quote a prompt or a
/// key.
///
/// # Errors
/// [`Panicked`].
pub async fn contain<T>(name: &'static str, task: impl Future<Output = T>) -> Result<T, Panicked> {
    // State shared by the task is behind locks whose users expect a panic elsewhere.
    AssertUnwindSafe(task).catch_unwind().await.map_err(|_| {
        metrics::job_panicked(name);
        tracing::error!(job = name, "a task panicked");
        Panicked
    })
}

impl Tasks {
    /// Runs a task that observes [`Tasks::shutdown`]; its log lines belong to the span that started it.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn(contain(name, Box::pin(task)).map(drop).in_current_span());
    }

    /// Runs a task that a visitor waits for: like [`Tasks::spawn`], and a drain waits for it too.
    pub fn spawn_turn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // Boxed first: a runtime moves a task several times, and this one is large.
        let task = contain("turn", Box::pin(task)).map(drop).in_current_span();
        self.tracker.spawn(self.visits.track_future(task));
    }

    /// Returns a token that delays a drain, within its patience: for billed requests.
    pub fn delay_drain(&self) -> TaskTrackerToken {
        self.visits.token()
    }

    /// Counts a task that runs on the thread of its socket; a drain waits for it.
    pub fn track<F: Future>(&self, task: F) -> impl Future<Output = ()> + use<F> {
        self.tracker.track_future(self.visits.track_future(contain("socket", Box::pin(task)).map(drop)))
    }

    /// Runs a job that ends at [`Tasks::shutdown`] until it returns. After a panic it is restarted, after a wait that doubles with each
    /// consecutive panic; until it has settled, [`Tasks::panicked_jobs`] includes it.
    pub fn supervise<F>(&self, name: &'static str, need: JobNeed, mut job: impl FnMut() -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (tasks, report) = (self.clone(), self.job_report(name));
        metrics::job_known(name);
        self.tracker.spawn(async move {
            let mut failures = 0;
            // The job itself is created inside, so that a panic in its creation counts too.
            while tasks.run_once(name, &mut failures, async { job().await }).await.is_err() {
                report.fail(&"it panicked, see the log");
                tasks.note_panic(name, PanickedJob { need, state: JobState::Down });
                tokio::select! {
                    () = sleep(RESTART_BACKOFF.after(failures)) => {}
                    () = tasks.shutdown.cancelled() => return,
                }
                tasks.note_panic(name, PanickedJob { need, state: JobState::Restarted });
            }
            tasks.lock_panicked().remove(name);
        });
    }

    /// Runs a job until it returns or panics, and counts its consecutive panics.
    async fn run_once(
        &self,
        name: &'static str,
        failures: &mut u32,
        job: impl Future<Output = ()>,
    ) -> Result<(), Panicked> {
        let began = Instant::now();
        let settle = async {
            sleep(STABLE_PERIOD).await;
            self.lock_panicked().remove(name);
            std::future::pending::<Infallible>().await
        };
        let ended = tokio::select! {
            ended = contain(name, job) => ended,
            never = settle => match never {},
        };
        *failures = if began.elapsed() < STABLE_PERIOD { failures.saturating_add(1) } else { 1 };
        ended
    }

    /// Returns the jobs that have panicked and not settled since, by name.
    #[must_use]
    pub fn panicked_jobs(&self) -> BTreeMap<&'static str, PanickedJob> {
        self.lock_panicked().clone()
    }

    /// Returns the report of a job, which records its runs.
    #[must_use]
    pub fn job_report(&self, name: &'static str) -> JobReport {
        self.reports.of(name)
    }

    /// Returns the status of each job by name.
    #[must_use]
    pub fn jobs(&self) -> BTreeMap<&'static str, JobStatus> {
        self.reports.all()
    }

    fn note_panic(&self, name: &'static str, job: PanickedJob) {
        self.lock_panicked().insert(name, job);
    }

    fn lock_panicked(&self) -> MutexGuard<'_, BTreeMap<&'static str, PanickedJob>> {
        // The map is valid after each statement, so a panic elsewhere does not spoil it.
        self.panicked_jobs.lock()
    }

    /// Returns a token that is cancelled when nothing new may begin.
    #[must_use]
    pub fn draining(&self) -> CancellationToken {
        self.draining.clone()
    }

    /// Whether nothing new may begin any more.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Returns a token that is cancelled when the process shuts down.
    #[must_use]
    pub fn shutdown(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Lets nothing new begin and waits for turns and sockets to end, at most for `patience`; `false` if some had not by then. Jobs
    /// continue.
    pub async fn drain(&self, patience: Duration) -> bool {
        self.draining.cancel();
        self.visits.close();
        tokio::time::timeout(patience, self.visits.wait()).await.is_ok()
    }

    /// Asks all tasks to end.
    pub fn stop(&self) {
        self.draining.cancel();
        self.shutdown.cancel();
    }

    /// Asks all tasks to end and waits for them, at most for `patience`; `false` if some were still running.
    pub async fn end(&self, patience: Duration) -> bool {
        self.stop();
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::mpsc;
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Starts a job whose first runs panic and whose later ones wait for the end; the receiver gets the start of each run.
    fn panicking(tasks: &Tasks, name: &'static str, need: JobNeed, panics: u32) -> mpsc::UnboundedReceiver<Instant> {
        let (begun, receiver) = mpsc::unbounded_channel();
        let (runs, shutdown) = (AtomicU32::new(0), tasks.shutdown());
        tasks.supervise(name, need, move || {
            begun.send(Instant::now()).unwrap();
            assert!(runs.fetch_add(1, Ordering::Relaxed) >= panics, "sk-CANARY");
            shutdown.clone().cancelled_owned()
        });
        receiver
    }

    fn panics_of(name: &str) -> Option<u64> {
        let sample = format!("langya_job_panics_total{{task=\"{name}\"}} ");
        metrics::render().lines().find_map(|line| line.strip_prefix(&sample)?.parse().ok())
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_that_panics_comes_back_after_growing_waits_and_is_counted() {
        let tasks = Tasks::default();
        let mut begun = panicking(&tasks, "test_of_waits", JobNeed::Nothing, 8);
        let mut times = Vec::new();
        for _ in 0..9 {
            times.push(begun.recv().await.unwrap());
        }
        let waits: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(panics_of("test_of_waits"), Some(8));
        assert!(tasks.end(SECOND).await);
    }

    #[tokio::test]
    async fn the_panics_of_a_job_and_of_turns_read_0_before_the_first_one() {
        let tasks = Tasks::default();
        tasks.supervise("test_of_zero", JobNeed::Nothing, || std::future::ready(()));
        let known = ["test_of_zero", "turn", "socket"].map(panics_of);
        assert!(known.iter().all(Option::is_some) && known[0] == Some(0), "{known:?}");
        assert!(tasks.end(SECOND).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_counts_as_panicked_from_its_panic_until_it_has_settled() {
        let tasks = Tasks::default();
        let mut begun = panicking(&tasks, "test_of_panics", JobNeed::Battles, 1);
        let state = || tasks.panicked_jobs().get("test_of_panics").copied();
        begun.recv().await.unwrap();
        tokio::task::yield_now().await;
        assert_eq!(state(), Some(PanickedJob { need: JobNeed::Battles, state: JobState::Down }));
        begun.recv().await.unwrap();
        assert_eq!(state(), Some(PanickedJob { need: JobNeed::Battles, state: JobState::Restarted }));
        advance(STABLE_PERIOD - SECOND).await;
        assert!(state().is_some());
        sleep(2 * SECOND).await;
        assert_eq!(state(), None);
        assert!(tasks.end(SECOND).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_that_has_settled_starts_again_as_quickly_as_at_first() {
        let tasks = Tasks::default();
        let (begun, mut receiver) = mpsc::unbounded_channel();
        tasks.supervise("test_of_settling", JobNeed::Nothing, move || {
            begun.send(Instant::now()).unwrap();
            async {
                sleep(STABLE_PERIOD + SECOND).await;
                panic!("late");
            }
        });
        let first = receiver.recv().await.unwrap();
        for times in 1..4 {
            assert_eq!((receiver.recv().await.unwrap() - first).as_secs(), times * 62);
        }
        assert!(!tasks.end(SECOND).await, "it heeds no shutdown");
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_does_not_wait_for_a_restart_and_a_job_that_returns_is_done() {
        let tasks = Tasks::default();
        let mut begun = panicking(&tasks, "test_of_ends", JobNeed::Nothing, 99);
        for _ in 0..7 {
            begun.recv().await.unwrap();
        }
        tasks.supervise("test_of_returns", JobNeed::Nothing, || std::future::ready(()));
        let asked = Instant::now();
        assert!(tasks.end(SECOND).await);
        assert_eq!(asked.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn what_a_panic_says_is_not_passed_on() {
        let ended = contain("test_of_words", async { panic!("sk-CANARY") }).await;
        assert_eq!(ended, Err::<(), _>(Panicked));
        assert!(!format!("{Panicked:?} {Panicked}").contains("CANARY"));
        assert_eq!((contain("test_of_words", async { 7 }).await, panics_of("test_of_words")), (Ok(7), Some(1)));
    }
}
