//! Which instances serve this arena, and whether each of them is still alive.
//!
//! Each instance raises a number in the database several times a second and reads the others' numbers. One whose number stands
//! still over several reads is gone, however it went. No times of day are compared, and a database that does not answer
//! makes nobody look dead, because only reads that succeed are counted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::domain::battle::RunId;
use crate::domain::time::Timestamp;
use crate::infra::events::InstanceId;
use crate::infra::storage::{InstanceRow, Store, StoreError};

/// How often an instance shows that it is there.
pub const BEAT_EVERY: Duration = Duration::from_millis(400);
/// Reads without a change after which an instance counts as gone.
const PATIENCE: u32 = 5;
/// Reads without a change, in ten minutes, after which its row is deleted: it was killed, and nobody else takes it out.
const FORGET_AFTER: u32 = 1_500;

/// The instances of the arena, as this one sees them.
#[derive(Debug)]
pub struct ArenaInstances {
    store: Store,
    me: InstanceId,
    runs: AtomicU64,
    /// `None` where no other process can serve this database.
    others: Option<Mutex<HashMap<String, PeerState>>>,
}

#[derive(Debug)]
struct PeerState {
    beats: u64,
    /// Reads since the number last changed.
    unchanged: u32,
    settings: String,
}

impl ArenaInstances {
    /// The only instance there can be.
    #[must_use]
    pub fn alone(store: Store, me: InstanceId) -> Self {
        Self { store, me, runs: AtomicU64::new(0), others: None }
    }

    /// One of several.
    #[must_use]
    pub fn among_others(store: Store, me: InstanceId) -> Self {
        Self { others: Some(Mutex::default()), ..Self::alone(store, me) }
    }

    /// Whether no other process can serve this database.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.others.is_none()
    }

    /// A name for one answering of a turn by this instance; it stands in the battle's row while the turn is answered.
    #[must_use]
    pub fn new_run(&self) -> RunId {
        RunId::new(format!("{}.{}", self.me, self.runs.fetch_add(1, Ordering::Relaxed)))
    }

    /// The instance behind a run.
    #[must_use]
    pub fn instance_of(run: &RunId) -> InstanceId {
        InstanceId(run.as_str().split('.').next().unwrap_or_default().to_owned())
    }

    /// Whether another instance is at work on this run; never for a battle that is older than the names of runs.
    ///
    /// # Errors
    /// [`StoreError`] where that instance was not seen before and the database does not answer.
    pub async fn is_run_elsewhere(&self, run: Option<&RunId>) -> Result<bool, StoreError> {
        let Some(run) = run else { return Ok(false) };
        let instance = Self::instance_of(run);
        if self.is_alone() || instance == self.me {
            return Ok(false);
        }
        if let Some(alive) = self.sighted(&instance.0) {
            return Ok(alive);
        }
        // It may have started since the last look.
        let rows = self.store.instances().await?;
        Ok(rows.iter().any(|row| row.id == instance.0))
    }

    fn sighted(&self, instance: &str) -> Option<bool> {
        let others = self.others()?;
        others.get(instance).map(|sighting| sighting.unchanged < PATIENCE)
    }

    /// Shows that this instance is there, and looks for the others. `settings` is a fingerprint of what it runs with.
    ///
    /// # Errors
    /// [`StoreError`]; nobody looks dead because of it.
    pub async fn heartbeat(&self, settings: &str, now: Timestamp) -> Result<(), StoreError> {
        if self.is_alone() {
            return Ok(());
        }
        let rows = self.store.heartbeat(&self.me.0, settings, now).await?;
        let lost = self.others().and_then(|mut others| {
            note(&mut others, rows.into_iter().filter(|row| row.id != self.me.0), settings);
            long_gone(&others)
        });
        match lost {
            Some((instance, beats)) => self.store.forget_instance(&instance, beats).await,
            None => Ok(()),
        }
    }

    /// Looks whether the shared database still keeps commits through a crash.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn check_durable(&self) -> Result<(), StoreError> {
        self.store.check_durable().await
    }

    /// Takes this instance out of the list: others need not wait to find that it is gone.
    ///
    /// # Errors
    /// [`StoreError`]; the others find out by themselves then.
    pub async fn leave(&self) -> Result<(), StoreError> {
        if self.is_alone() { Ok(()) } else { self.store.leave(&self.me.0).await }
    }

    fn others(&self) -> Option<MutexGuard<'_, HashMap<String, PeerState>>> {
        // The map is valid after each statement, so a panic elsewhere does not spoil it.
        self.others.as_ref().map(|others| others.lock())
    }
}

/// Takes down what the others have written of themselves.
fn note(others: &mut HashMap<String, PeerState>, rows: impl Iterator<Item = InstanceRow>, settings: &str) {
    let mut former = std::mem::take(others);
    for row in rows {
        let known = former.remove(&row.id);
        if row.settings != settings && known.as_ref().is_none_or(|known| known.settings != row.settings) {
            tracing::warn!(
                instance = %row.id,
                "another instance runs with other settings: give all instances the same langya.toml"
            );
        }
        let unchanged = known.filter(|known| known.beats == row.beats).map_or(0, |known| known.unchanged + 1);
        others.insert(row.id, PeerState { beats: row.beats, unchanged, settings: row.settings });
    }
}

/// An instance that has been gone for long, with its number. One at a time: a beat shall not take long.
fn long_gone(others: &HashMap<String, PeerState>) -> Option<(String, u64)> {
    let (id, peer) = others.iter().find(|(_, peer)| peer.unchanged >= FORGET_AFTER)?;
    Some((id.clone(), peer.beats))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, beats: u64) -> InstanceRow {
        InstanceRow { id: id.into(), beats, settings: String::new(), started_at: Timestamp(1), seen_at: Timestamp(1) }
    }

    #[test]
    fn an_instance_that_has_not_written_for_ten_minutes_is_forgotten() {
        let mut others = HashMap::new();
        for beats in 0..=u64::from(FORGET_AFTER) {
            assert_eq!(long_gone(&others), None, "after {beats} beats");
            note(&mut others, [row("dead", 7), row("alive", beats)].into_iter(), "");
        }
        assert_eq!(long_gone(&others), Some(("dead".to_owned(), 7)));
        note(&mut others, [row("alive", 0)].into_iter(), "");
        assert_eq!(long_gone(&others), None, "somebody has taken it out");
    }
}
