//! Stores the replies of a turn, through outages of the database.

use std::time::Duration;

use tokio::time::Instant;

use crate::arena::battle_dependencies::BattleDependencies;
use crate::domain::battle::progress::Progress;
use crate::domain::battle::{BattleId, RunId};
use crate::infra::storage::{NewReply, StoreError};

/// Interval between attempts to store replies during a database outage.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
const MAX_RETRY_TIME: Duration = Duration::from_secs(600);

impl BattleDependencies {
    /// Retries to store the replies of a turn until the database accepts them: neither an outage nor a held lock may lose text that a
    /// visitor has read. `false` means that another instance answers the turn.
    pub(super) async fn keep_replies(
        &self,
        battle: &BattleId,
        run: &RunId,
        progress: Progress,
        replies: &[NewReply],
    ) -> Result<bool, StoreError> {
        let (began, shutdown, mut logged) = (Instant::now(), self.tasks.shutdown(), false);
        loop {
            let kept = self.store.finish_turn(battle, run, progress, replies, self.clock.now()).await;
            match kept {
                Err(error) if !error.is_permanent() && began.elapsed() < MAX_RETRY_TIME => {
                    if !error.is_outage() && !std::mem::replace(&mut logged, true) {
                        tracing::warn!(battle.id = %battle, error = ?error, "the replies of a turn wait for the database");
                    }
                    tokio::select! {
                        () = tokio::time::sleep(RETRY_INTERVAL) => {}
                        () = shutdown.cancelled() => return Err(error),
                    }
                }
                kept => return kept,
            }
        }
    }
}
