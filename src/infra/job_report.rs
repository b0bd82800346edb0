//! What each job of this process did last: for the people who run the arena. Nothing of it is stored.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::backoff::later;

/// Characters that are kept of an error.
const LONGEST_REASON: usize = 300;

/// The jobs of this process, by name.
#[derive(Debug, Clone, Default)]
pub struct JobReports(Arc<Mutex<BTreeMap<&'static str, JobStatus>>>);

/// What a job did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobStatus {
    /// Runs that came to their end, failures included.
    pub runs: u64,
    /// When the run under way began.
    pub running_since: Option<Instant>,
    /// The last run that came to its end.
    pub last: Option<JobRun>,
    /// When it runs again at the latest.
    pub next: Option<Instant>,
    /// The last failure, whatever went well since.
    pub failure: Option<JobFailure>,
}

/// A run that came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobRun {
    /// When it ended.
    pub ended: Instant,
    /// How long it took.
    pub took: Duration,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFailure {
    /// When.
    pub at: Instant,
    /// In the words of the error.
    pub reason: String,
}

/// A job's own entry, which it keeps up to date.
#[derive(Debug, Clone)]
pub struct JobReport {
    name: &'static str,
    reports: JobReports,
}

impl JobReports {
    /// The entry of a job, which is listed from now on.
    #[must_use]
    pub fn of(&self, name: &'static str) -> JobReport {
        self.0.lock().entry(name).or_default();
        JobReport { name, reports: self.clone() }
    }

    /// All jobs, by name.
    #[must_use]
    pub fn all(&self) -> BTreeMap<&'static str, JobStatus> {
        self.0.lock().clone()
    }
}

impl JobReport {
    /// Does a job's work once, and notes how long it took and what it failed with.
    ///
    /// # Errors
    /// Those of the work.
    pub async fn run<T, E: Display>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let run = RunUnderWay::begin(self);
        let done = work.await;
        run.end();
        if let Err(error) = &done {
            self.fail(error);
        }
        done
    }

    /// Notes a failure.
    pub fn fail(&self, reason: &impl Display) {
        let reason: String = reason.to_string().chars().take(LONGEST_REASON).collect();
        self.change(|status| status.failure = Some(JobFailure { at: Instant::now(), reason }));
    }

    /// Notes that the job runs again after this time at the latest.
    pub fn runs_within(&self, wait: Duration) {
        self.change(|status| status.next = Some(later(Instant::now(), wait)));
    }

    fn change(&self, change: impl FnOnce(&mut JobStatus)) {
        change(self.reports.0.lock().entry(self.name).or_default());
    }
}

/// A run that is dropped on the way has not come to its end, and is not under way any more.
struct RunUnderWay<'r> {
    report: &'r JobReport,
    began: Instant,
}

impl<'r> RunUnderWay<'r> {
    fn begin(report: &'r JobReport) -> Self {
        let began = Instant::now();
        report.change(|status| {
            status.running_since = Some(began);
            status.next = None;
        });
        Self { report, began }
    }

    fn end(self) {
        let ended = Instant::now();
        let took = ended - self.began;
        self.report.change(|status| {
            status.runs += 1;
            status.last = Some(JobRun { ended, took });
        });
    }
}

impl Drop for RunUnderWay<'_> {
    fn drop(&mut self) {
        self.report.change(|status| status.running_since = None);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tokio::time::sleep;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    async fn takes_a_second() -> Result<u32, Infallible> {
        sleep(SECOND).await;
        Ok(7)
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_is_noted_with_its_duration_and_a_failure_stays_until_the_next_one() {
        let reports = JobReports::default();
        let report = reports.of("test");
        assert_eq!(reports.all()["test"], JobStatus::default());
        assert_eq!(report.run(takes_a_second()).await, Ok(7));
        let ended = Instant::now();
        report.runs_within(3 * SECOND);
        let failed = report.run(std::future::ready(Err::<(), _>("x".repeat(999)))).await;
        assert_eq!(failed.unwrap_err().len(), 999);
        let status = &reports.all()["test"];
        assert_eq!((status.runs, status.next, status.running_since), (2, None, None));
        assert_eq!(status.last, Some(JobRun { ended, took: Duration::ZERO }));
        assert_eq!(status.failure, Some(JobFailure { at: ended, reason: "x".repeat(LONGEST_REASON) }));
        report.run(takes_a_second()).await.unwrap();
        let status = &reports.all()["test"];
        assert_eq!(status.last.unwrap().took, SECOND);
        assert_eq!(status.failure.as_ref().unwrap().at, ended);
        report.runs_within(SECOND);
        assert_eq!(reports.all()["test"].next, Some(ended + 2 * SECOND));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_is_dropped_is_neither_under_way_nor_done() {
        let reports = JobReports::default();
        let report = reports.of("test");
        let mut run = Box::pin(report.run(takes_a_second()));
        tokio::select! {
            _ = &mut run => unreachable!("it takes a second"),
            () = sleep(SECOND / 2) => {}
        }
        assert!(reports.all()["test"].running_since.is_some());
        drop(run);
        assert_eq!(reports.all()["test"], JobStatus::default());
    }
}
