//! When a computation over the votes runs again: the correlations, the robustness report and the check of voters.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::domain::rating::leaderboard_snapshot::LeaderboardSnapshot;
use crate::infra::backoff::later;
use crate::infra::config::{CurrentSettings, Settings};
use crate::services::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Waits for the next run of a computation.
pub(super) struct NextRun {
    leaderboards: watch::Receiver<Arc<LeaderboardSnapshot>>,
    changes: watch::Receiver<Arc<Settings>>,
    shutdown: CancellationToken,
    look_anyway: Duration,
    cool_down: u32,
}

impl NextRun {
    /// A run is due once this instance has a new leaderboard, after `look_anyway` without one, or at once after a change of the settings.
    /// After each run at least `cool_down` times its duration passes, unless the settings change.
    pub(super) fn new(
        leaderboard: &LatestLeaderboard,
        settings: &CurrentSettings,
        shutdown: CancellationToken,
        look_anyway: Duration,
        cool_down: u32,
    ) -> Self {
        Self { leaderboards: leaderboard.changes(), changes: settings.changes(), shutdown, look_anyway, cool_down }
    }

    /// Waits after a run that took this long. `false` at shutdown.
    pub(super) async fn wait(&mut self, took: Duration) -> bool {
        let rested = later(Instant::now(), took.saturating_mul(self.cool_down));
        let next = async {
            // Without one the inputs are looked at anyway: no leaderboard follows all that may change.
            let _ = timeout(self.look_anyway, self.leaderboards.changed()).await;
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
