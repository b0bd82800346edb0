//! The [battles in memory](crate::domain::battle::active_battle) of this process and their watchers.
//!
//! Events are kept until the battle leaves memory, so that a reconnecting socket states its position and misses nothing. Writing never
//! waits for a reader.

mod follow;
mod running;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::domain::battle::active_battle::ActiveBattle;
use crate::domain::battle::event_log::{BattleEvent, EventEntry};
use crate::domain::battle::progress::{Progress, Stage};
use crate::domain::battle::{BattleId, VisitorId};
use crate::time::process_stalls::timeout_unless_stalled;
pub use running::RunningBattles;

/// Maximum lag of the fastest watcher in bytes before the battle waits for it: text, and the overhead of each event.
const MAX_LAG_BYTES: u64 = 64 * 1024;
/// Interval at which [`BattleUpdate::RepliesUnsaved`] is repeated: to a client, a connection that is silent for longer seems lost.
const UNSAVED_INTERVAL: Duration = Duration::from_secs(10);

/// A battle in memory.
#[derive(Debug)]
pub struct LiveBattle {
    /// Id of the battle.
    pub id: BattleId,
    /// Pseudonym of its visitor.
    pub visitor: VisitorId,
    state: Mutex<LiveState>,
    head: watch::Sender<LogHead>,
    audience: watch::Sender<usize>,
    /// Bytes of the log sent to the fastest watcher.
    furthest: AtomicU64,
    /// Notified when the fastest watcher has caught up.
    caught_up: Notify,
    /// Cancelled when a followed battle has its first event.
    first_event_received: CancellationToken,
}

/// Head of the event log, which every watcher awaits.
#[derive(Debug, Clone, Copy)]
struct LogHead {
    /// Number of the latest event.
    seq: u64,
    /// Bytes of all events so far.
    bytes: u64,
    /// Whether another instance continues the battle.
    moved: bool,
    /// Whether the replies of the latest turn wait for a database that does not take them.
    replies_unsaved: bool,
}

/// Mutable state of a battle; reached through [`LiveBattle::state`].
#[derive(Debug)]
pub struct LiveState {
    /// Progress, texts and events of the battle.
    pub active: ActiveBattle,
    /// Stops both replies of the turn that is being answered here.
    pub stopper: Option<oneshot::Sender<()>>,
}

impl LiveBattle {
    /// Creates a battle in memory.
    #[must_use]
    pub fn new(active: ActiveBattle) -> Self {
        let (seq, bytes) = (active.log().head(), active.log().bytes());
        Self {
            id: active.row.id.clone(),
            visitor: active.row.visitor.clone(),
            head: watch::Sender::new(LogHead { seq, bytes, moved: false, replies_unsaved: false }),
            audience: watch::Sender::new(0),
            furthest: AtomicU64::new(0),
            caught_up: Notify::new(),
            first_event_received: CancellationToken::new(),
            state: Mutex::new(LiveState { active, stopper: None }),
        }
    }

    /// Locks and returns the state.
    pub fn state(&self) -> MutexGuard<'_, LiveState> {
        // The state is valid after each statement, so a panic elsewhere does not spoil it.
        self.state.lock()
    }

    /// Returns the progress of the battle.
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

    /// Advances the battle to a stage and adds an event atomically, so that no watcher sees one without the other.
    pub fn move_on(&self, stage: Stage, event: BattleEvent) {
        let mut state = self.state();
        state.active.move_on(stage, event);
        self.announce(&state);
    }

    /// Stops both replies at their current text, if the turn is being answered here.
    pub fn stop(&self) {
        if let Some(stopper) = self.state().stopper.take() {
            // The turn may just have ended by itself, which has the same effect.
            let _ = stopper.send(());
        }
    }

    /// Returns the number of the first event in the log.
    #[must_use]
    pub fn first_seq(&self) -> u64 {
        self.state().active.log().first_seq()
    }

    /// Returns the events after the one numbered `after`.
    #[must_use]
    pub fn after(&self, after: u64) -> Vec<EventEntry> {
        self.state().active.log().after(after).to_vec()
    }

    /// Notifies the watchers that the replies of the latest turn cannot be stored at the moment, or that they are stored.
    pub fn set_replies_unsaved(&self, replies_unsaved: bool) {
        self.head
            .send_if_modified(|head| std::mem::replace(&mut head.replies_unsaved, replies_unsaved) != replies_unsaved);
    }

    /// Whether the replies of the latest turn wait for a database that does not take them.
    #[must_use]
    pub fn has_unsaved_replies(&self) -> bool {
        self.head.borrow().replies_unsaved
    }

    fn announce(&self, state: &LiveState) {
        self.head.send_modify(|head| (head.seq, head.bytes) = (state.active.log().head(), state.active.log().bytes()));
    }

    /// Starts to watch the battle; events up to `after` are already known.
    #[must_use]
    pub fn watch(self: &Arc<Self>, after: u64) -> Watcher {
        self.audience.send_modify(|watching| *watching += 1);
        Watcher { head: self.head.subscribe(), battle: Arc::clone(self), last_sent: after, unsaved_sent: None }
    }

    /// Returns the number of the latest event.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.head.borrow().seq
    }

    /// Whether a turn is being answered: the battle waits for models, not for its visitor.
    #[must_use]
    pub fn is_answering(&self) -> bool {
        self.state().stopper.is_some()
    }

    /// Whether more events are to come before the visitor can vote.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        let state = self.state();
        state.stopper.is_some() || state.active.row.progress.stage == Stage::Answering
    }

    /// Whether the battle has watchers.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        *self.audience.borrow() > 0
    }

    /// Whether even the fastest watcher lags too far behind, or did when it left.
    #[must_use]
    pub fn readers_lag(&self) -> bool {
        self.head.borrow().bytes.saturating_sub(self.furthest.load(Ordering::Acquire)) > MAX_LAG_BYTES
    }

    /// Waits while [`LiveBattle::readers_lag`].
    pub async fn readers_catch_up(&self) {
        loop {
            // Subscribed before the check, so that a notification in between is not missed.
            let caught_up = self.caught_up.notified();
            if !self.readers_lag() {
                return;
            }
            caught_up.await;
        }
    }

    /// Waits until the battle has had no watchers for `grace`.
    pub async fn wait_until_unwatched(&self, grace: Duration) {
        let mut audience = self.audience.subscribe();
        loop {
            // The sender lives in `self`, so waiting cannot fail.
            let _ = audience.wait_for(|watching| *watching == 0).await;
            let returned = async { audience.wait_for(|watching| *watching > 0).await.is_ok() };
            // After a stall, sockets of returning visitors may wait to be accepted.
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
    /// Time at which [`BattleUpdate::RepliesUnsaved`] was returned after the latest event.
    unsaved_sent: Option<Instant>,
}

/// News of a watched battle.
#[derive(Debug)]
pub enum BattleUpdate {
    /// Unsent events, in order.
    Events(Vec<EventEntry>),
    /// The replies have ended and cannot be stored at the moment; storing is retried. Repeated while this lasts.
    RepliesUnsaved,
    /// Another instance continues the battle.
    Moved,
}

impl Watcher {
    /// Returns the watched battle.
    #[must_use]
    pub fn battle(&self) -> &Arc<LiveBattle> {
        &self.battle
    }

    /// Returns all events up to the last known one: those that a returning client already shows.
    #[must_use]
    pub fn known(&self) -> Vec<EventEntry> {
        self.battle.state().active.log().up_to(self.last_sent).to_vec()
    }

    /// Waits for news of the battle. Cancel-safe: nothing is consumed before it returns.
    pub async fn next(&mut self) -> BattleUpdate {
        let sent = self.last_sent;
        if let Some(unsaved_sent) = self.unsaved_sent {
            let has_news = |head: &LogHead| head.seq > sent || head.moved;
            // The next notice is due unless something else comes first.
            let _ = timeout_at(unsaved_sent + UNSAVED_INTERVAL, self.head.wait_for(has_news)).await;
        }
        let has_news = |head: &LogHead| head.seq > sent || head.moved || head.replies_unsaved;
        match self.head.wait_for(has_news).await.map(|head| *head) {
            Ok(head) if head.seq > sent => BattleUpdate::Events(self.missed()),
            Ok(head) if !head.moved => {
                self.unsaved_sent = Some(Instant::now());
                BattleUpdate::RepliesUnsaved
            }
            // The sender lives in `self.battle`, so waiting cannot fail; if it did, there would be nothing more to send.
            Ok(_) | Err(_) => BattleUpdate::Moved,
        }
    }

    /// Returns the number of the latest event that was sent.
    #[must_use]
    pub fn last_sent(&self) -> u64 {
        self.last_sent
    }

    /// Returns the unsent events without waiting.
    pub fn missed(&mut self) -> Vec<EventEntry> {
        let state = self.battle.state();
        let missed = state.active.log().after(self.last_sent).to_vec();
        self.last_sent = state.active.log().head();
        self.unsaved_sent = None;
        let before = self.battle.furthest.fetch_max(state.active.log().bytes(), Ordering::AcqRel);
        if state.active.log().bytes().saturating_sub(before) > MAX_LAG_BYTES {
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
