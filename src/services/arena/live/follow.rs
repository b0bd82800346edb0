//! Following a battle that another instance answers.

use std::time::Duration;

use super::{LiveBattle, exchanges};
use crate::domain::battle::RunId;
use crate::domain::battle::event_log::{BattleEvent, EventEntry, Incoming};
use crate::domain::battle::state::Stage;
use crate::infra::storage::BattleRecord;

/// How a battle that another instance answers is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowState {
    /// Its events are taken in as they come.
    Listening,
    /// Its events did not come in time, and those who watch were told what the database holds. Numbers that came now
    /// would mean other events.
    Deaf,
}

impl LiveBattle {
    /// A battle that another instance answers. Nothing is told until its events come; if they do not, what the database
    /// holds is told, numbered from `first`.
    pub(in crate::services::arena) fn follow(record: BattleRecord, first: u64) -> Self {
        let exchanges = exchanges(&record);
        let battle = Self::with(record.battle, exchanges, Vec::new(), first);
        battle.state().followed = Some(FollowState::Listening);
        battle
    }

    /// Takes in events of the instance that answers, whose log begins with the event numbered `first`; `true` if some
    /// are missing. That a turn is ready is left to [`LiveBattle::catch_up`]: until then this instance could take neither
    /// a vote nor a question.
    pub(in crate::services::arena) fn take_in(&self, first: u64, mut entries: Vec<EventEntry>) -> bool {
        let mut state = self.state();
        if state.followed != Some(FollowState::Listening) {
            return false;
        }
        entries.pop_if(|last| last.event == BattleEvent::Ready);
        for entry in entries {
            if state.log.begins_with(first, &entry) {
                // The log over there begins with the battle's first turn: this is all of it.
                state.exchanges.clear();
            }
            match state.log.take_in(first, entry.clone()) {
                Incoming::Added => state.note(&entry),
                Incoming::Known => {}
                Incoming::Gap => return true,
            }
        }
        self.announce(&state);
        if !state.log.is_empty() {
            self.heard.cancel();
        }
        false
    }

    /// The other instance cannot be reached: the log gets what the database holds, and the rest comes by
    /// [`LiveBattle::catch_up`].
    pub(in crate::services::arena) fn mark_unreachable(&self) {
        let mut state = self.state();
        if state.followed == Some(FollowState::Listening) && state.log.is_empty() {
            state.followed = Some(FollowState::Deaf);
            self.log_turns(&mut state);
        }
    }

    /// The turn has ended elsewhere: tells its end, and all of it anew where not all of it was told, with numbers that are
    /// `apart` from those so far. From now on the battle is one of this instance.
    pub(in crate::services::arena) fn catch_up(&self, record: BattleRecord, apart: u64) {
        let exchanges = exchanges(&record);
        let mut state = self.state();
        state.followed = None;
        state.row = record.battle;
        let progress = state.row.progress;
        self.heard.cancel();
        if state.log.is_empty() {
            state.exchanges = exchanges;
            return self.log_turns(&mut state);
        }
        let told = state.log.latest_turn(progress.turn);
        if progress.stage == Stage::Voided && told.begun {
            // Its replies may still be on their way into the database, and nobody compares them any more.
            if !told.over {
                state.log.append(progress.turn, BattleEvent::Voided);
            }
            return self.announce(&state);
        }
        state.exchanges = exchanges;
        let Some(last) = state.exchanges.last().cloned() else { return };
        let is_told = told.done == [true; 2] && told.replies == last.replies;
        if !is_told {
            state.log.skip(apart);
            state.log.append_turn(progress.turn, last);
        }
        match progress.stage {
            _ if is_told && told.over => {}
            // Whoever votes on a battle that has a vote gets the receipt of that one.
            Stage::Ready | Stage::Voted => state.log.append(progress.turn, BattleEvent::Ready),
            Stage::Voided => state.log.append(progress.turn, BattleEvent::Voided),
            Stage::Answering | Stage::Abandoned => {}
        }
        self.announce(&state);
    }

    /// The instance that answered is gone, and this one takes its place, with numbers that are `apart` from those so far:
    /// the other one may have told more, and may come back.
    pub(in crate::services::arena) fn adopt(&self, run: &RunId, apart: u64) {
        let mut state = self.state();
        if state.followed.take().is_some() {
            state.log.skip(apart);
        }
        state.row.answered_by = Some(run.clone());
    }

    /// The battle continues elsewhere: watchers have to reconnect and request it again.
    pub(in crate::services::arena) fn move_away(&self) {
        self.head.send_modify(|head| head.moved = true);
    }

    /// Whether another instance answers it.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.state().followed.is_some()
    }

    /// Whether events of another instance are taken in.
    pub(in crate::services::arena) fn listens(&self) -> bool {
        self.state().followed == Some(FollowState::Listening)
    }

    /// Waits until a followed battle has something to tell, `patience` at the most.
    pub(in crate::services::arena) async fn first_event(&self, patience: Duration) {
        // Either outcome is fine: the caller looks at the log.
        let _ = tokio::time::timeout(patience, self.heard.cancelled()).await;
    }

    /// The number of the latest event that came from the instance that answers; 0 before any came.
    pub(in crate::services::arena) fn last_heard(&self) -> u64 {
        self.state().log.last_seq().unwrap_or(0)
    }
}
