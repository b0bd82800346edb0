//! Schedule of a computation over the votes: the correlations, the robustness report and the voter check.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use crate::infra::backoff::later;
use crate::infra::config::{CurrentSettings, Settings};
use crate::services::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Schedule of a computation.
pub(super) struct NextRun {
    leaderboards: watch::Receiver<Arc<LeaderboardSnapshot>>,
    changes: watch::Receiver<Arc<Settings>>,
    shutdown: CancellationToken,
    look_anyway: Duration,
    cool_down: u32,
}

impl NextRun {
    /// Creates a schedule. A run is due after a new leaderboard of this instance, after `look_anyway` without one, or at once after a
    /// settings change. After each run at least `cool_down` times its duration passes, unless the settings change.
    pub(super) fn new(
        leaderboard: &LatestLeaderboard,
        settings: &CurrentSettings,
        shutdown: CancellationToken,
        look_anyway: Duration,
        cool_down: u32,
    ) -> Self {
        Self { leaderboards: leaderboard.changes(), changes: settings.changes(), shutdown, look_anyway, cool_down }
    }

    /// Waits for the next run, after one that took this long. Returns `false` at shutdown.
    pub(super) async fn wait(&mut self, took: Duration) -> bool {
        let rested = later(Instant::now(), took.saturating_mul(self.cool_down));
        let next = async {
            // Without a new leaderboard the inputs are checked anyway: some of their changes cause none.
            let _ = timeout(self.look_anyway, self.leaderboards.changed()).await;
            sleep_until(rested).await;
        };
        tokio::select! {
            () = next => true,
            // The sender is owned by the settings' own handle.
            _ = self.changes.changed() => true,
            () = self.shutdown.cancelled() => false,
        }
    }
}
