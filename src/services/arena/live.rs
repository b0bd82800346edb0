//! A battle in memory: its [event log](crate::domain::battle::event_log) and its watchers.
//!
//! Events are kept until the battle leaves memory, so that a socket that comes back says how far it got and misses nothing.
//! Writing never waits for a reader. A battle that another instance answers is *followed*: its log is a copy of that instance's
//! log.

mod follow;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::domain::battle::event_log::{BattleEvent, EventEntry, EventLog, Exchange};
use crate::domain::battle::state::{Progress, Stage};
use crate::domain::battle::{BattleId, Side, VisitorId};
use crate::infra::storage::{BattleRecord, BattleRow, ReplyRow, TurnRow};
use follow::FollowState;

/// Bytes that even the quickest watcher may be behind before the battle waits for it: text, and what each event costs
/// beside it.
const BEHIND: u64 = 64 * 1024;

/// A battle in memory.
#[derive(Debug)]
pub struct LiveBattle {
    /// Its id.
    pub id: BattleId,
    /// Pseudonym of its visitor.
    pub visitor: VisitorId,
    state: Mutex<LiveState>,
    head: watch::Sender<LogHead>,
    audience: watch::Sender<usize>,
    /// Bytes of the log that the fastest watcher has.
    furthest: AtomicU64,
    /// Notified when the fastest watcher has caught up.
    caught_up: Notify,
    /// Cancelled when a followed battle has its first event.
    heard: CancellationToken,
}

/// What every watcher waits for.
#[derive(Debug, Clone, Copy)]
struct LogHead {
    /// The number of the latest event.
    seq: u64,
    /// Bytes of all events so far.
    bytes: u64,
    /// Another instance continues the battle.
    moved: bool,
}

/// What changes while a battle lives; reached through [`LiveBattle::state`].
#[derive(Debug)]
pub(super) struct LiveState {
    pub(super) row: BattleRow,
    pub(super) exchanges: Vec<Exchange>,
    /// The replies of finished turns as they are stored.
    pub(super) replies: Vec<ReplyRow>,
    pub(super) stopper: Option<oneshot::Sender<()>>,
    /// How it is followed, if another instance answers it.
    followed: Option<FollowState>,
    log: EventLog,
}

impl LiveBattle {
    /// A battle that begins now with its first prompt.
    pub(super) fn begin(row: BattleRow, prompt: &str) -> Self {
        Self::with(row, vec![Exchange::unanswered(prompt)], Vec::new(), 1)
    }

    /// A battle loaded from the database: the log holds all its turns, numbered from `first`.
    pub(super) fn restore(record: BattleRecord, first: u64) -> Self {
        let exchanges = exchanges(&record);
        let battle = Self::with(record.battle, exchanges, record.replies, first);
        battle.log_turns(&mut battle.state());
        battle
    }

    fn with(row: BattleRow, exchanges: Vec<Exchange>, replies: Vec<ReplyRow>, first: u64) -> Self {
        let (id, visitor) = (row.id.clone(), row.visitor.clone());
        Self {
            id,
            visitor,
            head: watch::Sender::new(LogHead { seq: first - 1, bytes: 0, moved: false }),
            audience: watch::Sender::new(0),
            furthest: AtomicU64::new(0),
            caught_up: Notify::new(),
            heard: CancellationToken::new(),
            state: Mutex::new(LiveState {
                row,
                exchanges,
                replies,
                stopper: None,
                followed: None,
                log: EventLog::starting_at(first),
            }),
        }
    }

    fn log_turns(&self, state: &mut LiveState) {
        let progress = state.row.progress;
        for (turn, exchange) in (1..).zip(state.exchanges.clone()) {
            if progress.stage == Stage::Answering && turn == progress.turn {
                break; // The interrupted turn is announced when it is answered again.
            }
            state.log.append_turn(turn, exchange);
        }
        match progress.stage {
            Stage::Ready => state.log.append(progress.turn, BattleEvent::Ready),
            Stage::Voided => state.log.append(progress.turn, BattleEvent::Voided),
            Stage::Answering | Stage::Voted | Stage::Abandoned => {}
        }
        self.announce(state);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, LiveState> {
        // The state is valid after each statement, so a panic elsewhere does not spoil it.
        self.state.lock()
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
            state.log.append(turn, event);
        }
        self.announce(&state);
    }

    /// Moves the battle on and adds an event in one step, so that no watcher sees one without the other.
    pub(super) fn move_on(&self, stage: Stage, event: BattleEvent) {
        let mut state = self.state();
        state.row.progress.stage = stage;
        let turn = state.row.progress.turn;
        state.log.append(turn, event);
        self.announce(&state);
    }

    /// Ends both replies as they stand, if the turn is being answered here.
    pub(super) fn stop(&self) {
        if let Some(stopper) = self.state().stopper.take() {
            // The turn may just have ended by itself, which is what was asked for.
            let _ = stopper.send(());
        }
    }

    /// The number of the first event in the log.
    pub(super) fn first_seq(&self) -> u64 {
        self.state().log.first_seq()
    }

    /// The events after the one numbered `after`.
    pub(super) fn after(&self, after: u64) -> Vec<EventEntry> {
        self.state().log.after(after).to_vec()
    }

    fn announce(&self, state: &LiveState) {
        self.head.send_modify(|head| (head.seq, head.bytes) = (state.log.head(), state.log.bytes()));
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
        self.head.borrow().seq
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

    /// The battle with its stored replies where it waits for its vote.
    pub(super) fn awaiting_vote(&self) -> Option<BattleRecord> {
        let state = self.state();
        let turn = |(turn, exchange): (u32, &Exchange)| TurnRow { turn, prompt: exchange.prompt.to_string() };
        (state.row.progress.stage == Stage::Ready).then(|| BattleRecord {
            battle: state.row.clone(),
            turns: (1..).zip(&state.exchanges).map(turn).collect(),
            replies: state.replies.clone(),
        })
    }

    /// Whether anybody watches.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        *self.audience.borrow() > 0
    }

    /// Whether even the quickest watcher is far behind, or was when it left.
    pub(super) fn readers_are_behind(&self) -> bool {
        self.head.borrow().bytes.saturating_sub(self.furthest.load(Ordering::Acquire)) > BEHIND
    }

    /// Waits while [`LiveBattle::readers_are_behind`].
    pub(super) async fn readers_catch_up(&self) {
        loop {
            // Asked for before the look, so that what happens in between is not missed.
            let caught_up = self.caught_up.notified();
            if !self.readers_are_behind() {
                return;
            }
            caught_up.await;
        }
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
    /// Keeps the texts beside the log of a battle that is followed.
    fn note(&mut self, entry: &EventEntry) {
        let before = usize::try_from(entry.turn).unwrap_or(usize::MAX).saturating_sub(1);
        match &entry.event {
            BattleEvent::Turn { prompt } => {
                self.row.progress.turn = entry.turn;
                self.exchanges.truncate(before);
                self.exchanges.push(Exchange::unanswered(Arc::clone(prompt)));
            }
            BattleEvent::Delta { side, text } => {
                if let Some(exchange) = self.exchanges.get_mut(before) {
                    exchange.replies[side.index()].push_str(text);
                }
            }
            BattleEvent::Done { .. } | BattleEvent::Ready | BattleEvent::Voided => {}
        }
    }
}

/// One socket's view of a battle. Dropping it counts as leaving.
#[derive(Debug)]
pub struct Watcher {
    battle: Arc<LiveBattle>,
    head: watch::Receiver<LogHead>,
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
    pub fn known(&self) -> Vec<EventEntry> {
        self.battle.state().log.up_to(self.told).to_vec()
    }

    /// Waits for events that were not told yet; `None` where the battle goes on in another place. Safe to cancel:
    /// nothing is taken before it returns.
    pub async fn next(&mut self) -> Option<Vec<EventEntry>> {
        let told = self.told;
        // The sender lives in `self.battle`, so waiting cannot fail; if it did, there would be nothing more to tell.
        let head = self.head.wait_for(|head| head.seq > told || head.moved).await.ok().map(|head| *head)?;
        (head.seq > told).then(|| self.missed())
    }

    /// The number of the latest event that was told.
    #[must_use]
    pub fn told(&self) -> u64 {
        self.told
    }

    /// Events that were not told yet, without waiting.
    pub fn missed(&mut self) -> Vec<EventEntry> {
        let state = self.battle.state();
        let missed = state.log.after(self.told).to_vec();
        self.told = state.log.head();
        let before = self.battle.furthest.fetch_max(state.log.bytes(), Ordering::AcqRel);
        if state.log.bytes().saturating_sub(before) > BEHIND {
            self.battle.caught_up.notify_waiters();
        }
        missed
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.battle.audience.send_modify(|watching| *watching -= 1);
    }
}

/// Questions and answers as the database holds them.
fn exchanges(record: &BattleRecord) -> Vec<Exchange> {
    let reply_of = |turn: u32, side: Side| {
        let found = record.replies.iter().find(|kept| kept.turn == turn && kept.reply.side == side);
        found.map(|kept| kept.reply.text.clone()).unwrap_or_default()
    };
    let exchange = |turn: &TurnRow| Exchange {
        prompt: turn.prompt.as_str().into(),
        replies: Side::BOTH.map(|side| reply_of(turn.turn, side)),
    };
    record.turns.iter().map(exchange).collect()
}

#[cfg(test)]
mod tests;
