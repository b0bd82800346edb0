//! Keeps the reports on the published leaderboard up to date: how firm it is, and what exclusions change.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::next_event::next_event;
use crate::infra::backoff::later;
use crate::infra::config::CurrentSettings;
use crate::infra::events::{Event, EventBus};
use crate::services::leaderboard::exclusion_report::ExclusionReports;
use crate::services::leaderboard::robustness::RobustnessService;

/// How often is looked whether votes were excluded, of which no event tells.
const LOOK_ANYWAY: Duration = Duration::from_secs(60);
/// Minimum delay between reports, as a multiple of the last one's duration: they take at most a twentieth of a core.
const REST_TIMES: u32 = 19;

/// The reports, of which one is computed at a time.
pub struct Reports {
    /// How firm the leaderboard is.
    pub robustness: Arc<RobustnessService>,
    /// What exclusions change.
    pub exclusions: Arc<ExclusionReports>,
}

/// Computes reports at the start, after leaderboards, and after a change of the settings, with a cool-down after each. A
/// computation under way at shutdown is dropped: nothing of it is stored.
pub async fn keep_robustness(
    reports: Reports,
    events: Arc<dyn EventBus>,
    settings: CurrentSettings,
    shutdown: CancellationToken,
) {
    let mut news = events.subscribe();
    let mut changes = settings.changes();
    loop {
        tokio::select! {
            () = refresh(&reports) => {}
            () = shutdown.cancelled() => return,
        }
        let rested = later(Instant::now(), reports.cost().saturating_mul(REST_TIMES));
        let next = async {
            // No news for a while: look anyway.
            let _ = timeout(LOOK_ANYWAY, next_event(&mut news, Event::LeaderboardPublished)).await;
            sleep_until(rested).await;
        };
        tokio::select! {
            () = next => {}
            // The sender lives in the settings' own handle.
            _ = changes.changed() => {}
            () = shutdown.cancelled() => return,
        }
    }
}

impl Reports {
    fn cost(&self) -> Duration {
        self.robustness.latest().cost() + self.exclusions.latest().cost()
    }
}

async fn refresh(reports: &Reports) {
    let (robustness, exclusions) = (&reports.robustness, &reports.exclusions);
    match robustness.refresh().await {
        Ok(true) => tracing::debug!(took = ?robustness.latest().cost(), "robustness report computed"),
        Ok(false) => {}
        Err(error) if error.is_outage() => {}
        Err(error) => tracing::error!(error = ?error, "the robustness report could not be computed"),
    }
    match exclusions.refresh().await {
        Ok(true) => tracing::debug!(took = ?exclusions.latest().cost(), "exclusion report computed"),
        Ok(false) => {}
        Err(error) if error.is_outage() => {}
        Err(error) => tracing::error!(error = ?error, "the exclusion report could not be computed"),
    }
}
