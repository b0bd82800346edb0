//! Finds the battle that a visitor reconnects to: in memory, at the instance that answers it, or in the database.

use std::sync::Arc;

use super::{BattleError, Battles};
use crate::arena::battle_dependencies::BattleDependencies;
use crate::arena::remote_battles::{self, LocalBattles, RemoteBattles};
use crate::domain::battle::active_battle::ActiveBattle;
use crate::domain::battle::progress::Stage;
use crate::domain::battle::{BattleId, RunId, VisitorId};
use crate::infra::live_battles::{LiveBattle, RunningBattles, Watcher};
use crate::infra::storage::StoreError;

impl LocalBattles for Battles {
    fn unload(&self, battle: &Arc<LiveBattle>) {
        self.live.forget(battle);
        battle.mark_moved();
    }

    fn dependencies(&self) -> &BattleDependencies {
        &self.dependencies
    }

    fn live(&self) -> &RunningBattles {
        &self.live
    }

    fn remote_battles(&self) -> &RemoteBattles {
        &self.remote_battles
    }

    async fn take_over(&self, battle: &Arc<LiveBattle>, from: Option<&RunId>) -> Result<bool, StoreError> {
        let run = self.dependencies.instances.new_run();
        let (store, now) = (&self.dependencies.store, self.dependencies.clock.now());
        let Some(record) = store.take_over_turn(&battle.id, from, &run, now).await? else { return Ok(false) };
        tracing::info!(battle.id = %battle.id, "regenerating a turn whose instance is gone");
        battle.adopt(record, self.dependencies.random_epoch_gap());
        self.answer(battle, run, None);
        Ok(true)
    }
}

impl Battles {
    /// Watches a battle again after the event numbered `after`.
    ///
    /// # Errors
    /// [`BattleError`].
    pub async fn resume(
        self: &Arc<Self>,
        visitor: &VisitorId,
        id: &BattleId,
        after: u64,
    ) -> Result<Watcher, BattleError> {
        loop {
            let battle = self.find_after(visitor, id, after).await?;
            if self.has_lost_its_texts(&battle).await {
                self.unload(&battle);
                continue;
            }
            remote_battles::await_first_event(&self.dependencies, &battle).await;
            // An unknown number belongs to an earlier log of the battle: send all events.
            let known = if after <= battle.last_seq() { after } else { 0 };
            let watcher = battle.watch(known);
            // A battle removed from memory before it was watched gets no more events.
            if self.live.holds(&battle) {
                return Ok(watcher);
            }
        }
    }

    pub(super) async fn find(
        self: &Arc<Self>,
        visitor: &VisitorId,
        id: &BattleId,
    ) -> Result<Arc<LiveBattle>, BattleError> {
        self.find_after(visitor, id, 0).await
    }

    /// Returns the battle from memory, from the instance that answers it, or from the database, with its events numbered after `after`.
    async fn find_after(
        self: &Arc<Self>,
        visitor: &VisitorId,
        id: &BattleId,
        after: u64,
    ) -> Result<Arc<LiveBattle>, BattleError> {
        if let Some(battle) = self.live.get(id) {
            if battle.visitor != *visitor {
                return Err(BattleError::UnknownBattle);
            }
            if self.is_current(&battle).await? {
                return Ok(battle);
            }
            self.unload(&battle);
        }
        self.load_from_database(visitor, id, after).await
    }

    /// Whether the battle in memory is up to date: another instance may have continued it.
    async fn is_current(&self, battle: &LiveBattle) -> Result<bool, StoreError> {
        if self.dependencies.instances.is_alone() || battle.is_under_way() || battle.is_followed() {
            return Ok(true);
        }
        let row = self.dependencies.store.battle(&battle.id).await?;
        let known = battle.state().active.row.clone();
        // A turn that is just beginning here may not be in the database yet.
        Ok(known.progress.stage == Stage::Answering
            || row.is_some_and(|row| row.progress == known.progress && row.answered_by == known.answered_by))
    }

    /// Whether the battle's texts were deleted from the database and are still in memory here; never while it is being answered. During a
    /// database outage, `false`.
    async fn has_lost_its_texts(&self, battle: &LiveBattle) -> bool {
        if battle.is_under_way() || battle.state().active.exchanges.is_empty() {
            return false;
        }
        matches!(self.dependencies.store.has_texts(&battle.id).await, Ok(false))
    }

    async fn load_from_database(
        self: &Arc<Self>,
        visitor: &VisitorId,
        id: &BattleId,
        after: u64,
    ) -> Result<Arc<LiveBattle>, BattleError> {
        loop {
            let record = self.dependencies.store.battle_record(id).await?;
            let record = record.filter(|record| record.battle.visitor == *visitor).ok_or(BattleError::UnknownBattle)?;
            let run = record.battle.answered_by.clone();
            let answering = record.battle.progress.stage == Stage::Answering;
            if answering && self.dependencies.instances.is_run_elsewhere(run.as_ref()).await? {
                return Ok(remote_battles::follow(self, record, after));
            }
            let restored = LiveBattle::new(ActiveBattle::restore(record, self.dependencies.first_number(after)));
            let restored = Arc::new(restored);
            // If two sockets reconnect at once, both use the first one's battle.
            let battle = self.live.add(&restored);
            if !answering || !Arc::ptr_eq(&battle, &restored) {
                return Ok(battle);
            }
            // The process that answered the turn is gone: answer it again, unless another instance does so already.
            match self.take_over(&battle, run.as_ref()).await {
                Ok(true) => return Ok(battle),
                Ok(false) => self.unload(&battle),
                Err(error) => {
                    self.unload(&battle);
                    return Err(error.into());
                }
            }
        }
    }
}
