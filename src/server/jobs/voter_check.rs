//! Excludes the votes of voters whom the tests flag, where the settings say so: on the instance that leads.

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

/// How often is looked whether votes were excluded, or the lead has changed.
const LOOK_ANYWAY: Duration = Duration::from_secs(60);
/// Minimum delay between checks, as a multiple of the last one's duration: they take at most a twentieth of a core.
const REST_TIMES: u32 = 19;

/// Checks the voters at the start, after leaderboards, and after a change of the settings, with a cool-down after each check.
pub async fn check_voters(
    check: Arc<VoterCheck>,
    (leaderboard, settings): (Arc<LatestLeaderboard>, CurrentSettings),
    leads: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut next_run = NextRun::new(&leaderboard, &settings, shutdown.clone(), LOOK_ANYWAY, REST_TIMES);
    loop {
        let started = Instant::now();
        if *leads.borrow() {
            tokio::select! {
                () = run(&check, &report) => report.runs_within(LOOK_ANYWAY),
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
        // The log of the database reports an outage, but not what it means here.
        Err(error) => tracing::error!(error = ?error, "the voters could not be checked: none is excluded meanwhile"),
    }
}
