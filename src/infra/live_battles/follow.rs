//! Follows a battle that another instance answers.

use std::time::Duration;

use super::LiveBattle;
use crate::domain::battle::event_log::EventEntry;
use crate::domain::battle::record::BattleRecord;

impl LiveBattle {
    /// Applies events of the answering instance, if they are still accepted: [`ActiveBattle::apply_events`].
    ///
    /// [`ActiveBattle::apply_events`]: crate::domain::battle::active_battle::ActiveBattle::apply_events
    pub fn apply_events(&self, first: u64, entries: Vec<EventEntry>) -> bool {
        let mut state = self.state();
        if !state.active.listens() {
            return false;
        }
        if state.active.apply_events(first, entries) {
            return true;
        }
        self.announce(&state);
        if !state.active.log().is_empty() {
            self.first_event_received.cancel();
        }
        false
    }

    /// Marks the answering instance as unreachable: watchers get the state of the database.
    pub fn mark_unreachable(&self) {
        let mut state = self.state();
        state.active.mark_unreachable();
        self.announce(&state);
    }

    /// Ends the following after the turn ended elsewhere: from now on the battle belongs to this instance.
    pub fn catch_up(&self, record: BattleRecord, apart: u64) {
        let mut state = self.state();
        state.active.catch_up(record, apart);
        self.set_replies_unsaved(false);
        self.first_event_received.cancel();
        self.announce(&state);
    }

    /// Takes over the battle of an answering instance that is gone.
    pub fn adopt(&self, record: BattleRecord, apart: u64) {
        let mut state = self.state();
        state.active.adopt(record, apart);
        self.set_replies_unsaved(false);
        self.first_event_received.cancel();
        self.announce(&state);
    }

    /// Marks the battle as moved: watchers must reconnect and request it again.
    pub fn mark_moved(&self) {
        self.head.send_modify(|head| head.moved = true);
    }

    /// Whether another instance answers the battle.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.state().active.is_followed()
    }

    /// Whether events of another instance are accepted.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.state().active.listens()
    }

    /// Waits until a followed battle has an event to send, at most for `patience`.
    pub async fn first_event(&self, patience: Duration) {
        // Either outcome is fine: the caller reads the log.
        let _ = tokio::time::timeout(patience, self.first_event_received.cancelled()).await;
    }

    /// Returns the number of the latest event received from the answering instance; 0 before the first one.
    #[must_use]
    pub fn last_received_seq(&self) -> u64 {
        self.state().active.log().last_seq().unwrap_or(0)
    }
}
