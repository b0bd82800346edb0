//! Battles in the memory of this process.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::LiveBattle;
use crate::domain::battle::BattleId;

/// Battles by id.
#[derive(Debug, Default)]
pub struct RunningBattles(Mutex<HashMap<BattleId, Arc<LiveBattle>>>);

impl RunningBattles {
    /// Returns the number of battles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there are no battles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Returns the battle with this id.
    #[must_use]
    pub fn get(&self, id: &BattleId) -> Option<Arc<LiveBattle>> {
        self.lock().get(id).cloned()
    }

    /// Adds a battle; if one with its id exists, keeps and returns that one.
    pub fn add(&self, battle: &Arc<LiveBattle>) -> Arc<LiveBattle> {
        Arc::clone(self.lock().entry(battle.id.clone()).or_insert_with(|| Arc::clone(battle)))
    }

    /// Removes the battle with this id.
    pub fn remove(&self, id: &BattleId) -> Option<Arc<LiveBattle>> {
        self.lock().remove(id)
    }

    /// Removes exactly this battle, not one that was reloaded in the meantime.
    pub fn forget(&self, battle: &Arc<LiveBattle>) {
        let mut all = self.lock();
        if is_held(&all, battle) {
            all.remove(&battle.id);
        }
    }

    /// Whether exactly this battle is in memory, not one that was reloaded in the meantime.
    #[must_use]
    pub fn holds(&self, battle: &Arc<LiveBattle>) -> bool {
        is_held(&self.lock(), battle)
    }

    /// Removes exactly this battle unless it is watched. Returns whether it was removed.
    pub fn forget_unwatched(&self, battle: &Arc<LiveBattle>) -> bool {
        let mut all = self.lock();
        if battle.is_watched() {
            return false;
        }
        if is_held(&all, battle) {
            all.remove(&battle.id);
        }
        true
    }

    /// Removes idle battles without watchers.
    pub fn sweep(&self) {
        self.lock().retain(|_, battle| battle.is_watched() || battle.is_under_way() || battle.is_followed());
    }

    /// Returns the number of battles whose turn is being answered here.
    #[must_use]
    pub fn answering(&self) -> usize {
        self.lock().values().filter(|battle| battle.is_answering()).count()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<BattleId, Arc<LiveBattle>>> {
        // The map is valid after each statement, so a panic elsewhere does not spoil it.
        self.0.lock()
    }
}

fn is_held(all: &HashMap<BattleId, Arc<LiveBattle>>, battle: &Arc<LiveBattle>) -> bool {
    all.get(&battle.id).is_some_and(|known| Arc::ptr_eq(known, battle))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;
    use tokio::sync::oneshot;
    use tokio::time::advance;

    use super::*;
    use crate::domain::battle::active_battle::ActiveBattle;
    use crate::domain::battle::mode::BattleMode;
    use crate::domain::battle::progress::{Progress, Stage};
    use crate::domain::battle::record::BattleRow;
    use crate::domain::battle::{ModelId, RunId, VisitorId};
    use crate::live_battles::{BattleUpdate, UNSAVED_INTERVAL};

    fn battle() -> Arc<LiveBattle> {
        let row = BattleRow {
            id: BattleId::new("x"),
            visitor: VisitorId::new("visitor"),
            mode: BattleMode::Anonymous,
            progress: Progress { stage: Stage::Answering, turn: 1 },
            models: ["one", "two"].map(ModelId::new),
            pairing_policy: "uniform".into(),
            policy_version: 1,
            pair_probability: 1.0,
            language: "en".into(),
            category: None,
            intent: None,
            answered_by: Some(RunId::new("here.0")),
        };
        Arc::new(LiveBattle::new(ActiveBattle::begin(row, "Which?", Vec::new())))
    }

    #[test]
    fn a_stopped_battle_stays_in_memory_until_its_replies_are_kept() {
        let (all, battle) = (RunningBattles::default(), battle());
        all.add(&battle);
        battle.state().stopper = Some(oneshot::channel().0);
        battle.stop();
        all.sweep();
        assert!(all.get(&battle.id).is_some(), "it would be read back and answered a second time");
        battle.state().active.row.progress.stage = Stage::Ready;
        all.sweep();
        assert!(all.get(&battle.id).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_visitor_who_comes_back_right_after_the_process_stalled_is_in_time() {
        let battle = battle();
        let comes_back = async {
            advance(Duration::from_secs(3_600)).await;
            advance(Duration::from_secs(1)).await;
            battle.watch(0)
        };
        let watcher = tokio::select! {
            biased;
            () = battle.wait_until_unwatched(Duration::from_secs(10)) => None,
            watcher = comes_back => Some(watcher),
        };
        assert!(watcher.is_some(), "the battle counts as left");
    }

    #[tokio::test(start_paused = true)]
    async fn unsaved_replies_are_reported_at_an_interval_until_they_are_saved() {
        let battle = battle();
        let mut watcher = battle.watch(battle.last_seq());
        battle.set_replies_unsaved(true);
        for _ in 0..3 {
            assert!(matches!(watcher.next().now_or_never(), Some(BattleUpdate::RepliesUnsaved)));
            assert!(watcher.next().now_or_never().is_none(), "before the interval is over");
            advance(UNSAVED_INTERVAL).await;
        }
        battle.set_replies_unsaved(false);
        assert!(watcher.next().now_or_never().is_none(), "they are saved");
    }

    #[test]
    fn a_battle_that_somebody_watches_is_not_forgotten() {
        let (all, battle) = (RunningBattles::default(), battle());
        all.add(&battle);
        let watcher = battle.watch(0);
        assert!(!all.forget_unwatched(&battle) && all.holds(&battle), "its watcher would get nothing any more");
        drop(watcher);
        assert!(all.forget_unwatched(&battle) && !all.holds(&battle));
    }
}
