//! Keeps the correlations up to date.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::next_run::NextRun;
use crate::infra::config::CurrentSettings;
use crate::infra::job_report::JobReport;
use crate::services::correlation::snapshot::CorrelationService;
use crate::services::leaderboard::latest_leaderboard::LatestLeaderboard;

/// How often is looked whether benchmarks or labels have changed, which no event announces.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);
/// Minimum delay between recomputations, as a multiple of the last run's duration.
const REST_TIMES: u32 = 9;

/// Recomputes the correlations at the start, after each leaderboard, after a change of the settings, and when another of their
/// inputs has changed. A computation under way at shutdown is dropped: nothing of it is stored.
pub async fn compute_correlations(
    correlation: Arc<CorrelationService>,
    leaderboard: Arc<LatestLeaderboard>,
    settings: CurrentSettings,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut next_run = NextRun::new(&leaderboard, &settings, shutdown.clone(), LOOK_ANYWAY, REST_TIMES);
    loop {
        tokio::select! {
            () = refresh(&correlation, &report) => report.runs_within(LOOK_ANYWAY),
            () = shutdown.cancelled() => return,
        }
        if !next_run.wait(correlation.latest().cost()).await {
            return;
        }
    }
}

async fn refresh(correlation: &CorrelationService, report: &JobReport) {
    match report.run(correlation.refresh()).await {
        Ok(true) => tracing::debug!(took = ?correlation.latest().cost(), "correlations computed"),
        Ok(false) => {}
        Err(error) if error.is_outage() => {}
        Err(error) if error.is_input() => {
            tracing::warn!(error = %error, "the correlations cannot be computed: correct the settings");
        }
        Err(error) => tracing::error!(error = ?error, "the correlations could not be computed"),
    }
}
