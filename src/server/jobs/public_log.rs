//! Keeps the public log up to date: the instance that leads appends what the leaderboard shows, the others remember what it signed.

use std::future::pending;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::services::public_log::promise_watch::PromiseWatch;
use crate::services::public_log::sequencer::{PAGE, Sequencer};
use crate::services::public_log::{LogRole, PublicLog, PublicLogError};

/// Shortest time between two checkpoints, unless much waits.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest time of that kind: votes are promised only while the log has been looked at lately.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// Interval of the checks for what no leaderboard announced, such as a checkpoint of another instance.
const POLL_INTERVAL: Duration = Duration::from_secs(10);
/// The same after a failure: no vote is promised until a step succeeds.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of the looks for imported votes in a shared database, which keep the next ones from coming into the log in time.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// How often a failure that stays is reported.
const REPORT_EVERY: Duration = Duration::from_secs(600);

/// Appends to the log after each new leaderboard. After each step it waits four times the step's duration, so that a long log that begins
/// leaves votes their share of the database, but no more than 30 s.
pub async fn append_public_log(
    sequencer: Sequencer,
    lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let promises = sequencer.promises();
    tokio::select! {
        () = take_steps(sequencer, lead, report, shutdown) => {}
        () = watch_promises(&promises) => {}
    }
}

/// Looks for waiting votes also while a step takes long. It does not end.
async fn watch_promises(promises: &PromiseWatch) {
    if !promises.is_needed() {
        return pending().await;
    }
    let mut ticker = interval(LOOK_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticker.tick().await;
        // Its failure is logged where the steps look, or as an outage.
        let _ = promises.look().await;
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
        // The step may take long, and what was seen after the last one is out of date then.
        refresh_lag(sequencer.log()).await;
        let step = async {
            match role {
                LogRole::Leads => sequencer.append().await,
                LogRole::Follows => sequencer.follow().await.map(|()| 0),
            }
        };
        let step = report.run(step).await;
        // What is promised to voters depends on both.
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
                // Without news it looks anyway.
                let _ = timeout(poll, leaderboards.changed()).await;
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

/// Its failure is not the step's, which may have appended all the same.
async fn refresh_lag(log: &PublicLog) {
    match log.refresh_lag().await {
        Err(error) if !error.is_outage() => {
            tracing::warn!(error = ?error, "cannot query the oldest vote that is not in the public log");
        }
        Ok(()) | Err(_) => {}
    }
}

/// Whether a step failed because of the file in this instance's data folder: where another instance appends, the log goes on without it.
fn concerns_own_file(error: &PublicLogError) -> bool {
    matches!(error, PublicLogError::File { .. })
}

/// When the next step begins.
#[derive(Debug, Clone, Copy)]
struct NextStep {
    /// Rest after a step.
    pause: Duration,
    /// Longest wait for a new leaderboard after that; `None` where more can be appended at once.
    poll: Option<Duration>,
}

impl NextStep {
    fn after(step: &Result<usize, PublicLogError>, took: Duration) -> Self {
        let pause = took.saturating_mul(4).min(MAX_PAUSE);
        match step {
            Ok(entries) if *entries >= PAGE as usize => Self { pause, poll: None },
            Ok(_) => Self { pause: pause.max(PAUSE), poll: Some(POLL_INTERVAL) },
            Err(_) => Self { pause: pause.max(PAUSE), poll: Some(RETRY_INTERVAL) },
        }
    }

    /// The longest time until the step.
    fn longest(self) -> Duration {
        self.pause + self.poll.unwrap_or_default()
    }
}

/// Reports a failure when it begins, every ten minutes while it lasts, and when it is over, or another instance has taken the lead.
#[derive(Default)]
struct Failures(Option<LogFailure>);

/// A failure that is not over.
struct LogFailure {
    /// What the instance did for the log when it failed last.
    role: LogRole,
    began: Instant,
    /// The error that was reported last, and when.
    reported: (String, Instant),
    /// Entries appended since it began.
    entries: usize,
}

impl Failures {
    fn report(&mut self, role: LogRole, step: Result<usize, PublicLogError>) {
        if role == LogRole::Follows {
            self.lost_lead();
        }
        match step {
            Ok(entries) => self.succeeded(role, entries),
            Err(error) if error.is_outage() => {}
            // With the reason for which the database failed.
            Err(error) => self.failed(role, &format!("{error:?}")),
        }
    }

    /// Whether appending works again, the instance that leads now finds out.
    fn lost_lead(&mut self) {
        if let Some(failure) = self.0.take_if(|failure| failure.role == LogRole::Leads) {
            let (entries, seconds) = (failure.entries, failure.began.elapsed().as_secs());
            tracing::info!(entries, seconds, "another instance leads now and appends to the public log");
        }
    }

    fn failed(&mut self, role: LogRole, error: &str) {
        let now = Instant::now();
        let is_known = |(known, at): &(String, Instant)| known == error && now.duration_since(*at) < REPORT_EVERY;
        if self.0.as_ref().is_some_and(|failure| is_known(&failure.reported)) {
            return;
        }
        tracing::error!(%error, "cannot append to the public log");
        let (began, entries) = self.0.take().map_or((now, 0), |failure| (failure.began, failure.entries));
        self.0 = Some(LogFailure { role, began, reported: (error.to_owned(), now), entries });
    }

    /// A failure is over once what waited meanwhile is in the log.
    fn succeeded(&mut self, role: LogRole, entries: usize) {
        tracing::debug!(entries, "public log appended");
        let Some(failure) = &mut self.0 else { return };
        failure.entries += entries;
        if entries < PAGE as usize {
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
        assert_eq!(longest(Ok(PAGE as usize), 2), seconds(8));
        assert_eq!(longest(Err(PublicLogError::Rewritten(7)), 0), seconds(2));
    }
}
