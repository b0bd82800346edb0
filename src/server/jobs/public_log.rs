//! Keeps the public log up to date: the instance that leads appends what the leaderboard shows, the others remember what it signed.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::services::public_log::PublicLogError;
use crate::services::public_log::sequencer::{PAGE, Sequencer};

/// Shortest time between two checkpoints, unless much waits.
const PAUSE: Duration = Duration::from_secs(1);
/// Interval of the checks for what no leaderboard announced, such as a checkpoint of another instance.
const LOOK_ANYWAY: Duration = Duration::from_secs(10);
/// How often a failure that stays is reported.
const REPORT_EVERY: Duration = Duration::from_secs(600);

/// Appends to the log after each new leaderboard. After each step it waits four times the step's duration, so that a long log that begins
/// leaves votes their share of the database.
pub async fn append_public_log(
    mut sequencer: Sequencer,
    mut lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut leaderboards = sequencer.leaderboard().changes();
    let mut failures = Failures::default();
    loop {
        let started = Instant::now();
        leaderboards.mark_unchanged();
        let leads = *lead.borrow_and_update();
        let step = async { if leads { sequencer.append().await } else { sequencer.follow().await.map(|()| 0) } };
        let step = report.run(step).await;
        report.runs_within(LOOK_ANYWAY);
        // Also after a failure: what is promised to voters depends on it.
        if let Err(error) = sequencer.log().look_for_lag().await {
            tracing::debug!(%error, "the votes that the public log lacks could not be read");
        }
        let (waits, more) =
            (started.elapsed().saturating_mul(4), matches!(&step, Ok(entries) if *entries >= PAGE as usize));
        failures.report(step);
        let next = async {
            sleep(if more { waits } else { waits.max(PAUSE) }).await;
            if !more {
                // Without news it looks anyway.
                let _ = timeout(LOOK_ANYWAY, leaderboards.changed()).await;
            }
        };
        tokio::select! {
            () = next => {}
            // The sender ends with the arena.
            _ = lead.changed(), if lead.has_changed().is_ok() => {}
            () = shutdown.cancelled() => return,
        }
    }
}

/// Reports a failure when it begins, every ten minutes while it lasts, and when it is over.
#[derive(Default)]
struct Failures(Option<LogFailure>);

/// A failure that is not over.
struct LogFailure {
    began: Instant,
    /// The error that was reported last, and when.
    reported: (String, Instant),
    /// Entries appended since it began.
    entries: usize,
}

impl Failures {
    fn report(&mut self, step: Result<usize, PublicLogError>) {
        match step {
            Ok(entries) => self.appended(entries),
            Err(error) if error.is_outage() => {}
            Err(error) => self.failed(&error.to_string()),
        }
    }

    fn failed(&mut self, error: &str) {
        let now = Instant::now();
        let is_known = |(known, at): &(String, Instant)| known == error && now.duration_since(*at) < REPORT_EVERY;
        if self.0.as_ref().is_some_and(|failure| is_known(&failure.reported)) {
            return;
        }
        tracing::error!(%error, "the public log is not continued");
        let (began, entries) = self.0.take().map_or((now, 0), |failure| (failure.began, failure.entries));
        self.0 = Some(LogFailure { began, reported: (error.to_owned(), now), entries });
    }

    /// A failure is over once what waited meanwhile is in the log.
    fn appended(&mut self, entries: usize) {
        tracing::debug!(entries, "public log appended");
        let Some(failure) = &mut self.0 else { return };
        failure.entries += entries;
        if entries < PAGE as usize {
            let (entries, seconds) = (failure.entries, failure.began.elapsed().as_secs());
            tracing::info!(entries, seconds, "the public log is continued again");
            self.0 = None;
        }
    }
}
