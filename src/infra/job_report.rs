//! Status of each job of this process, for administrators. Not stored.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::backoff::later;

/// Maximum length of a stored error in characters.
const MAX_ERROR_CHARS: usize = 300;

/// Jobs of this process, by name.
#[derive(Debug, Clone, Default)]
pub struct JobReports(Arc<Mutex<BTreeMap<&'static str, JobStatus>>>);

/// Status of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobStatus {
    /// Number of finished runs, failures included.
    pub runs: u64,
    /// Start of the current run.
    pub running_since: Option<Instant>,
    /// Last finished run.
    pub last: Option<JobRun>,
    /// Latest time of the next run.
    pub next: Option<Instant>,
    /// Last failure, even if later runs succeeded.
    pub failure: Option<JobFailure>,
}

/// A finished run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobRun {
    /// End of the run.
    pub ended: Instant,
    /// Duration of the run.
    pub took: Duration,
}

/// Failure of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFailure {
    /// Time of the failure.
    pub at: Instant,
    /// Message of the error.
    pub reason: String,
}

/// Reports the status of one job.
#[derive(Debug, Clone)]
pub struct JobReport {
    name: &'static str,
    reports: JobReports,
}

impl JobReports {
    /// Adds a job to the list and returns its report.
    #[must_use]
    pub fn of(&self, name: &'static str) -> JobReport {
        self.0.lock().entry(name).or_default();
        JobReport { name, reports: self.clone() }
    }

    /// Returns the status of all jobs by name.
    #[must_use]
    pub fn all(&self) -> BTreeMap<&'static str, JobStatus> {
        self.0.lock().clone()
    }
}

impl JobReport {
    /// Runs a job's work once and records its duration or failure.
    ///
    /// # Errors
    /// Errors of the work.
    pub async fn run<T, E: Display>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let run = RunUnderWay::begin(self);
        let done = work.await;
        run.end();
        if let Err(error) = &done {
            self.fail(error);
        }
        done
    }

    /// Records a failure.
    pub fn fail(&self, reason: &impl Display) {
        let reason: String = reason.to_string().chars().take(MAX_ERROR_CHARS).collect();
        self.change(|status| status.failure = Some(JobFailure { at: Instant::now(), reason }));
    }

    /// Records that the job runs again within this time.
    pub fn runs_within(&self, wait: Duration) {
        self.change(|status| status.next = Some(later(Instant::now(), wait)));
    }

    fn change(&self, change: impl FnOnce(&mut JobStatus)) {
        change(self.reports.0.lock().entry(self.name).or_default());
    }
}

/// A run in progress. If it is dropped, it counts as neither finished nor running.
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
        assert_eq!(status.failure, Some(JobFailure { at: ended, reason: "x".repeat(MAX_ERROR_CHARS) }));
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
