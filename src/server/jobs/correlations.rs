//! Keeps the correlations up to date.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::next_event::next_event;
use crate::infra::backoff::later;
use crate::infra::config::CurrentSettings;
use crate::infra::events::{Event, EventBus};
use crate::services::correlation::snapshot::CorrelationService;

/// How often is looked whether benchmarks or labels have changed, of which no event tells.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);
/// Minimum delay between recomputations, as a multiple of the last run's duration.
const REST_TIMES: u32 = 9;

/// Recomputes the correlations at the start, after each leaderboard, after a change of the settings, and when another of their
/// inputs has changed. A computation under way at shutdown is dropped: nothing of it is stored.
pub async fn keep_correlations(
    correlation: Arc<CorrelationService>,
    events: Arc<dyn EventBus>,
    settings: CurrentSettings,
    shutdown: CancellationToken,
) {
    let mut news = events.subscribe();
    let mut changes = settings.changes();
    loop {
        tokio::select! {
            () = refresh(&correlation) => {}
            () = shutdown.cancelled() => return,
        }
        let rested = later(Instant::now(), correlation.latest().cost().saturating_mul(REST_TIMES));
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

async fn refresh(correlation: &CorrelationService) {
    match correlation.refresh().await {
        Ok(true) => tracing::debug!(took = ?correlation.latest().cost(), "correlations computed"),
        Ok(false) => {}
        Err(error) if error.is_outage() => {}
        Err(error) if error.is_input() => {
            tracing::warn!(error = %error, "the correlations cannot be computed: correct the settings");
        }
        Err(error) => tracing::error!(error = ?error, "the correlations could not be computed"),
    }
}
