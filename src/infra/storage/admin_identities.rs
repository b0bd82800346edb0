//! Who of the people who run the arena signs in at a provider. Of whom they are there only hashes are kept.

use sqlx::Connection;

use super::admin_audit::insert_audit;
use super::admin_users::{AdminUserRow, RawUser, VOID_MADE_LINKS};
use super::{NewAuditEntry, Store, StoreError, on_reader, on_writer_once};
use crate::domain::admin::oidc_account::RoleFrom;
use crate::domain::admin::role::Role;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

/// A user who has signed in before comes before one who is awaited by the same address.
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

/// By what a new user is known at the provider.
#[derive(Debug, Clone, Copy)]
pub enum IdentityHash<'h> {
    /// Issuer and subject.
    Subject(&'h str),
    /// Issuer and e-mail address, until the first sign-in.
    Email(&'h str),
}

/// A user to keep who signs in at the provider.
#[derive(Debug, Clone, Copy)]
pub struct NewProviderUser<'u> {
    /// Id.
    pub id: &'u str,
    /// Name.
    pub name: &'u str,
    /// What they may do.
    pub role: Role,
    /// Where the role comes from.
    pub role_from: RoleFrom,
    /// By what they are known.
    pub identity: IdentityHash<'u>,
    /// Now.
    pub created_at: Timestamp,
}

/// What came of adding somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddedUser {
    /// There is the account.
    Done,
    /// Somebody else has the name.
    NameTaken,
    /// This person has an account.
    IdentityTaken,
}

impl Store {
    /// The account of somebody at the provider.
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

    /// Keeps a user who signs in at the provider, with an entry in the audit log.
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

    /// Notes who an awaited user is at the provider; from now on their address there says nothing. Returns whether nobody came before.
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

    /// Gives a user the role that a claim says, even if no owner is left, with an entry in the audit log. The links that a former owner
    /// created are void.
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
