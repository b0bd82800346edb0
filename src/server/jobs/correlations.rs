//! Keeps the correlations up to date.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::next_run::NextRun;
use crate::infra::config::CurrentSettings;
use crate::infra::job_report::JobReport;
use crate::services::correlation::snapshot::CorrelationService;
use crate::services::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Poll interval for changed benchmarks and labels, which emit no event.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(30);
/// Minimum delay between recomputations, as a multiple of the last run's duration.
const COOL_DOWN_FACTOR: u32 = 9;

/// Recomputes the correlations at the start, after each leaderboard, after a settings change, and when another input has changed. A
/// computation under way at shutdown is dropped, and nothing of it is stored.
pub async fn compute_correlations(
    correlation: Arc<CorrelationService>,
    leaderboard: Arc<LatestLeaderboard>,
    settings: CurrentSettings,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut next_run =
        NextRun::new(&leaderboard, &settings, shutdown.clone(), FALLBACK_POLL_INTERVAL, COOL_DOWN_FACTOR);
    loop {
        tokio::select! {
            () = refresh(&correlation, &report) => report.runs_within(FALLBACK_POLL_INTERVAL),
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
