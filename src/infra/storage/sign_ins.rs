//! Invites and visitors' sign-ins. Invite codes are stored only as hashes.

use sqlx::Connection;
use sqlx_macros::FromRow;

use super::{Store, StoreError, on_reader, on_writer, on_writer_once};
use crate::domain::battle::VisitorId;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

const INSERT_INVITE: &str = "INSERT INTO invites (id, code_hash, note, quota, uses, created_at, expires_at) \
     VALUES ($1, $2, $3, $4, 0, $5, $6)";
const SELECT_INVITES: &str = "SELECT id, note, quota, uses, created_at, expires_at, revoked_at FROM invites \
     ORDER BY created_at, id";
const SELECT_INVITE: &str = "SELECT id, note, quota, uses, created_at, expires_at, revoked_at FROM invites \
     WHERE code_hash = $1";
/// A single statement checks and counts, so that the last use is granted once.
const USE_INVITE: &str = "UPDATE invites SET uses = uses + 1 WHERE code_hash = $1 AND uses < quota \
     AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) RETURNING id";
const REVOKE_INVITE: &str = "UPDATE invites SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
const END_SIGN_INS_OF_INVITE: &str = "UPDATE sign_ins SET ended_at = $2 WHERE invite_id = $1 AND ended_at IS NULL";
const INSERT_SIGN_IN: &str = "INSERT INTO sign_ins (visitor, method, invite_id, signed_in_at, expires_at) \
     VALUES ($1, $2, $3, $4, $5)";
/// Ends the previous session, which may never have been signed in; changes nothing if it has already ended.
const END_PREVIOUS: &str = "INSERT INTO sign_ins (visitor, method, invite_id, signed_in_at, expires_at, ended_at) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (visitor) DO UPDATE SET ended_at = excluded.ended_at \
     WHERE sign_ins.ended_at IS NULL";
const SELECT_EXPIRY: &str =
    "SELECT expires_at FROM sign_ins WHERE visitor = $1 AND ended_at IS NULL AND expires_at > $2 AND method = $3";
const END_SIGN_IN: &str = "UPDATE sign_ins SET ended_at = $2 WHERE visitor = $1 AND ended_at IS NULL";
/// Without the sign-ins that ended because their invite was revoked: those visitors did not sign out.
const COUNT_SIGNED_OUT: &str = "SELECT COUNT(*) FROM sign_ins LEFT JOIN invites ON invites.id = sign_ins.invite_id \
     WHERE visitor = $1 AND ended_at IS NOT NULL AND ended_at <> COALESCE(revoked_at, -1)";
const SELECT_ENDED: &str = "SELECT visitor FROM sign_ins WHERE ended_at >= $1";

/// Invite to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewInvite<'i> {
    /// Id of the invite, used to revoke it.
    pub id: &'i str,
    /// Hash of the code.
    pub code_hash: &'i str,
    /// Operator's note on the recipient.
    pub note: &'i str,
    /// Maximum number of uses.
    pub quota: u32,
    /// Current time.
    pub created_at: Timestamp,
    /// Expiry time.
    pub expires_at: Option<Timestamp>,
}

/// A stored invite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InviteRow {
    /// Id of the invite.
    pub id: String,
    /// Operator's note on the recipient.
    pub note: String,
    /// Maximum number of uses.
    pub quota: i64,
    /// Number of uses so far.
    pub uses: i64,
    /// Creation time.
    pub created_at: Timestamp,
    /// Expiry time.
    pub expires_at: Option<Timestamp>,
    /// Revocation time.
    pub revoked_at: Option<Timestamp>,
}

/// Method of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInMethod<'m> {
    /// Invite code with this hash.
    Invite(&'m str),
    /// The arena's passphrase.
    Passphrase,
    /// Account at the OpenID Connect provider.
    Account,
}

impl SignInMethod<'_> {
    /// Returns the name in the database.
    fn as_str(self) -> &'static str {
        match self {
            Self::Invite(_) => "invite",
            Self::Passphrase => "passphrase",
            Self::Account => "account",
        }
    }
}

/// Sign-in to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewSignIn<'s> {
    /// Pseudonym of the new session.
    pub visitor: &'s VisitorId,
    /// Pseudonym of the previous session: the new one continues its visitor and ends it; its token becomes invalid.
    pub previous: Option<&'s VisitorId>,
    /// Method of the sign-in.
    pub method: SignInMethod<'s>,
    /// Current time.
    pub signed_in_at: Timestamp,
    /// Expiry time.
    pub expires_at: Timestamp,
}

#[derive(FromRow)]
struct RawInvite {
    id: String,
    note: String,
    quota: i64,
    uses: i64,
    created_at: i64,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
}

impl From<RawInvite> for InviteRow {
    fn from(raw: RawInvite) -> Self {
        Self {
            id: raw.id,
            note: raw.note,
            quota: raw.quota,
            uses: raw.uses,
            created_at: Timestamp(raw.created_at),
            expires_at: raw.expires_at.map(Timestamp),
            revoked_at: raw.revoked_at.map(Timestamp),
        }
    }
}

impl Store {
    /// Inserts an invite.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_invite(&self, invite: NewInvite<'_>) -> Result<(), StoreError> {
        let _time = store_time("insert_invite");
        on_writer_once!(self, |connection| {
            let query = sqlx::query(INSERT_INVITE)
                .bind(invite.id)
                .bind(invite.code_hash)
                .bind(invite.note)
                .bind(i64::from(invite.quota))
                .bind(invite.created_at.0)
                .bind(invite.expires_at.map(|at| at.0));
            query.execute(connection).await.map(drop)
        })
    }

    /// Reads all invites, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn invites(&self) -> Result<Vec<InviteRow>, StoreError> {
        let _time = store_time("invites");
        let rows: Vec<RawInvite> = on_reader!(self, |pool| sqlx::query_as(SELECT_INVITES).fetch_all(pool).await)?;
        Ok(rows.into_iter().map(InviteRow::from).collect())
    }

    /// Reads the invite with this code hash.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn invite(&self, code_hash: &str) -> Result<Option<InviteRow>, StoreError> {
        let _time = store_time("invite");
        let row: Option<RawInvite> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_INVITE).bind(code_hash).fetch_optional(pool).await)?;
        Ok(row.map(InviteRow::from))
    }

    /// Revokes an invite and ends its sign-ins. Returns whether it was valid.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn revoke_invite(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let _time = store_time("revoke_invite");
        let revoked: u64 = on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            let revoked = sqlx::query(REVOKE_INVITE).bind(id).bind(now.0).execute(&mut *tx).await?;
            sqlx::query(END_SIGN_INS_OF_INVITE).bind(id).bind(now.0).execute(&mut *tx).await?;
            tx.commit().await.map(|()| revoked.rows_affected())
        })?;
        Ok(revoked > 0)
    }

    /// Inserts a sign-in; one by invite counts as a use of it. Returns whether the invite was usable and the previous session, if any, had
    /// not ended; otherwise stores nothing. So at most one other session continues its visitor.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn sign_in(&self, sign_in: NewSignIn<'_>) -> Result<bool, StoreError> {
        let _time = store_time("sign_in");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let (granted, invite) = match sign_in.method {
                SignInMethod::Passphrase | SignInMethod::Account => (true, None),
                SignInMethod::Invite(hash) => {
                    let used = sqlx::query_scalar(USE_INVITE).bind(hash).bind(sign_in.signed_in_at.0);
                    let used: Option<String> = used.fetch_optional(&mut *tx).await?;
                    (used.is_some(), used)
                }
            };
            if !granted {
                tx.rollback().await?;
                return Ok(false);
            }
            let (method, now) = (sign_in.method.as_str(), sign_in.signed_in_at.0);
            if let Some(previous) = sign_in.previous {
                let query = sqlx::query(END_PREVIOUS).bind(previous.as_str()).bind(method).bind(invite.clone());
                let ended = query.bind(now).bind(now).bind(now).execute(&mut *tx).await?;
                if ended.rows_affected() == 0 {
                    tx.rollback().await?;
                    return Ok(false);
                }
            }
            let query = sqlx::query(INSERT_SIGN_IN).bind(sign_in.visitor.as_str()).bind(method).bind(invite);
            query.bind(now).bind(sign_in.expires_at.0).execute(&mut *tx).await?;
            tx.commit().await.map(|()| true)
        })
    }

    /// Reads the expiry time of this session's sign-in by this method; `None` if there is no valid one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn sign_in_expiry(
        &self,
        visitor: &VisitorId,
        method: SignInMethod<'_>,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let _time = store_time("sign_in_expiry");
        let expiry: Option<i64> = on_reader!(self, |pool| {
            let query = sqlx::query_scalar(SELECT_EXPIRY).bind(visitor.as_str()).bind(now.0);
            query.bind(method.as_str()).fetch_optional(pool).await
        })?;
        Ok(expiry.map(Timestamp))
    }

    /// Ends a sign-in.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn sign_out(&self, visitor: &VisitorId, now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("sign_out");
        on_writer!(self, |connection| {
            sqlx::query(END_SIGN_IN).bind(visitor.as_str()).bind(now.0).execute(connection).await.map(drop)
        })
    }

    /// Ends a session, also one that was never signed in: its token becomes invalid.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn end_session(&self, session: &VisitorId, now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("end_session");
        on_writer!(self, |connection| {
            let query = sqlx::query(END_PREVIOUS).bind(session.as_str()).bind(SignInMethod::Passphrase.as_str());
            let query = query.bind(None::<String>).bind(now.0).bind(now.0).bind(now.0);
            query.execute(connection).await.map(drop)
        })
    }

    /// Whether this session has signed out.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_signed_out(&self, visitor: &VisitorId) -> Result<bool, StoreError> {
        let _time = store_time("has_signed_out");
        let count: i64 = on_reader!(self, |pool| {
            sqlx::query_scalar(COUNT_SIGNED_OUT).bind(visitor.as_str()).fetch_one(pool).await
        })?;
        Ok(count > 0)
    }

    /// Reads the visitors whose sign-ins ended at this time or later.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn signed_out_since(&self, since: Timestamp) -> Result<Vec<VisitorId>, StoreError> {
        let _time = store_time("signed_out_since");
        let ended: Vec<String> =
            on_reader!(self, |pool| sqlx::query_scalar(SELECT_ENDED).bind(since.0).fetch_all(pool).await)?;
        Ok(ended.into_iter().map(VisitorId::new).collect())
    }
}
