//! API keys of programs. Stored only as hashes.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::admin::key_scope::{KeyScope, join_scopes, split_scopes};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer, on_writer_once};

const INSERT: &str = "INSERT INTO api_keys (id, name, key_hash, scopes, created_by, created_at, expires_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";
const SELECT_ALL: &str = "SELECT id, name, scopes, created_by, created_at, expires_at, used_day, revoked_at FROM api_keys \
     ORDER BY id DESC";
const SELECT_IN_FORCE: &str = "SELECT id, name, scopes, created_by, created_at, expires_at, used_day, revoked_at FROM api_keys \
     WHERE key_hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)";
const NOTE_USE: &str = "UPDATE api_keys SET used_day = $2 WHERE id = $1 AND (used_day IS NULL OR used_day < $2)";
const REVOKE: &str = "UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";

/// API key to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewApiKey<'k> {
    /// Id, used to list and revoke the key.
    pub id: &'k str,
    /// Name of the key.
    pub name: &'k str,
    /// Hash of the key.
    pub key_hash: &'k str,
    /// Scopes of the key.
    pub scopes: &'k [KeyScope],
    /// Creator of the key.
    pub created_by: &'k str,
    /// Current time.
    pub created_at: Timestamp,
    /// Expiry time; `None` means never.
    pub expires_at: Option<Timestamp>,
}

/// A stored API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKeyRow {
    /// Id of the key.
    pub id: String,
    /// Name of the key.
    pub name: String,
    /// Scopes of the key.
    pub scopes: Vec<KeyScope>,
    /// Creator of the key.
    pub created_by: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Expiry time; `None` means never.
    pub expires_at: Option<Timestamp>,
    /// Start of the day of its last use; `None` if it was never used.
    pub used_day: Option<Timestamp>,
    /// Revocation time.
    pub revoked_at: Option<Timestamp>,
}

impl ApiKeyRow {
    /// Whether the key is valid.
    #[must_use]
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| at > now)
    }
}

#[derive(FromRow)]
struct RawKey {
    id: String,
    name: String,
    scopes: String,
    created_by: String,
    created_at: i64,
    expires_at: Option<i64>,
    used_day: Option<i64>,
    revoked_at: Option<i64>,
}

impl TryFrom<RawKey> for ApiKeyRow {
    type Error = StoreError;

    fn try_from(raw: RawKey) -> Result<Self, StoreError> {
        let scopes = split_scopes(&raw.scopes).map_err(|_| StoreError::Inconsistent {
            table: "api_keys",
            column: "scopes",
            row: raw.id.clone(),
            value: raw.scopes.clone(),
        })?;
        Ok(Self {
            scopes,
            id: raw.id,
            name: raw.name,
            created_by: raw.created_by,
            created_at: Timestamp(raw.created_at),
            expires_at: raw.expires_at.map(Timestamp),
            used_day: raw.used_day.map(Timestamp),
            revoked_at: raw.revoked_at.map(Timestamp),
        })
    }
}

impl Store {
    /// Inserts a key, with its audit entry.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_api_key(&self, key: NewApiKey<'_>, audit: &NewAuditEntry) -> Result<(), StoreError> {
        let _time = store_time("insert_api_key");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(INSERT).bind(key.id).bind(key.name).bind(key.key_hash);
            let query = query.bind(join_scopes(key.scopes)).bind(key.created_by).bind(key.created_at.0);
            query.bind(key.expires_at.map(|at| at.0)).execute(&mut *tx).await?;
            insert_audit!(&mut *tx, audit)?;
            tx.commit().await
        })
    }

    /// Reads all keys, the latest first, including expired and revoked ones.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn api_keys(&self) -> Result<Vec<ApiKeyRow>, StoreError> {
        let _time = store_time("api_keys");
        let rows: Vec<RawKey> = on_reader!(self, |pool| sqlx::query_as(SELECT_ALL).fetch_all(pool).await)?;
        rows.into_iter().map(ApiKeyRow::try_from).collect()
    }

    /// Reads the key with this hash if it is valid.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn api_key(&self, key_hash: &str, now: Timestamp) -> Result<Option<ApiKeyRow>, StoreError> {
        let _time = store_time("api_key");
        let row: Option<RawKey> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_IN_FORCE).bind(key_hash).bind(now.0).fetch_optional(pool).await
        })?;
        row.map(ApiKeyRow::try_from).transpose()
    }

    /// Records the day on which a key was used.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn note_api_key_use(&self, id: &str, day: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("note_api_key_use");
        on_writer!(self, |connection| sqlx::query(NOTE_USE).bind(id).bind(day.0).execute(connection).await.map(drop))
    }

    /// Revokes a key, with its audit entry. Returns whether it was not revoked before.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn revoke_api_key(&self, id: &str, now: Timestamp, audit: &NewAuditEntry) -> Result<bool, StoreError> {
        let _time = store_time("revoke_api_key");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let revoked = sqlx::query(REVOKE).bind(id).bind(now.0).execute(&mut *tx).await?.rows_affected() > 0;
            if revoked {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| revoked)
        })
    }
}
