//! Stores the replies of a turn, through outages of the database.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::arena::battle_dependencies::BattleDependencies;
use crate::domain::battle::RunId;
use crate::domain::battle::progress::{Progress, Stage};
use crate::infra::live_battles::LiveBattle;
use crate::infra::storage::{NewReply, StoreError};

/// Interval between attempts to store replies during a database outage.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// Time after which the watchers are notified of a write that has not returned, as on a disk that hangs.
const SLOW_WRITE: Duration = Duration::from_secs(2);
const MAX_RETRY_TIME: Duration = Duration::from_secs(600);

impl BattleDependencies {
    /// Retries to store the replies of a turn until the database accepts them: neither an outage nor a held lock may lose text that a
    /// visitor has read, and meanwhile the watchers know why they cannot vote. `false` means that another instance answers the turn.
    pub(super) async fn keep_replies(
        &self,
        battle: &LiveBattle,
        run: &RunId,
        progress: Progress,
        replies: &[NewReply],
    ) -> Result<bool, StoreError> {
        let (began, shutdown, mut logged) = (Instant::now(), self.tasks.shutdown(), false);
        let mut failures = 0_u32;
        loop {
            let write = self.store.finish_turn(&battle.id, run, progress, replies, self.clock.now());
            match notify_if_slow(battle, progress.stage, write).await {
                Err(error) if !error.is_permanent() && began.elapsed() < MAX_RETRY_TIME => {
                    if !error.is_outage() && !std::mem::replace(&mut logged, true) {
                        tracing::warn!(battle.id = %battle.id, error = ?error, "the replies of a turn wait for the database");
                    }
                    failures += 1;
                    // A conflict with another transaction passes by the next attempt.
                    if failures > 1 {
                        battle.set_replies_unsaved(progress.stage == Stage::Ready);
                    }
                    tokio::select! {
                        () = tokio::time::sleep(RETRY_INTERVAL) => {}
                        () = shutdown.cancelled() => return Err(error),
                    }
                }
                kept => {
                    battle.set_replies_unsaved(false);
                    return kept;
                }
            }
        }
    }
}

/// Awaits a write of the replies; the watchers are notified if it takes long.
async fn notify_if_slow<T>(battle: &LiveBattle, stage: Stage, write: impl Future<Output = T>) -> T {
    let mut write = pin!(write);
    if let Ok(written) = timeout(SLOW_WRITE, write.as_mut()).await {
        return written;
    }
    battle.set_replies_unsaved(stage == Stage::Ready);
    write.await
}
