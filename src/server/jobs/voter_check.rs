//! Excludes the votes of flagged voters, if configured, on the leader.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::next_run::NextRun;
use crate::infra::config::CurrentSettings;
use crate::infra::job_report::JobReport;
use crate::services::exclusions::voter_check::VoterCheck;
use crate::services::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Poll interval for exclusions and a change of the leader.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(60);
/// Minimum delay between checks, as a multiple of the last one's duration: they use at most a twentieth of a core.
const COOL_DOWN_FACTOR: u32 = 19;

/// Checks the voters at the start, after leaderboards, and after a settings change, with a cool-down after each check.
pub async fn check_voters(
    check: Arc<VoterCheck>,
    leaderboard: Arc<LatestLeaderboard>,
    settings: CurrentSettings,
    leads: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut next_run =
        NextRun::new(&leaderboard, &settings, shutdown.clone(), FALLBACK_POLL_INTERVAL, COOL_DOWN_FACTOR);
    loop {
        let started = Instant::now();
        if *leads.borrow() {
            tokio::select! {
                () = run(&check, &report) => report.runs_within(FALLBACK_POLL_INTERVAL),
                () = shutdown.cancelled() => return,
            }
        }
        if !next_run.wait(started.elapsed()).await {
            return;
        }
    }
}

async fn run(check: &VoterCheck, report: &JobReport) {
    match report.run(check.run()).await {
        Ok(0) => {}
        Ok(votes) => tracing::info!(votes, "votes of flagged voters excluded"),
        // The database log reports an outage, but not its effect here.
        Err(error) => tracing::error!(error = ?error, "the voters could not be checked: none is excluded meanwhile"),
    }
}
