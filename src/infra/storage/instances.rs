//! Instances of this arena: each writes a heartbeat to its row several times a second, and reads the others'.

use sqlx_macros::FromRow;

use super::{Store, StoreError, on_reader, on_writer, signed, unsigned};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

const UPSERT_HEARTBEAT: &str = "INSERT INTO instances (id, beats, settings, started_at, seen_at) VALUES ($1, 1, $2, $3, $3) \
     ON CONFLICT (id) DO UPDATE SET beats = instances.beats + 1, settings = excluded.settings, \
     seen_at = excluded.seen_at";
const SELECT_ALL: &str = "SELECT id, beats, settings, log_fails, started_at, seen_at FROM instances ORDER BY id";
const SET_LOG_FAILS: &str = "UPDATE instances SET log_fails = $2 WHERE id = $1";
const DELETE: &str = "DELETE FROM instances WHERE id = $1";
const FORGET: &str = "DELETE FROM instances WHERE id = $1 AND beats = $2";

/// Latest heartbeat of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceRow {
    /// Id, new at each start.
    pub id: String,
    /// Number of heartbeats: a growing number is a sign of life, whatever the clocks say.
    pub beats: u64,
    /// Fingerprint of the settings that all instances must share.
    pub settings: String,
    /// Whether it is the leader and cannot append to the public log.
    pub log_fails: bool,
    /// Time of its first heartbeat.
    pub started_at: Timestamp,
    /// Time of its latest heartbeat, by its own clock.
    pub seen_at: Timestamp,
}

impl Store {
    /// Writes the heartbeat of an instance, and returns every instance's row, by id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn heartbeat(
        &self,
        instance: &str,
        settings: &str,
        now: Timestamp,
    ) -> Result<Vec<InstanceRow>, StoreError> {
        let _time = store_time("beat");
        let rows: Vec<RawInstance> = on_writer!(self, |connection| {
            sqlx::query(UPSERT_HEARTBEAT).bind(instance).bind(settings).bind(now.0).execute(&mut *connection).await?;
            sqlx::query_as(SELECT_ALL).fetch_all(connection).await
        })?;
        rows.into_iter().map(InstanceRow::try_from).collect()
    }

    /// Reads every instance's row, by id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn instances(&self) -> Result<Vec<InstanceRow>, StoreError> {
        let _time = store_time("instances");
        let rows: Vec<RawInstance> = on_reader!(self, |pool| sqlx::query_as(SELECT_ALL).fetch_all(pool).await)?;
        rows.into_iter().map(InstanceRow::try_from).collect()
    }

    /// Records for the others whether an instance is the leader and cannot append to the public log.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn note_log_failure(&self, instance: &str, log_fails: bool) -> Result<(), StoreError> {
        let _time = store_time("note_log_failure");
        on_writer!(self, |connection| {
            sqlx::query(SET_LOG_FAILS).bind(instance).bind(log_fails).execute(connection).await.map(drop)
        })
    }

    /// Removes an instance that shuts down.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn leave(&self, instance: &str) -> Result<(), StoreError> {
        let _time = store_time("leave");
        on_writer!(self, |connection| sqlx::query(DELETE).bind(instance).execute(connection).await.map(drop))
    }

    /// Removes an instance that has disappeared, unless it has sent a heartbeat after number `beats`. A live instance reappears with its
    /// next heartbeat.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn forget_instance(&self, instance: &str, beats: u64) -> Result<(), StoreError> {
        let _time = store_time("forget_instance");
        on_writer!(self, |connection| {
            sqlx::query(FORGET).bind(instance).bind(signed(beats)).execute(connection).await.map(drop)
        })
    }
}

#[derive(FromRow)]
struct RawInstance {
    id: String,
    beats: i64,
    settings: String,
    log_fails: bool,
    started_at: i64,
    seen_at: i64,
}

impl TryFrom<RawInstance> for InstanceRow {
    type Error = StoreError;

    fn try_from(raw: RawInstance) -> Result<Self, StoreError> {
        Ok(Self {
            beats: unsigned(raw.beats, "instances", "beats", &raw.id)?,
            id: raw.id,
            settings: raw.settings,
            log_fails: raw.log_fails,
            started_at: Timestamp(raw.started_at),
            seen_at: Timestamp(raw.seen_at),
        })
    }
}
