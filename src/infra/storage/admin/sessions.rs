//! Sessions of administrators. Tokens are stored only as hashes.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::admin::role::Role;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer, on_writer_once};

const INSERT: &str = "INSERT INTO admin_sessions (id, token_hash, user_id, address, created_at, seen_at, expires_at) \
     VALUES ($1, $2, $3, $4, $5, $5, $6)";
const SELECT: &str = "SELECT s.id, s.user_id, u.name, u.role, s.address, s.created_at, s.seen_at, s.expires_at \
     FROM admin_sessions s JOIN admin_users u ON u.id = s.user_id \
     WHERE s.token_hash = $1 AND s.ended_at IS NULL AND s.expires_at > $2 AND s.seen_at > $3 AND u.disabled_at IS NULL";
const SELECT_OF_USER: &str = "SELECT s.id, s.user_id, u.name, u.role, s.address, s.created_at, s.seen_at, s.expires_at \
     FROM admin_sessions s JOIN admin_users u ON u.id = s.user_id \
     WHERE s.user_id = $1 AND s.ended_at IS NULL AND s.expires_at > $2 AND s.seen_at > $3 ORDER BY s.created_at DESC";
const TOUCH: &str = "UPDATE admin_sessions SET seen_at = $2 WHERE id = $1 AND seen_at < $2";
const END: &str = "UPDATE admin_sessions SET ended_at = $3 WHERE id = $1 AND user_id = $2 AND ended_at IS NULL";

/// Session to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewAdminSession<'s> {
    /// Id, used to list and end the session.
    pub id: &'s str,
    /// Hash of the token.
    pub token_hash: &'s str,
    /// Id of the user.
    pub user_id: &'s str,
    /// Address of the browser.
    pub address: &'s str,
    /// Current time.
    pub created_at: Timestamp,
    /// Latest end of the session.
    pub expires_at: Timestamp,
}

/// Current time and idle limit of sessions.
#[derive(Debug, Clone, Copy)]
pub struct SessionAge {
    /// Current time.
    pub now: Timestamp,
    /// Sessions last seen at or before this time have expired.
    pub seen_after: Timestamp,
}

/// An active session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminSessionRow {
    /// Id of the session.
    pub id: String,
    /// Id of the user.
    pub user_id: String,
    /// Name of the user.
    pub name: String,
    /// Current role of the user.
    pub role: Role,
    /// Address of the browser at the sign-in.
    pub address: String,
    /// Time of the sign-in.
    pub created_at: Timestamp,
    /// Time of the last request, to the minute.
    pub seen_at: Timestamp,
    /// Latest end of the session.
    pub expires_at: Timestamp,
}

#[derive(FromRow)]
struct RawSession {
    id: String,
    user_id: String,
    name: String,
    role: String,
    address: String,
    created_at: i64,
    seen_at: i64,
    expires_at: i64,
}

impl TryFrom<RawSession> for AdminSessionRow {
    type Error = StoreError;

    fn try_from(raw: RawSession) -> Result<Self, StoreError> {
        Ok(Self {
            role: role_of(&raw.role, &raw.name)?,
            id: raw.id,
            user_id: raw.user_id,
            name: raw.name,
            address: raw.address,
            created_at: Timestamp(raw.created_at),
            seen_at: Timestamp(raw.seen_at),
            expires_at: Timestamp(raw.expires_at),
        })
    }
}

/// Parses the role in a column.
pub(in crate::storage) fn role_of(text: &str, user: &str) -> Result<Role, StoreError> {
    text.parse().map_err(|_| StoreError::Inconsistent {
        table: "admin_users",
        column: "role",
        row: user.to_owned(),
        value: text.to_owned(),
    })
}

impl Store {
    /// Inserts a session, with its audit entry.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn begin_admin_session(
        &self,
        session: NewAdminSession<'_>,
        audit: &NewAuditEntry,
    ) -> Result<(), StoreError> {
        let _time = store_time("begin_admin_session");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(INSERT).bind(session.id).bind(session.token_hash).bind(session.user_id);
            let query = query.bind(session.address).bind(session.created_at.0).bind(session.expires_at.0);
            query.execute(&mut *tx).await?;
            insert_audit!(&mut *tx, audit)?;
            tx.commit().await
        })
    }

    /// Reads the active session of a token, with the current role of its user.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn admin_session(
        &self,
        token_hash: &str,
        age: SessionAge,
    ) -> Result<Option<AdminSessionRow>, StoreError> {
        let _time = store_time("admin_session");
        let row: Option<RawSession> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT).bind(token_hash).bind(age.now.0).bind(age.seen_after.0).fetch_optional(pool).await
        })?;
        row.map(AdminSessionRow::try_from).transpose()
    }

    /// Reads the active sessions of a user, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn admin_sessions_of(&self, user_id: &str, age: SessionAge) -> Result<Vec<AdminSessionRow>, StoreError> {
        let _time = store_time("admin_sessions_of");
        let rows: Vec<RawSession> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_OF_USER).bind(user_id).bind(age.now.0).bind(age.seen_after.0).fetch_all(pool).await
        })?;
        rows.into_iter().map(AdminSessionRow::try_from).collect()
    }

    /// Updates the last use of a session.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn touch_admin_session(&self, id: &str, now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("touch_admin_session");
        on_writer!(self, |connection| sqlx::query(TOUCH).bind(id).bind(now.0).execute(connection).await.map(drop))
    }

    /// Ends a session of a user, with its audit entry. Returns whether it was active.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn end_admin_session(
        &self,
        id: &str,
        user_id: &str,
        now: Timestamp,
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("end_admin_session");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let ended = sqlx::query(END).bind(id).bind(user_id).bind(now.0).execute(&mut *tx).await?.rows_affected();
            if ended > 0 {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| ended > 0)
        })
    }
}
