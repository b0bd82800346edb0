//! A battle in memory: its numbered events, and those who watch it.
//!
//! Events are numbered from 1 without gaps, and are kept until the battle leaves memory, so that a socket that comes
//! back says how far it got and misses nothing. Writing never waits for a reader.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use crate::battle::Side;
use crate::battle::state::{Progress, Stage};
use crate::storage::{BattleRow, ReplyRow, TurnRow};

/// What happened in a battle, as far as its visitor may know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BattleEvent {
    /// A turn begins; the same turn again means that it is answered anew.
    Turn {
        /// The visitor's question.
        prompt: Arc<str>,
    },
    /// More of a reply.
    Delta {
        /// Whose reply.
        side: Side,
        /// The new text.
        text: String,
    },
    /// A side has ended.
    Done {
        /// Which.
        side: Side,
    },
    /// A vote may be cast.
    Ready,
    /// A side failed for good: there will be no vote.
    Voided,
}

/// A numbered event with the turn to which it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Counted from 1 within the battle.
    pub seq: u64,
    /// The turn.
    pub turn: u32,
    /// What happened.
    pub event: BattleEvent,
}

/// One question and what each side answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exchange {
    /// The visitor's question.
    pub(super) prompt: Arc<str>,
    /// The replies of sides A and B.
    pub(super) replies: [String; 2],
}

/// A battle in memory.
#[derive(Debug)]
pub struct LiveBattle {
    /// Its id.
    pub id: String,
    /// Pseudonym of the visitor whose it is.
    pub visitor: String,
    state: Mutex<LiveState>,
    head: watch::Sender<u64>,
    audience: watch::Sender<usize>,
}

/// What changes while a battle lives; reached through [`LiveBattle::state`].
#[derive(Debug)]
pub(super) struct LiveState {
    pub(super) row: BattleRow,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) stopper: Option<oneshot::Sender<()>>,
    log: Vec<Entry>,
    next_seq: u64,
}

impl LiveBattle {
    /// A battle that begins now with its first prompt.
    pub(super) fn begin(row: BattleRow, prompt: &str) -> Self {
        let exchange = Exchange { prompt: prompt.into(), replies: Default::default() };
        Self::with(row, vec![exchange], 1)
    }

    /// A battle read back from the database: its turns are told again, with numbers after `after`.
    pub(super) fn restore(row: BattleRow, turns: Vec<TurnRow>, replies: &[ReplyRow], after: u64) -> Self {
        let reply_of = |turn: u32, side: Side| {
            let found = replies.iter().find(|kept| kept.turn == turn && kept.reply.side == side);
            found.map(|kept| kept.reply.text.clone()).unwrap_or_default()
        };
        let exchanges = turns
            .into_iter()
            .map(|turn| Exchange {
                prompt: turn.prompt.into(),
                replies: Side::BOTH.map(|side| reply_of(turn.turn, side)),
            })
            .collect();
        let battle = Self::with(row, exchanges, after + 1);
        battle.tell_again();
        battle
    }

    fn with(row: BattleRow, exchanges: Vec<Exchange>, next_seq: u64) -> Self {
        Self {
            id: row.id.clone(),
            visitor: row.visitor.clone(),
            head: watch::Sender::new(next_seq - 1),
            audience: watch::Sender::new(0),
            state: Mutex::new(LiveState { row, exchanges, stopper: None, log: Vec::new(), next_seq }),
        }
    }

    fn tell_again(&self) {
        let mut state = self.state();
        let progress = state.row.progress;
        for (turn, exchange) in (1..).zip(state.exchanges.clone()) {
            if progress.stage == Stage::Answering && turn == progress.turn {
                break; // An interrupted turn is announced when it is answered anew.
            }
            state.append(turn, BattleEvent::Turn { prompt: exchange.prompt });
            for (side, text) in Side::BOTH.into_iter().zip(exchange.replies) {
                if !text.is_empty() {
                    state.append(turn, BattleEvent::Delta { side, text });
                }
                state.append(turn, BattleEvent::Done { side });
            }
        }
        match progress.stage {
            Stage::Ready => state.append(progress.turn, BattleEvent::Ready),
            Stage::Voided => state.append(progress.turn, BattleEvent::Voided),
            Stage::Answering | Stage::Voted | Stage::Abandoned => {}
        }
        self.announce(&state);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, LiveState> {
        // The state is valid after each statement, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the battle stands.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.state().row.progress
    }

    /// Adds events to the log and tells the watchers.
    pub(super) fn publish(&self, events: impl IntoIterator<Item = BattleEvent>) {
        let mut state = self.state();
        let turn = state.row.progress.turn;
        for event in events {
            state.append(turn, event);
        }
        self.announce(&state);
    }

    /// Moves the battle on and adds an event in one step, so that no watcher sees one without the other.
    pub(super) fn move_on(&self, stage: Stage, event: BattleEvent) {
        let mut state = self.state();
        state.row.progress.stage = stage;
        let turn = state.row.progress.turn;
        state.append(turn, event);
        self.announce(&state);
    }

    fn announce(&self, state: &LiveState) {
        self.head.send_replace(state.next_seq - 1);
    }

    /// Watches the battle; events up to `after` are known already.
    #[must_use]
    pub fn watch(self: &Arc<Self>, after: u64) -> Watcher {
        self.audience.send_modify(|watching| *watching += 1);
        Watcher { head: self.head.subscribe(), battle: Arc::clone(self), told: after }
    }

    /// The number of the latest event.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        *self.head.borrow()
    }

    /// Whether a turn is under way: the battle waits for models, not for its visitor.
    #[must_use]
    pub fn is_answering(&self) -> bool {
        self.state().stopper.is_some()
    }

    /// Whether its visitor has more to see before a vote can be cast.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        let state = self.state();
        state.stopper.is_some() || state.row.progress.stage == Stage::Answering
    }

    /// Whether anybody watches.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        *self.audience.borrow() > 0
    }

    /// Waits until nobody has watched for `grace`.
    pub(super) async fn left_alone(&self, grace: Duration) {
        let mut audience = self.audience.subscribe();
        loop {
            // The sender lives in `self`, so waiting cannot fail.
            let _ = audience.wait_for(|watching| *watching == 0).await;
            let returned = audience.wait_for(|watching| *watching > 0);
            if tokio::time::timeout(grace, returned).await.is_err() {
                return;
            }
        }
    }
}

impl LiveState {
    fn append(&mut self, turn: u32, event: BattleEvent) {
        self.log.push(Entry { seq: self.next_seq, turn, event });
        self.next_seq += 1;
    }
}

/// One socket's view of a battle. Dropping it counts as leaving.
#[derive(Debug)]
pub struct Watcher {
    battle: Arc<LiveBattle>,
    head: watch::Receiver<u64>,
    told: u64,
}

impl Watcher {
    /// The battle that is watched.
    #[must_use]
    pub fn battle(&self) -> &Arc<LiveBattle> {
        &self.battle
    }

    /// All events up to and including the known ones: what a client that comes back has on its screen.
    #[must_use]
    pub fn known(&self) -> Vec<Entry> {
        self.battle.state().log.iter().take_while(|entry| entry.seq <= self.told).cloned().collect()
    }

    /// Waits for events that were not told yet. Safe to cancel: nothing is taken before it returns.
    pub async fn next(&mut self) -> Vec<Entry> {
        let told = self.told;
        // The sender lives in `self.battle`, so waiting cannot fail.
        let _ = self.head.wait_for(|head| *head > told).await;
        self.missed()
    }

    /// Events that were not told yet, without waiting.
    pub fn missed(&mut self) -> Vec<Entry> {
        let state = self.battle.state();
        let first = state.log.partition_point(|entry| entry.seq <= self.told);
        self.told = state.next_seq - 1;
        state.log[first..].to_vec()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.battle.audience.send_modify(|watching| *watching -= 1);
    }
}
