//! Accounts of administrators, and their invitation links. Links and recovery codes are stored only as hashes.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::admin::oidc_account::RoleSource;
use crate::domain::admin::role::Role;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::admin::sessions::role_of;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer, on_writer_once};

const SELECT_ALL: &str = "SELECT u.id, u.name, u.role, u.passphrase_hash, u.totp_secret, u.totp_pending, u.totp_pending_at, \
     u.totp_step, u.created_at, u.disabled_at, i.role_from, i.subject_hash FROM admin_users u \
     LEFT JOIN admin_identities i ON i.user_id = u.id ORDER BY u.name";
const SELECT_BY_NAME: &str = "SELECT u.id, u.name, u.role, u.passphrase_hash, u.totp_secret, u.totp_pending, u.totp_pending_at, \
     u.totp_step, u.created_at, u.disabled_at, i.role_from, i.subject_hash FROM admin_users u \
     LEFT JOIN admin_identities i ON i.user_id = u.id WHERE u.name = $1";
const HAS_OWNER: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM admin_users WHERE role = 'owner' AND disabled_at IS NULL";
const INSERT_INVITE: &str = "INSERT INTO admin_invites \
     (id, token_hash, role, user_id, first_run, created_by, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
/// A first-run link, printed at a start without an owner, becomes void with the first owner. A locked-out user's link is suspended until
/// the user is enabled again.
const SELECT_INVITE: &str = "SELECT i.role, i.user_id, u.name AS user_name FROM admin_invites i \
     LEFT JOIN admin_users u ON u.id = i.user_id WHERE i.token_hash = $1 AND i.used_at IS NULL AND i.expires_at > $2 \
     AND u.disabled_at IS NULL \
     AND (NOT i.first_run OR NOT EXISTS (SELECT 1 FROM admin_users WHERE role = 'owner' AND disabled_at IS NULL))";
const USE_INVITE: &str = "UPDATE admin_invites SET used_at = $2 WHERE token_hash = $1 AND used_at IS NULL \
     AND expires_at > $2 AND NOT EXISTS \
     (SELECT 1 FROM admin_users u WHERE u.id = admin_invites.user_id AND u.disabled_at IS NOT NULL) \
     AND (NOT first_run OR NOT EXISTS (SELECT 1 FROM admin_users WHERE role = 'owner' AND disabled_at IS NULL)) \
     RETURNING role, user_id";
const INSERT_USER: &str = "INSERT INTO admin_users (id, name, role, passphrase_hash, totp_step, created_at) \
     VALUES ($1, $2, $3, $4, 0, $5) ON CONFLICT (name) DO NOTHING";
const SET_PASSPHRASE: &str = "UPDATE admin_users SET passphrase_hash = $2 WHERE id = $1";
/// Serialises owners who demote each other at the same time: the second waits, and then sees that the first is no longer an owner.
const LOCK_OWNERS: &str = "UPDATE admin_users SET role = role WHERE role = 'owner'";
/// SQL for the ids of accounts that can sign in: not locked out, and with a passphrase or a completed provider sign-in (missing after a
/// reset, or for a user added by address).
macro_rules! can_sign_in {
    () => {
        "(SELECT u.id FROM admin_users u WHERE u.disabled_at IS NULL AND (u.passphrase_hash <> '' \
         OR EXISTS (SELECT 1 FROM admin_identities i WHERE i.user_id = u.id AND i.subject_hash IS NOT NULL)))"
    };
}
/// Keeps the last owner who can sign in. An account that has changed since it was read stays as it is.
const SET_ROLE: &str = concat!(
    "UPDATE admin_users SET role = $2 WHERE id = $1 AND role = $3 AND (role <> 'owner' OR $2 = 'owner' OR id NOT IN ",
    can_sign_in!(),
    " OR EXISTS (SELECT 1 FROM admin_users o WHERE o.role = 'owner' AND o.id <> $1 AND o.id IN ",
    can_sign_in!(),
    "))"
);
const DISABLE: &str = concat!(
    "UPDATE admin_users SET disabled_at = $2 WHERE id = $1 AND role = $3 AND disabled_at IS NULL \
     AND (role <> 'owner' OR id NOT IN ",
    can_sign_in!(),
    " OR EXISTS (SELECT 1 FROM admin_users o WHERE o.role = 'owner' AND o.id <> $1 AND o.id IN ",
    can_sign_in!(),
    "))"
);
const ENABLE: &str = "UPDATE admin_users SET disabled_at = NULL WHERE id = $1 AND $2 >= 0 AND disabled_at IS NOT NULL";
const RESET: &str = "UPDATE admin_users SET passphrase_hash = '', totp_secret = NULL, totp_pending = NULL, \
     totp_pending_at = NULL WHERE id = $1 AND $2 >= 0";
const END_SESSIONS: &str = "UPDATE admin_sessions SET ended_at = $2 WHERE user_id = $1 AND ended_at IS NULL";
const END_OTHER_SESSIONS: &str =
    "UPDATE admin_sessions SET ended_at = $2 WHERE user_id = $1 AND ended_at IS NULL AND id <> $3";
/// Voids the links to an account and those that its user created, so that a locked-out user cannot return with one.
const VOID_LINKS: &str = "UPDATE admin_invites SET used_at = $2 WHERE used_at IS NULL \
     AND (user_id = $1 OR created_by = (SELECT name FROM admin_users WHERE id = $1))";
/// Voids the links that a former owner created.
pub(in crate::storage) const VOID_MADE_LINKS: &str = "UPDATE admin_invites SET used_at = $2 WHERE used_at IS NULL \
     AND created_by = (SELECT name FROM admin_users WHERE id = $1 AND role <> 'owner')";
const SET_PENDING: &str = "UPDATE admin_users SET totp_pending = $2, totp_pending_at = $3 WHERE id = $1";
const CONFIRM_TOTP: &str = "UPDATE admin_users SET totp_secret = totp_pending, totp_pending = NULL, \
     totp_pending_at = NULL, totp_step = $3 WHERE id = $1 AND totp_pending = $2";
const DISABLE_TOTP: &str =
    "UPDATE admin_users SET totp_secret = NULL, totp_pending = NULL, totp_pending_at = NULL WHERE id = $1";
/// A single statement, so that a code is accepted once across all instances.
const TAKE_STEP: &str = "UPDATE admin_users SET totp_step = $2 WHERE id = $1 AND totp_step < $2";
const DELETE_CODES: &str = "DELETE FROM admin_recovery_codes WHERE user_id = $1";
const INSERT_CODE: &str = "INSERT INTO admin_recovery_codes (code_hash, user_id) VALUES ($1, $2)";
const TAKE_CODE: &str =
    "UPDATE admin_recovery_codes SET used_at = $3 WHERE code_hash = $1 AND user_id = $2 AND used_at IS NULL";

/// An admin account.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminUserRow {
    /// Id of the user.
    pub id: String,
    /// Name of the user in lower case.
    pub name: String,
    /// Role of the user.
    pub role: Role,
    /// Hash of the passphrase; empty after a reset.
    pub passphrase_hash: String,
    /// Secret of the second factor in hexadecimal.
    pub totp_secret: Option<String>,
    /// New secret that no code has confirmed yet.
    pub totp_pending: Option<String>,
    /// Creation time of the new secret.
    pub totp_pending_at: Option<Timestamp>,
    /// Time step of the last accepted code.
    pub totp_step: i64,
    /// Creation time of the account.
    pub created_at: Timestamp,
    /// Time of the lock-out.
    pub disabled_at: Option<Timestamp>,
    /// Set for users who sign in at the provider.
    pub provider: Option<ProviderAccount>,
}

/// Provider data of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderAccount {
    /// Source of the role.
    pub role_from: RoleSource,
    /// Whether the user has signed in.
    pub has_signed_in: bool,
}

/// Hashes and secrets are not printed.
impl std::fmt::Debug for AdminUserRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdminUserRow").field("name", &self.name).field("role", &self.role).finish_non_exhaustive()
    }
}

/// Invitation link to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewAdminInvite<'i> {
    /// Id of the link.
    pub id: &'i str,
    /// Hash of the token.
    pub token_hash: &'i str,
    /// Role of the invited user.
    pub role: Role,
    /// User who sets a new passphrase; `None` for a new user.
    pub user_id: Option<&'i str>,
    /// Whether it is for the first owner only.
    pub first_run: bool,
    /// Creator of the link.
    pub created_by: &'i str,
    /// Current time.
    pub created_at: Timestamp,
    /// Expiry time.
    pub expires_at: Timestamp,
}

/// A valid invitation link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminInviteRow {
    /// Role of the invited user.
    pub role: Role,
    /// Name of the user who sets a new passphrase; `None` for a new user.
    pub user: Option<String>,
}

/// A user who redeems an invitation link.
#[derive(Debug, Clone, Copy)]
pub struct JoiningUser<'j> {
    /// Hash of the link's token.
    pub token_hash: &'j str,
    /// Id for a new user.
    pub user_id: &'j str,
    /// Name for a new user.
    pub name: &'j str,
    /// Hash of the passphrase.
    pub passphrase_hash: &'j str,
    /// Current time.
    pub now: Timestamp,
}

/// Result of redeeming an invitation link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The account was created or updated.
    Done,
    /// Another user has the name.
    NameTaken,
    /// The link is unknown, used, or expired.
    Void,
}

/// Change of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserChange {
    /// Sets the role.
    Role(Role),
    /// Locks the account: ends all sessions, and voids the links to the account and those that its user created.
    Disable,
    /// Unlocks the account.
    Enable,
    /// Removes passphrase and second factor; ends all sessions, and voids the links to the account and those that its user created.
    Reset,
}

#[derive(FromRow)]
pub(in crate::storage) struct RawUser {
    id: String,
    name: String,
    role: String,
    passphrase_hash: String,
    totp_secret: Option<String>,
    totp_pending: Option<String>,
    totp_pending_at: Option<i64>,
    totp_step: i64,
    created_at: i64,
    disabled_at: Option<i64>,
    role_from: Option<String>,
    subject_hash: Option<String>,
}

impl TryFrom<RawUser> for AdminUserRow {
    type Error = StoreError;

    fn try_from(raw: RawUser) -> Result<Self, StoreError> {
        Ok(Self {
            role: role_of(&raw.role, &raw.name)?,
            id: raw.id,
            name: raw.name,
            passphrase_hash: raw.passphrase_hash,
            totp_secret: raw.totp_secret,
            totp_pending: raw.totp_pending,
            totp_pending_at: raw.totp_pending_at.map(Timestamp),
            totp_step: raw.totp_step,
            created_at: Timestamp(raw.created_at),
            disabled_at: raw.disabled_at.map(Timestamp),
            provider: raw.role_from.map(|from| ProviderAccount {
                role_from: if from == RoleSource::Claim.as_str() { RoleSource::Claim } else { RoleSource::Owner },
                has_signed_in: raw.subject_hash.is_some(),
            }),
        })
    }
}

impl Store {
    /// Reads all accounts, by name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn admin_users(&self) -> Result<Vec<AdminUserRow>, StoreError> {
        let _time = store_time("admin_users");
        let rows: Vec<RawUser> = on_reader!(self, |pool| sqlx::query_as(SELECT_ALL).fetch_all(pool).await)?;
        rows.into_iter().map(AdminUserRow::try_from).collect()
    }

    /// Reads the account with a name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn admin_user(&self, name: &str) -> Result<Option<AdminUserRow>, StoreError> {
        let _time = store_time("admin_user");
        let row: Option<RawUser> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_BY_NAME).bind(name).fetch_optional(pool).await)?;
        row.map(AdminUserRow::try_from).transpose()
    }

    /// Whether there is an owner who is not locked out.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn has_admin_owner(&self) -> Result<bool, StoreError> {
        let _time = store_time("has_admin_owner");
        let owners: i64 = on_reader!(self, |pool| sqlx::query_scalar(HAS_OWNER).fetch_one(pool).await)?;
        Ok(owners > 0)
    }

    /// Inserts an invitation link, with an audit entry if a user created it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_admin_invite(
        &self,
        invite: NewAdminInvite<'_>,
        audit: Option<&NewAuditEntry>,
    ) -> Result<(), StoreError> {
        let _time = store_time("insert_admin_invite");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(INSERT_INVITE).bind(invite.id).bind(invite.token_hash).bind(invite.role.as_str());
            let query = query.bind(invite.user_id).bind(invite.first_run).bind(invite.created_by);
            query.bind(invite.created_at.0).bind(invite.expires_at.0).execute(&mut *tx).await?;
            if let Some(audit) = audit {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await
        })
    }

    /// Reads the valid invitation link of a token.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn admin_invite(&self, token_hash: &str, now: Timestamp) -> Result<Option<AdminInviteRow>, StoreError> {
        let _time = store_time("admin_invite");
        let row: Option<(String, Option<String>, Option<String>)> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_INVITE).bind(token_hash).bind(now.0).fetch_optional(pool).await
        })?;
        row.map(|(role, _, user)| Ok(AdminInviteRow { role: role_of(&role, "admin_invites")?, user })).transpose()
    }

    /// Creates the account of an invitation link, or sets its user's new passphrase; the link becomes used.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn join_admin(&self, joining: JoiningUser<'_>, audit: &NewAuditEntry) -> Result<Joined, StoreError> {
        let _time = store_time("join_admin");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let used = sqlx::query_as(USE_INVITE).bind(joining.token_hash).bind(joining.now.0);
            let used: Option<(String, Option<String>)> = used.fetch_optional(&mut *tx).await?;
            let changed = match &used {
                None => 0,
                Some((_, Some(user))) => {
                    let query = sqlx::query(SET_PASSPHRASE).bind(user).bind(joining.passphrase_hash);
                    query.execute(&mut *tx).await?.rows_affected()
                }
                Some((role, None)) => {
                    let query = sqlx::query(INSERT_USER).bind(joining.user_id).bind(joining.name).bind(role);
                    let query = query.bind(joining.passphrase_hash).bind(joining.now.0);
                    query.execute(&mut *tx).await?.rows_affected()
                }
            };
            let joined = match (used.is_some(), changed) {
                (false, _) => Joined::Void,
                (true, 0) => Joined::NameTaken,
                (true, _) => Joined::Done,
            };
            if joined == Joined::Done {
                insert_audit!(&mut *tx, audit)?;
                tx.commit().await?;
            } else {
                tx.rollback().await?;
            }
            Ok::<_, sqlx::Error>(joined)
        })
    }

    /// Changes an account, with an audit entry. Returns whether it was changed: the last owner who can sign in stays, and so does an
    /// account whose role has changed since it was read, or that is already disabled or enabled.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn change_admin_user(
        &self,
        user: &AdminUserRow,
        change: UserChange,
        now: Timestamp,
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("change_admin_user");
        let (id, former) = (user.id.as_str(), user.role.as_str());
        let ends_sessions = matches!(change, UserChange::Disable | UserChange::Reset);
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            if matches!(change, UserChange::Role(_) | UserChange::Disable) {
                sqlx::query(LOCK_OWNERS).execute(&mut *tx).await?;
            }
            let query = match change {
                UserChange::Role(role) => sqlx::query(SET_ROLE).bind(id).bind(role.as_str()).bind(former),
                UserChange::Disable => sqlx::query(DISABLE).bind(id).bind(now.0).bind(former),
                UserChange::Enable => sqlx::query(ENABLE).bind(id).bind(now.0),
                UserChange::Reset => sqlx::query(RESET).bind(id).bind(now.0),
            };
            let changed = query.execute(&mut *tx).await?.rows_affected() > 0;
            if changed && ends_sessions {
                sqlx::query(END_SESSIONS).bind(id).bind(now.0).execute(&mut *tx).await?;
                sqlx::query(VOID_LINKS).bind(id).bind(now.0).execute(&mut *tx).await?;
            }
            if changed && matches!(change, UserChange::Role(_)) {
                sqlx::query(VOID_MADE_LINKS).bind(id).bind(now.0).execute(&mut *tx).await?;
            }
            if changed && change == UserChange::Reset {
                sqlx::query(DELETE_CODES).bind(id).execute(&mut *tx).await?;
            }
            if changed {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| changed)
        })
    }

    /// Sets a user's passphrase and ends all sessions but this one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_admin_passphrase(
        &self,
        user_id: &str,
        session: &str,
        hash: &str,
        audit: &NewAuditEntry,
    ) -> Result<(), StoreError> {
        let _time = store_time("set_admin_passphrase");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(SET_PASSPHRASE).bind(user_id).bind(hash).execute(&mut *tx).await?;
            let ending = sqlx::query(END_OTHER_SESSIONS).bind(user_id).bind(audit.acted_at.0).bind(session);
            ending.execute(&mut *tx).await?;
            insert_audit!(&mut *tx, audit)?;
            tx.commit().await
        })
    }

    /// Stores an unconfirmed secret of a second factor, replacing an earlier one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn begin_admin_totp(&self, user_id: &str, secret: &str, now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("begin_admin_totp");
        on_writer!(self, |connection| {
            sqlx::query(SET_PENDING).bind(user_id).bind(secret).bind(now.0).execute(connection).await.map(drop)
        })
    }

    /// Enables the second factor, with the hashes of its recovery codes. Returns whether `secret` was the unconfirmed one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn confirm_admin_totp(
        &self,
        user_id: &str,
        secret: &str,
        step: i64,
        codes: &[String],
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("confirm_admin_totp");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(CONFIRM_TOTP).bind(user_id).bind(secret).bind(step);
            let confirmed = query.execute(&mut *tx).await?.rows_affected() > 0;
            if confirmed {
                sqlx::query(DELETE_CODES).bind(user_id).execute(&mut *tx).await?;
                for hash in codes {
                    sqlx::query(INSERT_CODE).bind(hash).bind(user_id).execute(&mut *tx).await?;
                }
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| confirmed)
        })
    }

    /// Disables the second factor.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn disable_admin_totp(&self, user_id: &str, audit: &NewAuditEntry) -> Result<(), StoreError> {
        let _time = store_time("disable_admin_totp");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(DISABLE_TOTP).bind(user_id).execute(&mut *tx).await?;
            sqlx::query(DELETE_CODES).bind(user_id).execute(&mut *tx).await?;
            insert_audit!(&mut *tx, audit)?;
            tx.commit().await
        })
    }

    /// Accepts the code of a time step; `false` if it, or a later one, was accepted before.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn take_admin_totp(&self, user_id: &str, step: i64) -> Result<bool, StoreError> {
        let _time = store_time("take_admin_totp");
        let taken: Result<u64, StoreError> = on_writer_once!(self, |connection| {
            let query = sqlx::query(TAKE_STEP).bind(user_id).bind(step);
            query.execute(connection).await.map(|done| done.rows_affected())
        });
        Ok(taken? > 0)
    }

    /// Accepts a recovery code by its hash; `false` if it is unknown or used.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn take_admin_recovery_code(
        &self,
        user_id: &str,
        hash: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("take_admin_recovery_code");
        let taken: Result<u64, StoreError> = on_writer_once!(self, |connection| {
            let query = sqlx::query(TAKE_CODE).bind(hash).bind(user_id).bind(now.0);
            query.execute(connection).await.map(|done| done.rows_affected())
        });
        Ok(taken? > 0)
    }
}
