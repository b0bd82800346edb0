//! Updates the reports on the published leaderboard: its robustness, and the effect of exclusions.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::next_run::NextRun;
use crate::domain::integrity::exclusions::exclusion_report::ExclusionReport;
use crate::infra::config::CurrentSettings;
use crate::infra::job_report::JobReport;
use crate::infra::time::clock::Clock;
use crate::services::leaderboard::background_report::BackgroundReport;
use crate::services::leaderboard::latest_leaderboard::LatestLeaderboard;
use crate::services::leaderboard::robustness::RobustnessReport;

/// Poll interval for exclusions, which emit no event.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(60);
/// Minimum delay between reports, as a multiple of the last one's duration: they use at most a twentieth of a core.
const COOL_DOWN_FACTOR: u32 = 19;

/// Reports, computed one at a time.
pub struct Reports {
    /// Robustness of the leaderboard.
    pub robustness: Arc<BackgroundReport<RobustnessReport>>,
    /// Effect of exclusions.
    pub exclusions: Arc<BackgroundReport<ExclusionReport>>,
    /// Clock for the dates of the reports.
    pub clock: Arc<dyn Clock>,
}

/// Computes the reports at the start, after leaderboards, and after a settings change, with a cool-down after each. A computation under way
/// at shutdown is dropped, and nothing of it is stored.
pub async fn compute_robustness(
    reports: Reports,
    leaderboard: Arc<LatestLeaderboard>,
    settings: CurrentSettings,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut next_run =
        NextRun::new(&leaderboard, &settings, shutdown.clone(), FALLBACK_POLL_INTERVAL, COOL_DOWN_FACTOR);
    loop {
        tokio::select! {
            () = refresh(&reports, &report) => report.runs_within(FALLBACK_POLL_INTERVAL),
            () = shutdown.cancelled() => return,
        }
        if !next_run.wait(reports.cost()).await {
            return;
        }
    }
}

impl Reports {
    fn cost(&self) -> Duration {
        self.robustness.latest().cost() + self.exclusions.latest().cost()
    }
}

async fn refresh(reports: &Reports, report: &JobReport) {
    let (robustness, exclusions) = (&reports.robustness, &reports.exclusions);
    match report.run(robustness.refresh(reports.clock.as_ref())).await {
        Ok(true) => tracing::debug!(took = ?robustness.latest().cost(), "robustness report computed"),
        Ok(false) => {}
        Err(error) if error.is_outage() => {}
        Err(error) => tracing::error!(error = ?error, "the robustness report could not be computed"),
    }
    match report.run(exclusions.refresh()).await {
        Ok(true) => tracing::debug!(took = ?exclusions.latest().cost(), "exclusion report computed"),
        Ok(false) => {}
        Err(error) if error.is_outage() => {}
        Err(error) => tracing::error!(error = ?error, "the exclusion report could not be computed"),
    }
}
