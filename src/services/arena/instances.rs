//! Heartbeats and liveness of the instances that serve this arena.
//!
//! Each instance increments a counter in the database several times a second and reads the others' counters. An instance whose counter is
//! unchanged over several reads is gone, whatever the reason. No times of day are compared, and a database outage makes no instance look
//! dead, because only successful reads are counted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::domain::battle::RunId;
use crate::domain::time::Timestamp;
use crate::infra::events::{BusState, InstanceId};
use crate::infra::storage::{InstanceRow, Store, StoreError};

/// Heartbeat interval.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(400);
/// Number of unchanged reads after which an instance counts as gone.
const MAX_MISSED_HEARTBEATS: u32 = 5;
/// Number of unchanged reads (ten minutes) after which the row of a killed instance is deleted.
const MISSED_HEARTBEATS_TO_DELETE: u32 = 1_500;

/// Liveness of the arena's instances, as seen by this one.
#[derive(Debug)]
pub struct ArenaInstances {
    store: Store,
    me: InstanceId,
    runs: AtomicU64,
    /// `None` where no other process can serve this database.
    others: Option<Mutex<HashMap<String, PeerState>>>,
    /// Whether there is no message bus between the instances, and this is not logged yet.
    lacks_bus: AtomicBool,
}

#[derive(Debug)]
struct PeerState {
    beats: u64,
    /// Whether it leads and cannot append to the public log.
    log_fails: bool,
    /// Number of reads since the counter last changed.
    unchanged: u32,
    /// Settings fingerprint of the latest observed heartbeat; `None` before the first one: the instance may have been killed before this
    /// one began.
    settings: Option<String>,
}

impl ArenaInstances {
    /// Creates the state of the only possible instance.
    #[must_use]
    pub fn alone(store: Store, me: InstanceId) -> Self {
        Self { store, me, runs: AtomicU64::new(0), others: None, lacks_bus: AtomicBool::new(false) }
    }

    /// Creates the state of one of several instances connected by this bus.
    #[must_use]
    pub fn with_peers(store: Store, me: InstanceId, bus: BusState) -> Self {
        let lacks_bus = AtomicBool::new(bus == BusState::Alone);
        Self { others: Some(Mutex::default()), lacks_bus, ..Self::alone(store, me) }
    }

    /// Whether no other process can serve this database.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.others.is_none()
    }

    /// Creates the id of a run of this instance; it is stored in the battle's row while the turn is answered.
    #[must_use]
    pub fn new_run(&self) -> RunId {
        RunId::new(format!("{}.{}", self.me, self.runs.fetch_add(1, Ordering::Relaxed)))
    }

    /// Returns the instance of a run.
    #[must_use]
    pub fn instance_of(run: &RunId) -> InstanceId {
        InstanceId(run.as_str().split('.').next().unwrap_or_default().to_owned())
    }

    /// Whether another live instance is executing this run; never for a battle older than run ids.
    ///
    /// # Errors
    /// [`StoreError`] where that instance was not seen before and the database does not answer.
    pub async fn is_run_elsewhere(&self, run: Option<&RunId>) -> Result<bool, StoreError> {
        let Some(run) = run else { return Ok(false) };
        let instance = Self::instance_of(run);
        if self.is_alone() || instance == self.me {
            return Ok(false);
        }
        if let Some(alive) = self.is_alive(&instance.0) {
            return Ok(alive);
        }
        // It may have started since the last read.
        let rows = self.store.instances().await?;
        Ok(rows.iter().any(|row| row.id == instance.0))
    }

    fn is_alive(&self, instance: &str) -> Option<bool> {
        let others = self.others()?;
        others.get(instance).map(|sighting| sighting.unchanged < MAX_MISSED_HEARTBEATS)
    }

    /// Writes this instance's heartbeat and reads those of the others. `settings` is a fingerprint of its settings, and `log_fails` says
    /// whether it leads and cannot append to the public log.
    ///
    /// # Errors
    /// [`StoreError`]; it makes no instance look dead.
    pub async fn heartbeat(&self, settings: &str, log_fails: bool, now: Timestamp) -> Result<(), StoreError> {
        if self.is_alone() {
            return Ok(());
        }
        let rows = self.store.heartbeat(&self.me.0, settings, now).await?;
        if rows.iter().any(|row| row.id == self.me.0 && row.log_fails != log_fails) {
            self.store.note_log_failure(&self.me.0, log_fails).await?;
        }
        let lost = self.others().and_then(|mut others| {
            let news = record_heartbeats(&mut others, rows.into_iter().filter(|row| row.id != self.me.0), settings);
            if news.has_arrival && self.lacks_bus.swap(false, Ordering::Relaxed) {
                tracing::warn!(
                    "another instance serves this arena, and redis.url is not set: each instance counts limits by itself, and shows late \
                     what happens on the others; set the same redis.url on all of them"
                );
            }
            for instance in news.differing {
                tracing::warn!(
                    instance,
                    "another instance runs with other settings: give all instances the same langya.toml"
                );
            }
            find_abandoned_instance(&others)
        });
        match lost {
            Some((instance, beats)) => self.store.forget_instance(&instance, beats).await,
            None => Ok(()),
        }
    }

    /// Whether another live instance leads and cannot append to the public log, by its latest heartbeat.
    #[must_use]
    pub fn log_fails_elsewhere(&self) -> bool {
        self.others().is_some_and(|others| any_log_fails(&others))
    }

    /// Checks that the shared database still makes commits durable.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn check_durable(&self) -> Result<(), StoreError> {
        self.store.check_durable().await
    }

    /// Removes this instance from the list, so that the others need not wait for a timeout.
    ///
    /// # Errors
    /// [`StoreError`]; the others then notice by timeout.
    pub async fn leave(&self) -> Result<(), StoreError> {
        if self.is_alone() { Ok(()) } else { self.store.leave(&self.me.0).await }
    }

    fn others(&self) -> Option<MutexGuard<'_, HashMap<String, PeerState>>> {
        // The map is valid after each statement, so a panic elsewhere does not spoil it.
        self.others.as_ref().map(|others| others.lock())
    }
}

/// Changes of the other instances since the last read.
#[derive(Debug, Default)]
struct PeerChanges {
    /// Whether a heartbeat was observed for the first time.
    has_arrival: bool,
    /// Live instances whose settings have begun to differ from this one's.
    differing: Vec<String>,
}

/// Records the heartbeats of the other instances.
fn record_heartbeats(
    others: &mut HashMap<String, PeerState>,
    rows: impl Iterator<Item = InstanceRow>,
    settings: &str,
) -> PeerChanges {
    let (mut former, mut news) = (std::mem::take(others), PeerChanges::default());
    for InstanceRow { id, beats, settings: its_own, log_fails, .. } in rows {
        let peer = match former.remove(&id) {
            None => PeerState { beats, log_fails, unchanged: 0, settings: None },
            Some(known) if known.beats == beats => PeerState { log_fails, unchanged: known.unchanged + 1, ..known },
            Some(known) => {
                news.has_arrival |= known.settings.is_none();
                if its_own != settings && known.settings.as_ref() != Some(&its_own) {
                    news.differing.push(id.clone());
                }
                PeerState { beats, log_fails, unchanged: 0, settings: Some(its_own) }
            }
        };
        others.insert(id, peer);
    }
    news
}

fn any_log_fails(others: &HashMap<String, PeerState>) -> bool {
    others.values().any(|peer| peer.log_fails && peer.unchanged < MAX_MISSED_HEARTBEATS)
}

/// Returns an instance that has long been gone, with its counter. One at a time, to keep a heartbeat short.
fn find_abandoned_instance(others: &HashMap<String, PeerState>) -> Option<(String, u64)> {
    let (id, peer) = others.iter().find(|(_, peer)| peer.unchanged >= MISSED_HEARTBEATS_TO_DELETE)?;
    Some((id.clone(), peer.beats))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, beats: u64) -> InstanceRow {
        let (started_at, seen_at) = (Timestamp(1), Timestamp(1));
        InstanceRow { id: id.into(), beats, settings: String::new(), log_fails: false, started_at, seen_at }
    }

    #[test]
    fn a_log_that_fails_elsewhere_is_known_until_that_instance_says_otherwise_or_is_gone() {
        let mut others = HashMap::new();
        let mut fails = |beats: u64, log_fails: bool| {
            record_heartbeats(&mut others, [InstanceRow { log_fails, ..row("leader", beats) }].into_iter(), "");
            any_log_fails(&others)
        };
        assert_eq!([fails(1, false), fails(2, true), fails(3, false), fails(4, true)], [false, true, false, true]);
        let killed: Vec<bool> = (0..MAX_MISSED_HEARTBEATS).map(|_| fails(4, true)).collect();
        assert_eq!(killed, [true, true, true, true, false]);
    }

    #[test]
    fn settings_of_an_instance_are_compared_once_it_is_seen_to_be_alive() {
        let mut others = HashMap::new();
        let mut differing = |beats: u64, settings: &str| {
            let rows = [("killed", 7, "other"), ("alive", beats, settings)];
            let rows = rows.map(|(id, beats, settings)| InstanceRow { settings: settings.into(), ..row(id, beats) });
            record_heartbeats(&mut others, rows.into_iter(), "own").differing
        };
        assert!(differing(1, "other").is_empty(), "it may have been killed as well");
        assert_eq!(differing(2, "other"), ["alive"]);
        assert!(differing(3, "other").is_empty(), "that is known");
        assert!(differing(4, "own").is_empty());
        assert_eq!(differing(5, "third"), ["alive"], "after a reload");
    }

    #[test]
    fn an_instance_has_arrived_when_its_number_is_first_seen_to_grow() {
        let mut others = HashMap::new();
        let arrivals =
            [7, 7, 8, 9].map(|beats| record_heartbeats(&mut others, [row("other", beats)].into_iter(), "").has_arrival);
        assert_eq!(arrivals, [false, false, true, false], "before, it may have been killed");
    }

    #[test]
    fn an_instance_that_has_not_written_for_ten_minutes_is_forgotten() {
        let mut others = HashMap::new();
        for beats in 0..=u64::from(MISSED_HEARTBEATS_TO_DELETE) {
            assert_eq!(find_abandoned_instance(&others), None, "after {beats} beats");
            record_heartbeats(&mut others, [row("dead", 7), row("alive", beats)].into_iter(), "");
        }
        assert_eq!(find_abandoned_instance(&others), Some(("dead".to_owned(), 7)));
        record_heartbeats(&mut others, [row("alive", 0)].into_iter(), "");
        assert_eq!(find_abandoned_instance(&others), None, "somebody has taken it out");
    }
}
