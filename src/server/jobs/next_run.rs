//! When a computation over the votes runs again: the correlations and the robustness report.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::wait_for_event::wait_for_event;
use crate::infra::backoff::later;
use crate::infra::config::{CurrentSettings, Settings};
use crate::infra::events::{Event, EventBus};

/// Waits for the next run of a computation.
pub(super) struct NextRun {
    events: broadcast::Receiver<Event>,
    changes: watch::Receiver<Arc<Settings>>,
    shutdown: CancellationToken,
    look_anyway: Duration,
    cool_down: u32,
}

impl NextRun {
    /// A run is due after a new leaderboard, after `look_anyway` without one, or at once after a change of the settings.
    /// After each run at least `cool_down` times its duration passes, unless the settings change.
    pub(super) fn new(
        events: &dyn EventBus,
        settings: &CurrentSettings,
        shutdown: CancellationToken,
        look_anyway: Duration,
        cool_down: u32,
    ) -> Self {
        Self { events: events.subscribe(), changes: settings.changes(), shutdown, look_anyway, cool_down }
    }

    /// Waits after a run that took this long. `false` at shutdown.
    pub(super) async fn wait(&mut self, took: Duration) -> bool {
        let rested = later(Instant::now(), took.saturating_mul(self.cool_down));
        let next = async {
            // Without an event the inputs are looked at anyway: no event announces all that may change.
            let _ = timeout(self.look_anyway, wait_for_event(&mut self.events, Event::LeaderboardPublished)).await;
            sleep_until(rested).await;
        };
        tokio::select! {
            () = next => true,
            // The sender lives in the settings' own handle.
            _ = self.changes.changed() => true,
            () = self.shutdown.cancelled() => false,
        }
    }
}
