//! Shows a battle on this instance that another instance answers.
//!
//! A visitor who reconnects may reach another instance than the one that has the battle in memory. The new instance requests
//! all events from the first one, and repeats the request every half second with the number of the last event that it has. The
//! request keeps the subscription alive, counts as a watcher, and fetches lost events. So messages may be lost at any time, and
//! neither instance keeps state about the other. When the turn has ended, or the answering instance is gone, the state of the
//! battle is read from the database.

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};

use super::instances::ArenaInstances;
use crate::arena::battle_dependencies::BattleDependencies;
use crate::domain::battle::active_battle::ActiveBattle;
use crate::domain::battle::event_log::EventEntry;
use crate::domain::battle::progress::Stage;
use crate::domain::battle::{BattleId, RunId};
use crate::infra::events::{BusState, InstanceId, InstanceMessage};
use crate::infra::live_battles::{BattleUpdate, LiveBattle, RunningBattles};
use crate::infra::storage::{BattleRecord, StoreError};
use crate::infra::tasks::contain;

/// Interval of the follower's requests.
const REQUEST_INTERVAL: Duration = Duration::from_millis(500);
/// Time for which events are sent to an instance that does not renew its request.
const LEASE_DURATION: Duration = Duration::from_secs(2);
/// Period whose events are batched into one message.
const BATCH_PERIOD: Duration = Duration::from_millis(20);
/// Maximum wait for the first message before the battle is read from the database.
const FIRST_MESSAGE_TIMEOUT: Duration = Duration::from_millis(700);
/// Maximum number of queued messages about one battle; further ones are dropped and requested again.
const MAX_QUEUED_MESSAGES: usize = 64;
/// Number of times that the instance named in the database may answer that it does not have the battle.
const MAX_DENIALS: u32 = 4;

/// Message between instances about a battle.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum RemoteBattleMessage {
    /// Request for the events of the battle after the event numbered `after`.
    Follow { battle: BattleId, after: u64 },
    /// Events of the battle.
    LogEntries(LogEntries),
    /// Request of the visitor to stop both replies.
    Stop { battle: BattleId },
}

/// Events of a battle for another instance.
#[derive(Debug, Serialize, Deserialize)]
struct LogEntries {
    battle: BattleId,
    /// The number of the first event in the log.
    first: u64,
    entries: Vec<EventEntry>,
    /// No turn is in progress here: the database has the battle.
    over: bool,
    /// Whether the replies wait for a database that does not take them; instances of earlier versions do not say.
    #[serde(default)]
    replies_unsaved: bool,
}

/// Access to this instance's battles, for following remote battles and answering followers.
pub(super) trait LocalBattles: Send + Sync + 'static {
    /// Returns the dependencies of battles.
    fn dependencies(&self) -> &BattleDependencies;
    /// Returns the battles in memory.
    fn live(&self) -> &RunningBattles;
    /// Returns the battles that are followed, here and by other instances.
    fn remote_battles(&self) -> &RemoteBattles;
    /// Removes a battle from memory; its sockets reconnect and load it again.
    fn unload(&self, battle: &Arc<LiveBattle>);
    /// Takes over a turn whose instance is gone; `false` if another instance was quicker.
    fn take_over(
        &self,
        battle: &Arc<LiveBattle>,
        run: Option<&RunId>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// Follower instance and the followed battle of this instance.
type FollowerKey = (InstanceId, BattleId);
/// Sender for the number of a follower's last event.
type LastEvent = Arc<watch::Sender<u64>>;

/// Battles that this instance follows, and those whose events it sends.
#[derive(Debug, Default)]
pub(super) struct RemoteBattles {
    /// Inboxes of the followed battles.
    followed: Mutex<HashMap<BattleId, mpsc::Sender<LogEntries>>>,
    /// Battles that others follow, with the last event of each follower.
    followers: Mutex<HashMap<FollowerKey, LastEvent>>,
    /// Instances that sent a message that cannot be parsed.
    unreadable: Mutex<HashSet<InstanceId>>,
}

impl RemoteBattles {
    /// Opens the inbox of a followed battle, replacing a former one.
    fn open_inbox(&self, battle: &BattleId) -> (mpsc::Sender<LogEntries>, mpsc::Receiver<LogEntries>) {
        let (sender, inbox) = mpsc::channel(MAX_QUEUED_MESSAGES);
        lock(&self.followed).insert(battle.clone(), sender.clone());
        (sender, inbox)
    }

    /// Whether this is the instance's first message that cannot be parsed: an instance of another version sends one twice a second.
    fn is_first_unreadable(&self, from: InstanceId) -> bool {
        lock(&self.unreadable).insert(from)
    }

    /// Removes a follower if it still has this channel: a new request may have replaced it already.
    fn forget_follower(&self, key: &FollowerKey, asked: &LastEvent) {
        let mut followers = lock(&self.followers);
        if followers.get(key).is_some_and(|known| Arc::ptr_eq(known, asked)) {
            followers.remove(key);
        }
    }

    /// Removes the inbox if it is still this one: the next follower of the battle may have replaced it already.
    fn close_inbox(&self, battle: &BattleId, sender: &mpsc::Sender<LogEntries>) {
        let mut followed = lock(&self.followed);
        if followed.get(battle).is_some_and(|known| known.same_channel(sender)) {
            followed.remove(battle);
        }
    }
}

/// Handles messages of other instances until shutdown.
pub(super) async fn handle_messages(battles: Arc<impl LocalBattles>) {
    let mut messages = battles.dependencies().events.messages();
    let shutdown = battles.dependencies().tasks.shutdown();
    loop {
        let message = tokio::select! {
            message = messages.recv() => message,
            () = shutdown.cancelled() => return,
        };
        match message {
            Ok(message) => answer(&battles, message),
            // Lost messages are requested again.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

fn answer(battles: &Arc<impl LocalBattles>, InstanceMessage { from, body }: InstanceMessage) {
    match serde_json::from_str(&body) {
        Ok(RemoteBattleMessage::Follow { battle, after }) => send_events(battles, from, battle, after),
        Ok(RemoteBattleMessage::LogEntries(sent)) => {
            let inbox = lock(&battles.remote_battles().followed).get(&sent.battle).cloned();
            // A full inbox drops the message, which is requested again.
            let _ = inbox.map(|inbox| inbox.try_send(sent));
        }
        Ok(RemoteBattleMessage::Stop { battle }) => {
            if let Some(battle) = battles.live().get(&battle) {
                battle.stop();
            }
        }
        Err(error) => {
            let instance = from.to_string();
            if battles.remote_battles().is_first_unreadable(from) {
                tracing::warn!(instance, error = %error, "a message of another instance cannot be parsed: run the same version on all instances");
            }
        }
    }
}

/// Sends another instance the events that it requested, for as long as it renews its request.
fn send_events(battles: &Arc<impl LocalBattles>, to: InstanceId, id: BattleId, after: u64) {
    let Some(battle) = battles.live().get(&id).filter(|battle| is_answered_here(battle)) else {
        let known = battles.live().get(&id).filter(|battle| !battle.is_followed());
        let (first, entries) = known.map_or((1, Vec::new()), |battle| (battle.first_seq(), battle.after(after)));
        return send(
            battles.dependencies(),
            &to,
            &RemoteBattleMessage::LogEntries(LogEntries {
                battle: id,
                first,
                entries,
                over: true,
                replies_unsaved: false,
            }),
        );
    };
    let mut followers = lock(&battles.remote_battles().followers);
    let key = (to.clone(), id);
    if let Some(follower) = followers.get(&key)
        && follower.send(after).is_ok()
    {
        return;
    }
    let (asked, renewals) = watch::channel(after);
    let asked = Arc::new(asked);
    followers.insert(key.clone(), Arc::clone(&asked));
    let battles = Arc::clone(battles);
    battles.dependencies().tasks.clone().spawn("tell_follower", async move {
        // The follower repeats its request after a panic.
        let _ = contain("tell_follower", send_until_lease_ends(battles.dependencies(), &to, &battle, renewals)).await;
        battles.remote_battles().forget_follower(&key, &asked);
    });
}

/// Whether this instance answers the battle, or is storing its stopped replies.
fn is_answered_here(battle: &LiveBattle) -> bool {
    battle.is_under_way() && !battle.is_followed()
}

async fn send_until_lease_ends(
    dependencies: &BattleDependencies,
    to: &InstanceId,
    battle: &Arc<LiveBattle>,
    mut asked: watch::Receiver<u64>,
) {
    let shutdown = dependencies.tasks.shutdown();
    let mut lease_ends = Instant::now() + LEASE_DURATION;
    let mut watcher = battle.watch(*asked.borrow_and_update());
    loop {
        tokio::select! {
            update = watcher.next() => {
                let mut entries = match update {
                    BattleUpdate::Events(entries) => entries,
                    BattleUpdate::RepliesUnsaved => Vec::new(),
                    BattleUpdate::Moved => return,
                };
                tokio::time::sleep(BATCH_PERIOD).await;
                entries.extend(watcher.missed());
                let (over, replies_unsaved) = (!battle.is_under_way(), battle.has_unsaved_replies());
                let (battle_id, first) = (battle.id.clone(), battle.first_seq());
                let sent = LogEntries { battle: battle_id, first, entries, over, replies_unsaved };
                send(dependencies, to, &RemoteBattleMessage::LogEntries(sent));
                if over {
                    return;
                }
            }
            renewed = asked.changed() => {
                if renewed.is_err() {
                    return;
                }
                lease_ends = Instant::now() + LEASE_DURATION;
                let has = *asked.borrow_and_update();
                if has < watcher.last_sent() {
                    watcher = battle.watch(has);
                }
            }
            () = tokio::time::sleep_until(lease_ends) => return,
            () = shutdown.cancelled() => return,
        }
    }
}

/// Forwards a stop to the answering instance.
pub(super) fn stop(dependencies: &BattleDependencies, battle: &LiveBattle) {
    send_to_answering(dependencies, battle, &RemoteBattleMessage::Stop { battle: battle.id.clone() });
}

/// Follows a battle that another instance answers; [`await_first_event`] waits for its first event.
pub(super) fn follow(battles: &Arc<impl LocalBattles>, record: BattleRecord, after: u64) -> Arc<LiveBattle> {
    let fresh = Arc::new(LiveBattle::new(ActiveBattle::follow(record, battles.dependencies().first_number(after))));
    let battle = battles.live().add(&fresh);
    if Arc::ptr_eq(&battle, &fresh) {
        let (sender, inbox) = battles.remote_battles().open_inbox(&battle.id);
        let (battles, battle) = (Arc::clone(battles), Arc::clone(&battle));
        battles.dependencies().tasks.clone().spawn("follow_battle", async move {
            let following = FollowedBattle { battles: &battles, battle: &battle, inbox, denials: 0, end_asked_for: 0 };
            let followed = contain("follow_battle", following.run()).await;
            battles.remote_battles().close_inbox(&battle.id, &sender);
            if followed.is_err() {
                battles.unload(&battle);
            }
        });
    }
    battle
}

/// Waits for the first event of a followed battle; if none arrives soon, builds its log from the database. The battle must not be watched
/// before: its event numbers are not known yet.
pub(super) async fn await_first_event(dependencies: &BattleDependencies, battle: &LiveBattle) {
    if !battle.listens() {
        return;
    }
    if *dependencies.events.state().borrow() == BusState::Connected {
        battle.first_event(FIRST_MESSAGE_TIMEOUT).await;
    }
    battle.mark_unreachable();
}

struct FollowedBattle<'a, B> {
    battles: &'a Arc<B>,
    battle: &'a Arc<LiveBattle>,
    inbox: mpsc::Receiver<LogEntries>,
    denials: u32,
    /// Number of requests for the last events since the database has the end of the turn.
    end_asked_for: u32,
}

/// State of a followed battle in the database.
enum RemoteStatus {
    /// The same run still answers it.
    SameRun,
    /// Its turn has ended.
    Ended,
    /// The instance that answered it is gone.
    Orphaned(Option<RunId>),
    /// A third instance has taken it over, or it does not exist any more.
    Elsewhere,
}

impl<B: LocalBattles> FollowedBattle<'_, B> {
    async fn run(mut self) {
        let dependencies = self.battles.dependencies();
        let shutdown = dependencies.tasks.shutdown();
        let mut ticker = tokio::time::interval(REQUEST_INTERVAL);
        ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut left = pin!(self.battle.wait_until_unwatched(2 * FIRST_MESSAGE_TIMEOUT));
        loop {
            let look = tokio::select! {
                Some(sent) = self.inbox.recv() => self.apply(sent),
                _ = ticker.tick() => { self.ask(); true }
                () = &mut left => {
                    if self.battles.live().forget_unwatched(self.battle) {
                        return;
                    }
                    left.set(self.battle.wait_until_unwatched(2 * FIRST_MESSAGE_TIMEOUT));
                    false
                }
                () = shutdown.cancelled() => return,
            };
            if look && self.sync_from_database().await {
                return;
            }
        }
    }

    /// Applies a message; returns whether the database has to be read now.
    fn apply(&mut self, sent: LogEntries) -> bool {
        if self.battle.apply_events(sent.first, sent.entries) {
            self.ask();
        }
        self.battle.set_replies_unsaved(sent.replies_unsaved && self.battle.is_followed());
        self.denials += u32::from(sent.over);
        sent.over
    }

    fn ask(&self) {
        let question =
            RemoteBattleMessage::Follow { battle: self.battle.id.clone(), after: self.battle.last_received_seq() };
        send_to_answering(self.battles.dependencies(), self.battle, &question);
    }

    /// Updates the battle from the database; `false` while it is still being answered elsewhere.
    async fn sync_from_database(&mut self) -> bool {
        let done = match self.standing().await {
            Ok(RemoteStatus::SameRun) => return false,
            // The last events may be on their way; loading from the database would send them twice.
            Ok(RemoteStatus::Ended)
                if self.battle.listens() && self.denials == 0 && self.end_asked_for < MAX_DENIALS =>
            {
                self.end_asked_for += 1;
                return false;
            }
            Ok(RemoteStatus::Ended) => self.catch_up().await,
            Ok(RemoteStatus::Orphaned(run)) => self.battles.take_over(self.battle, run.as_ref()).await,
            Ok(RemoteStatus::Elsewhere) => Ok(false),
            Err(error) => Err(error),
        };
        match done {
            Ok(true) => {}
            // Another instance was quicker: the watchers reconnect.
            Ok(false) => self.battles.unload(self.battle),
            Err(error) => {
                if !error.is_outage() {
                    tracing::warn!(battle.id = %self.battle.id, error = ?error, "a followed battle could not be looked up");
                }
                return false;
            }
        }
        true
    }

    async fn standing(&self) -> Result<RemoteStatus, StoreError> {
        let dependencies = self.battles.dependencies();
        let Some(row) = dependencies.store.battle(&self.battle.id).await? else { return Ok(RemoteStatus::Elsewhere) };
        if row.progress.stage != Stage::Answering {
            return Ok(RemoteStatus::Ended);
        }
        let followed = self.battle.state().active.row.answered_by.clone();
        if row.answered_by != followed {
            return Ok(RemoteStatus::Elsewhere);
        }
        let alive = self.denials < MAX_DENIALS && dependencies.instances.is_run_elsewhere(followed.as_ref()).await?;
        Ok(if alive { RemoteStatus::SameRun } else { RemoteStatus::Orphaned(followed) })
    }

    /// Loads the ended turn; `false` if the battle is being answered again, or does not exist any more.
    async fn catch_up(&self) -> Result<bool, StoreError> {
        let record = self.battles.dependencies().store.battle_record(&self.battle.id).await?;
        let ended = record.filter(|record| record.battle.progress.stage != Stage::Answering);
        let Some(record) = ended else { return Ok(false) };
        self.battle.catch_up(record, self.battles.dependencies().random_epoch_gap());
        Ok(true)
    }
}

/// Sends a message to the instance that answers the battle.
fn send_to_answering(dependencies: &BattleDependencies, battle: &LiveBattle, message: &RemoteBattleMessage) {
    if let Some(run) = battle.state().active.row.answered_by.as_ref() {
        send(dependencies, &ArenaInstances::instance_of(run), message);
    }
}

fn send(dependencies: &BattleDependencies, to: &InstanceId, message: &RemoteBattleMessage) {
    dependencies.events.send(to, serde_json::to_string(message).expect("messages are plain text and whole numbers"));
}

fn lock<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    // Maps are valid after each statement, so a panic elsewhere does not corrupt them.
    map.lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_follower_that_ends_leaves_the_inbox_of_the_next_one() {
        let (all, battle) = (RemoteBattles::default(), BattleId::new("x"));
        let (former, _former_inbox) = all.open_inbox(&battle);
        let (latter, _latter_inbox) = all.open_inbox(&battle);
        all.close_inbox(&battle, &former);
        assert!(lock(&all.followed)[&battle].same_channel(&latter));
        all.close_inbox(&battle, &latter);
        assert!(lock(&all.followed).is_empty());
    }

    #[test]
    fn an_instance_of_another_version_is_named_once() {
        let (remote, id) = (RemoteBattles::default(), |name: &str| InstanceId(name.into()));
        assert!(remote.is_first_unreadable(id("newer")) && remote.is_first_unreadable(id("another")));
        assert!(!remote.is_first_unreadable(id("newer")));
    }

    #[test]
    fn a_request_that_ended_takes_no_newer_one_out() {
        let (remote, key) = (RemoteBattles::default(), (InstanceId("b".into()), BattleId::new("battle")));
        let [former, newer] = [1, 2].map(|after| Arc::new(watch::channel(after).0));
        lock(&remote.followers).insert(key.clone(), Arc::clone(&newer));
        remote.forget_follower(&key, &former);
        assert!(lock(&remote.followers).contains_key(&key));
        remote.forget_follower(&key, &newer);
        assert!(lock(&remote.followers).is_empty());
    }
}
