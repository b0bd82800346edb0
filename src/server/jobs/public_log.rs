//! Updates the public vote log: the leader appends the votes of the leaderboard, and the other instances load what it signed.

use std::future::pending;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::services::public_log::promise_watch::PromiseWatch;
use crate::services::public_log::sequencer::{PAGE_SIZE, Sequencer};
use crate::services::public_log::{LogRole, PublicLog, PublicLogError};

/// Minimum time between two checkpoints, unless many votes wait.
const MIN_CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum of this time: votes are promised only while the log has been checked recently.
const MAX_CHECKPOINT_INTERVAL: Duration = Duration::from_secs(30);
/// Poll interval for changes without a new leaderboard, such as a checkpoint of another instance.
const POLL_INTERVAL: Duration = Duration::from_secs(10);
/// Poll interval after a failure: no vote is promised until a step succeeds.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Poll interval for imported votes in a shared database, which delay the logging of later ones.
const IMPORT_POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Interval of repeated reports of a lasting failure.
const REPORT_INTERVAL: Duration = Duration::from_secs(600);

/// Appends to the log after each new leaderboard. After each step it waits four times the step's duration, at most 30 s, so that catching
/// up on a long log leaves the database free for votes.
pub async fn append_public_log(
    sequencer: Sequencer,
    lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let (promises, log) = (sequencer.promises(), sequencer.log().clone());
    tokio::select! {
        () = take_steps(sequencer, lead.clone(), report, shutdown) => {}
        () = watch_promises(&promises) => {}
        () = track_leadership(&log, lead) => {}
    }
}

/// Records whether this instance leads, also while a step hangs: the others learn it from the heartbeat. Never returns.
async fn track_leadership(log: &PublicLog, mut lead: watch::Receiver<bool>) {
    loop {
        let leads = *lead.borrow_and_update();
        log.record_leadership(leads);
        if lead.changed().await.is_err() {
            // The sender is dropped at the end of the arena.
            return pending().await;
        }
    }
}

/// Checks for waiting votes, also while a step takes long. Never returns.
async fn watch_promises(promises: &PromiseWatch) {
    if !promises.is_needed() {
        return pending().await;
    }
    let mut ticker = interval(IMPORT_POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticker.tick().await;
        // The steps log its failure, or it is an outage.
        let _ = promises.observe().await;
        promises.report();
    }
}

async fn take_steps(
    mut sequencer: Sequencer,
    mut lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let promises = sequencer.promises();
    let mut leaderboards = sequencer.leaderboard().changes();
    let mut failures = Failures::default();
    loop {
        let started = Instant::now();
        leaderboards.mark_unchanged();
        let role = if *lead.borrow_and_update() { LogRole::Leads } else { LogRole::Follows };
        // The step may take long, and the lag measured after the last one is outdated then.
        refresh_lag(sequencer.log()).await;
        let step = async {
            match role {
                LogRole::Leads => sequencer.append().await,
                LogRole::Follows => sequencer.follow().await.map(|()| 0),
            }
        };
        let step = report.run(step).await;
        // Promises to voters depend on both.
        let concerns_log = |error: &&PublicLogError| role == LogRole::Leads || !concerns_own_file(error);
        sequencer.log().note_step(role, step.as_ref().err().filter(concerns_log));
        refresh_lag(sequencer.log()).await;
        promises.report();
        let wait = NextStep::after(&step, started.elapsed());
        report.runs_within(wait.longest());
        failures.report(role, step);
        let next = async {
            sleep(wait.pause).await;
            if let Some(poll) = wait.poll {
                // Checks anyway without a new leaderboard.
                let _ = timeout(poll, leaderboards.changed()).await;
            }
        };
        tokio::select! {
            () = next => {}
            // The sender is dropped at the end of the arena.
            _ = lead.changed(), if lead.has_changed().is_ok() => {}
            () = shutdown.cancelled() => return,
        }
    }
}

/// Measures the lag. Its failure is not that of the step, which may have appended anyway.
async fn refresh_lag(log: &PublicLog) {
    match log.refresh_lag().await {
        Err(error) if !error.is_outage() => {
            tracing::warn!(error = ?error, "cannot query the oldest vote that is not in the public log");
        }
        Ok(()) | Err(_) => {}
    }
}

/// Whether a step failed because of the log file in this instance's data folder: if another instance appends, the log continues without it.
fn concerns_own_file(error: &PublicLogError) -> bool {
    matches!(error, PublicLogError::File { .. })
}

/// Time of the next step.
#[derive(Debug, Clone, Copy)]
struct NextStep {
    /// Pause after a step.
    pause: Duration,
    /// Maximum wait for a new leaderboard after the pause; `None` if more can be appended at once.
    poll: Option<Duration>,
}

impl NextStep {
    fn after(step: &Result<usize, PublicLogError>, took: Duration) -> Self {
        let pause = took.saturating_mul(4).min(MAX_CHECKPOINT_INTERVAL);
        match step {
            Ok(entries) if *entries >= PAGE_SIZE as usize => Self { pause, poll: None },
            Ok(_) => Self { pause: pause.max(MIN_CHECKPOINT_INTERVAL), poll: Some(POLL_INTERVAL) },
            Err(_) => Self { pause: pause.max(MIN_CHECKPOINT_INTERVAL), poll: Some(RETRY_INTERVAL) },
        }
    }

    /// Returns the maximum time until the step.
    fn longest(self) -> Duration {
        self.pause + self.poll.unwrap_or_default()
    }
}

/// Reports a failure when it begins, every ten minutes while it lasts, and when it ends or another instance becomes the leader.
#[derive(Default)]
struct Failures(Option<LogFailure>);

/// Failure that has not ended.
struct LogFailure {
    /// Role of the instance at the last failure.
    role: LogRole,
    began: Instant,
    /// Error reported last, with its time.
    reported: (String, Instant),
    /// Number of entries appended since the failure began.
    entries: usize,
}

impl Failures {
    fn report(&mut self, role: LogRole, step: Result<usize, PublicLogError>) {
        if role == LogRole::Follows {
            self.on_leadership_lost();
        }
        match step {
            Ok(entries) => self.succeeded(role, entries),
            Err(error) if error.is_outage() => {}
            // Includes the reason why the database failed.
            Err(error) => self.failed(role, &format!("{error:?}")),
        }
    }

    /// Ends the failure of a former leader: the new leader finds out whether appending works.
    fn on_leadership_lost(&mut self) {
        if let Some(failure) = self.0.take_if(|failure| failure.role == LogRole::Leads) {
            let (entries, seconds) = (failure.entries, failure.began.elapsed().as_secs());
            tracing::info!(entries, seconds, "another instance leads now and appends to the public log");
        }
    }

    fn failed(&mut self, role: LogRole, error: &str) {
        let now = Instant::now();
        let is_known = |(known, at): &(String, Instant)| known == error && now.duration_since(*at) < REPORT_INTERVAL;
        if self.0.as_ref().is_some_and(|failure| is_known(&failure.reported)) {
            return;
        }
        tracing::error!(%error, "cannot append to the public log");
        let (began, entries) = self.0.take().map_or((now, 0), |failure| (failure.began, failure.entries));
        self.0 = Some(LogFailure { role, began, reported: (error.to_owned(), now), entries });
    }

    /// Records a successful step. A failure ends once the entries that waited meanwhile are in the log.
    fn succeeded(&mut self, role: LogRole, entries: usize) {
        tracing::debug!(entries, "public log appended");
        let Some(failure) = &mut self.0 else { return };
        failure.entries += entries;
        if entries < PAGE_SIZE as usize {
            let (entries, seconds) = (failure.entries, failure.began.elapsed().as_secs());
            match role {
                LogRole::Leads => tracing::info!(entries, seconds, "appending to the public log works again"),
                LogRole::Follows => tracing::info!(seconds, "the latest checkpoint of the public log is kept again"),
            }
            self.0 = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_for_a_step_is_its_pause_and_the_wait_for_a_leaderboard() {
        let seconds = Duration::from_secs;
        let longest = |step, took| NextStep::after(&step, seconds(took)).longest();
        assert_eq!(longest(Ok(0), 0), seconds(11));
        assert_eq!(longest(Ok(7), 60), seconds(40));
        assert_eq!(longest(Ok(PAGE_SIZE as usize), 2), seconds(8));
        assert_eq!(longest(Err(PublicLogError::Rewritten(7)), 0), seconds(2));
    }
}
