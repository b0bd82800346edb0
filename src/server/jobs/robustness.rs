//! Keeps the robustness report of the published leaderboard up to date.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::next_run::NextRun;
use crate::infra::config::CurrentSettings;
use crate::infra::events::EventBus;
use crate::services::leaderboard::robustness::RobustnessService;

/// How often is looked whether votes were excluded, of which no event tells.
const LOOK_ANYWAY: Duration = Duration::from_secs(60);
/// Minimum delay between reports, as a multiple of the last one's duration: they take at most a twentieth of a core.
const REST_TIMES: u32 = 19;

/// Computes a report at the start, after leaderboards, and after a change of the settings, with a cool-down after each. A
/// computation under way at shutdown is dropped: nothing of it is stored.
pub async fn keep_robustness(
    robustness: Arc<RobustnessService>,
    events: Arc<dyn EventBus>,
    settings: CurrentSettings,
    shutdown: CancellationToken,
) {
    let mut next_run = NextRun::new(&*events, &settings, shutdown.clone(), LOOK_ANYWAY, REST_TIMES);
    loop {
        tokio::select! {
            () = refresh(&robustness) => {}
            () = shutdown.cancelled() => return,
        }
        if !next_run.wait(robustness.latest().cost()).await {
            return;
        }
    }
}

async fn refresh(robustness: &RobustnessService) {
    match robustness.refresh().await {
        Ok(true) => tracing::debug!(took = ?robustness.latest().cost(), "robustness report computed"),
        Ok(false) => {}
        Err(error) if error.is_outage() => {}
        Err(error) => tracing::error!(error = ?error, "the robustness report could not be computed"),
    }
}
