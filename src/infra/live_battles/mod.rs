//! The [battles in memory](crate::domain::battle::active_battle) of this process and those who watch them.
//!
//! Events are kept until the battle leaves memory, so that a socket that comes back says how far it got and misses nothing.
//! Writing never waits for a reader.

mod follow;
mod running;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::domain::battle::active_battle::ActiveBattle;
use crate::domain::battle::event_log::{BattleEvent, EventEntry};
use crate::domain::battle::progress::{Progress, Stage};
use crate::domain::battle::{BattleId, VisitorId};
use crate::process_stalls::timeout_unless_stalled;
pub use running::RunningBattles;

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
    first_event_received: CancellationToken,
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
pub struct LiveState {
    /// Where it stands, its texts and its events.
    pub active: ActiveBattle,
    /// Ends both replies of the turn that is being answered here.
    pub stopper: Option<oneshot::Sender<()>>,
}

impl LiveBattle {
    /// A battle that is in memory from now on.
    #[must_use]
    pub fn new(active: ActiveBattle) -> Self {
        let (seq, bytes) = (active.log().head(), active.log().bytes());
        Self {
            id: active.row.id.clone(),
            visitor: active.row.visitor.clone(),
            head: watch::Sender::new(LogHead { seq, bytes, moved: false }),
            audience: watch::Sender::new(0),
            furthest: AtomicU64::new(0),
            caught_up: Notify::new(),
            first_event_received: CancellationToken::new(),
            state: Mutex::new(LiveState { active, stopper: None }),
        }
    }

    /// Its state, locked.
    pub fn state(&self) -> MutexGuard<'_, LiveState> {
        // The state is valid after each statement, so a panic elsewhere does not spoil it.
        self.state.lock()
    }

    /// Where the battle stands.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.state().active.row.progress
    }

    /// Adds events to the log and notifies the watchers.
    pub fn publish(&self, events: impl IntoIterator<Item = BattleEvent>) {
        let mut state = self.state();
        events.into_iter().for_each(|event| state.active.append(event));
        self.announce(&state);
    }

    /// Moves the battle on and adds an event in one step, so that no watcher sees one without the other.
    pub fn move_on(&self, stage: Stage, event: BattleEvent) {
        let mut state = self.state();
        state.active.move_on(stage, event);
        self.announce(&state);
    }

    /// Ends both replies as they stand, if the turn is being answered here.
    pub fn stop(&self) {
        if let Some(stopper) = self.state().stopper.take() {
            // The turn may just have ended by itself, which is what was asked for.
            let _ = stopper.send(());
        }
    }

    /// The number of the first event in the log.
    #[must_use]
    pub fn first_seq(&self) -> u64 {
        self.state().active.log().first_seq()
    }

    /// The events after the one numbered `after`.
    #[must_use]
    pub fn after(&self, after: u64) -> Vec<EventEntry> {
        self.state().active.log().after(after).to_vec()
    }

    fn announce(&self, state: &LiveState) {
        self.head.send_modify(|head| (head.seq, head.bytes) = (state.active.log().head(), state.active.log().bytes()));
    }

    /// Watches the battle; events up to `after` are known already.
    #[must_use]
    pub fn watch(self: &Arc<Self>, after: u64) -> Watcher {
        self.audience.send_modify(|watching| *watching += 1);
        Watcher { head: self.head.subscribe(), battle: Arc::clone(self), last_sent: after }
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
        state.stopper.is_some() || state.active.row.progress.stage == Stage::Answering
    }

    /// Whether anybody watches.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        *self.audience.borrow() > 0
    }

    /// Whether even the quickest watcher is far behind, or was when it left.
    #[must_use]
    pub fn readers_are_behind(&self) -> bool {
        self.head.borrow().bytes.saturating_sub(self.furthest.load(Ordering::Acquire)) > BEHIND
    }

    /// Waits while [`LiveBattle::readers_are_behind`].
    pub async fn readers_catch_up(&self) {
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
    pub async fn left_alone(&self, grace: Duration) {
        let mut audience = self.audience.subscribe();
        loop {
            // The sender lives in `self`, so waiting cannot fail.
            let _ = audience.wait_for(|watching| *watching == 0).await;
            let returned = async { audience.wait_for(|watching| *watching > 0).await.is_ok() };
            // After a stall, sockets of those who came back may wait to be accepted.
            if timeout_unless_stalled(grace, returned).await.is_none() {
                return;
            }
        }
    }
}

/// One socket's view of a battle. Dropping it counts as leaving.
#[derive(Debug)]
pub struct Watcher {
    battle: Arc<LiveBattle>,
    head: watch::Receiver<LogHead>,
    last_sent: u64,
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
        self.battle.state().active.log().up_to(self.last_sent).to_vec()
    }

    /// Waits for events that were not sent yet; `None` where the battle goes on in another place. Safe to cancel:
    /// nothing is taken before it returns.
    pub async fn next(&mut self) -> Option<Vec<EventEntry>> {
        let sent = self.last_sent;
        // The sender lives in `self.battle`, so waiting cannot fail; if it did, there would be nothing more to send.
        let head = self.head.wait_for(|head| head.seq > sent || head.moved).await.ok().map(|head| *head)?;
        (head.seq > sent).then(|| self.missed())
    }

    /// The number of the latest event that was sent.
    #[must_use]
    pub fn last_sent(&self) -> u64 {
        self.last_sent
    }

    /// Events that were not sent yet, without waiting.
    pub fn missed(&mut self) -> Vec<EventEntry> {
        let state = self.battle.state();
        let missed = state.active.log().after(self.last_sent).to_vec();
        self.last_sent = state.active.log().head();
        let before = self.battle.furthest.fetch_max(state.active.log().bytes(), Ordering::AcqRel);
        if state.active.log().bytes().saturating_sub(before) > BEHIND {
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
