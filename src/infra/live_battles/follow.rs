//! Following a battle that another instance answers.

use std::time::Duration;

use super::LiveBattle;
use crate::domain::battle::event_log::EventEntry;
use crate::domain::battle::record::BattleRecord;

impl LiveBattle {
    /// Takes in events of the instance that answers, if they are still listened to: [`ActiveBattle::take_in`].
    ///
    /// [`ActiveBattle::take_in`]: crate::domain::battle::active_battle::ActiveBattle::take_in
    pub fn take_in(&self, first: u64, entries: Vec<EventEntry>) -> bool {
        let mut state = self.state();
        if !state.active.listens() {
            return false;
        }
        if state.active.take_in(first, entries) {
            return true;
        }
        self.announce(&state);
        if !state.active.log().is_empty() {
            self.first_event_received.cancel();
        }
        false
    }

    /// The other instance cannot be reached: what the database holds is sent.
    pub fn mark_unreachable(&self) {
        let mut state = self.state();
        state.active.mark_unreachable();
        self.announce(&state);
    }

    /// The turn has ended elsewhere: from now on the battle is one of this instance.
    pub fn catch_up(&self, record: BattleRecord, apart: u64) {
        let mut state = self.state();
        state.active.catch_up(record, apart);
        self.first_event_received.cancel();
        self.announce(&state);
    }

    /// The instance that answered is gone, and this one takes its place.
    pub fn adopt(&self, record: BattleRecord, apart: u64) {
        let mut state = self.state();
        state.active.adopt(record, apart);
        self.first_event_received.cancel();
        self.announce(&state);
    }

    /// The battle continues elsewhere: watchers have to reconnect and request it again.
    pub fn move_away(&self) {
        self.head.send_modify(|head| head.moved = true);
    }

    /// Whether another instance answers it.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.state().active.is_followed()
    }

    /// Whether events of another instance are taken in.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.state().active.listens()
    }

    /// Waits until a followed battle has something to send, `patience` at most.
    pub async fn first_event(&self, patience: Duration) {
        // Either outcome is fine: the caller looks at the log.
        let _ = tokio::time::timeout(patience, self.first_event_received.cancelled()).await;
    }

    /// The number of the latest event that came from the instance that answers; 0 before any came.
    #[must_use]
    pub fn last_received_seq(&self) -> u64 {
        self.state().active.log().last_seq().unwrap_or(0)
    }
}
