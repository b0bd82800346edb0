//! Accounts of administrators at an OpenID Connect provider. Their identities there are stored only as hashes.

use sqlx::Connection;

use crate::domain::admin::oidc_account::RoleSource;
use crate::domain::admin::role::Role;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::admin::users::{AdminUserRow, RawUser, VOID_MADE_LINKS};
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer_once};

/// Prefers a user who has signed in before to one who is expected by the same e-mail address.
const SELECT: &str = "SELECT u.id, u.name, u.role, u.passphrase_hash, u.totp_secret, u.totp_pending, u.totp_pending_at, \
     u.totp_step, u.created_at, u.disabled_at, i.role_from, i.subject_hash FROM admin_users u JOIN admin_identities i ON i.user_id = u.id \
     WHERE i.subject_hash = $1 OR i.email_hash = $2 ORDER BY CASE WHEN i.subject_hash = $1 THEN 0 ELSE 1 END LIMIT 1";
const INSERT_USER: &str = "INSERT INTO admin_users (id, name, role, passphrase_hash, totp_step, created_at) \
     VALUES ($1, $2, $3, '', 0, $4) ON CONFLICT (name) DO NOTHING";
const INSERT: &str = "INSERT INTO admin_identities (user_id, subject_hash, email_hash, role_from) VALUES ($1, $2, $3, $4) \
     ON CONFLICT DO NOTHING";
const BIND: &str =
    "UPDATE admin_identities SET subject_hash = $2, email_hash = NULL WHERE user_id = $1 AND subject_hash IS NULL";
const SET_ROLE: &str = "UPDATE admin_users SET role = $2 WHERE id = $1";

/// Hashed identity of a new user at the provider.
#[derive(Debug, Clone, Copy)]
pub enum IdentityHash<'h> {
    /// Hash of issuer and subject.
    Subject(&'h str),
    /// Hash of issuer and e-mail address, until the first sign-in.
    Email(&'h str),
}

/// Provider user to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewProviderUser<'u> {
    /// Id of the user.
    pub id: &'u str,
    /// Name of the user.
    pub name: &'u str,
    /// Role of the user.
    pub role: Role,
    /// Source of the role.
    pub role_from: RoleSource,
    /// Identity at the provider.
    pub identity: IdentityHash<'u>,
    /// Current time.
    pub created_at: Timestamp,
}

/// Result of inserting a provider user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddedUser {
    /// The account was created.
    Done,
    /// Another user has the name.
    NameTaken,
    /// The identity already has an account.
    IdentityTaken,
}

impl Store {
    /// Reads the account of a provider identity.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn admin_of_identity(
        &self,
        subject_hash: &str,
        email_hash: Option<&str>,
    ) -> Result<Option<AdminUserRow>, StoreError> {
        let _time = store_time("admin_of_identity");
        let row: Option<RawUser> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT).bind(subject_hash).bind(email_hash).fetch_optional(pool).await
        })?;
        row.map(AdminUserRow::try_from).transpose()
    }

    /// Inserts a provider user, with an audit entry.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn add_provider_admin(
        &self,
        user: NewProviderUser<'_>,
        audit: &NewAuditEntry,
    ) -> Result<AddedUser, StoreError> {
        let _time = store_time("add_provider_admin");
        let (subject, email) = match user.identity {
            IdentityHash::Subject(hash) => (Some(hash), None),
            IdentityHash::Email(hash) => (None, Some(hash)),
        };
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(INSERT_USER).bind(user.id).bind(user.name).bind(user.role.as_str());
            let named = query.bind(user.created_at.0).execute(&mut *tx).await?.rows_affected() > 0;
            let mut added = AddedUser::NameTaken;
            if named {
                let query = sqlx::query(INSERT).bind(user.id).bind(subject).bind(email).bind(user.role_from.as_str());
                let is_new = query.execute(&mut *tx).await?.rows_affected() > 0;
                added = if is_new { AddedUser::Done } else { AddedUser::IdentityTaken };
            }
            if added == AddedUser::Done {
                insert_audit!(&mut *tx, audit)?;
                tx.commit().await?;
            } else {
                tx.rollback().await?;
            }
            Ok::<_, sqlx::Error>(added)
        })
    }

    /// Binds an expected user to their subject at the provider; from now on the e-mail address is ignored. Returns whether the user was
    /// still unbound.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn bind_admin_identity(&self, user_id: &str, subject_hash: &str) -> Result<bool, StoreError> {
        let _time = store_time("bind_admin_identity");
        let bound: Result<u64, StoreError> = on_writer_once!(self, |connection| {
            let query = sqlx::query(BIND).bind(user_id).bind(subject_hash);
            query.execute(connection).await.map(|done| done.rows_affected())
        });
        Ok(bound? > 0)
    }

    /// Sets the role that a claim gives, even if no owner is left, with an audit entry. Links created by a former owner become void.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_claimed_role(&self, user_id: &str, role: Role, audit: &NewAuditEntry) -> Result<(), StoreError> {
        let _time = store_time("set_claimed_role");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            sqlx::query(SET_ROLE).bind(user_id).bind(role.as_str()).execute(&mut *tx).await?;
            sqlx::query(VOID_MADE_LINKS).bind(user_id).bind(audit.acted_at.0).execute(&mut *tx).await?;
            insert_audit!(&mut *tx, audit)?;
            tx.commit().await
        })
    }
}
