//! Admin accounts: invitation links, roles, locking and resets.

use std::sync::Arc;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::actor::{Actor, audit_json};
use crate::domain::admin::account::{self, AccountError};
use crate::domain::admin::action::AdminAction;
use crate::domain::admin::oidc_account::RoleSource;
use crate::domain::admin::role::Role;
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::infra::limits::{LimitedAction, RateLimited};
use crate::infra::metrics;
use crate::infra::passphrase_hash::{PassphraseChecks, PassphraseError};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{
    ActedVia, AdminInviteRow, AdminUserRow, Joined, JoiningUser, NewAdminInvite, NewAuditEntry, Store, StoreError,
    UserChange,
};
use crate::infra::time::clock::Clock;

const HOUR_MS: i64 = 3_600_000;

/// Error of creating or changing an account.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    /// Invalid name or passphrase.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The name is taken.
    #[error("the name {0} is taken: choose another name")]
    NameTaken(String),
    /// The link cannot be used.
    #[error("this link was used, has expired, or is incomplete: ask for another one")]
    VoidLink,
    /// No user has this name.
    #[error("there is no user {0:?}: `langya admin users list` shows them")]
    Unknown(String),
    /// The change would leave the arena without an owner.
    #[error("{0} is the last owner who can sign in: first make another user an owner, and have them sign in")]
    LastOwner(String),
    /// The confirming passphrase is wrong.
    #[error("the passphrase is wrong")]
    WrongPassphrase,
    /// The user's passphrase and second factor are managed by the provider.
    #[error("{0} signs in at the provider: passphrase and second factor are changed there")]
    AtProvider(String),
    /// The role comes from a claim.
    #[error("the role of {0} comes from a claim of the provider: change it there, or lock the account out")]
    RoleFromClaim(String),
    /// No provider is configured.
    #[error("no provider is set: oidc.issuer names one")]
    NoProvider,
    /// Neither or both of address and subject.
    #[error("somebody at the provider is known by an e-mail address or a subject: give one of them")]
    NoIdentity,
    /// The identity has an account already.
    #[error("somebody with this e-mail address or subject has an account already")]
    IdentityTaken,
    /// Too many passphrase attempts.
    #[error(transparent)]
    TooFast(#[from] RateLimited),
    /// Passphrases cannot be hashed at the moment.
    #[error(transparent)]
    Passphrase(#[from] PassphraseError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Purpose of a new link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkPurpose {
    /// The first owner; void once there is one.
    FirstOwner,
    /// A new user with this role.
    NewUser(Role),
    /// A new passphrase for a user who was reset.
    NewPassphrase(AdminUserRow),
}

/// Creates and changes accounts.
pub struct AdminUsers {
    pub(super) store: Store,
    pub(super) rng: Arc<SharedRng>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) passphrases: PassphraseChecks,
}

impl AdminUsers {
    /// Creates the service.
    #[must_use]
    pub fn new(store: Store, rng: Arc<SharedRng>, clock: Arc<dyn Clock>) -> Self {
        Self { store, rng, clock, passphrases: PassphraseChecks::default() }
    }

    /// Lists all accounts, by name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list(&self) -> Result<Vec<AdminUserRow>, StoreError> {
        self.store.admin_users().await
    }

    /// Creates a link for the first owner and returns its token; `None` if there is an owner.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn first_link(&self, hours: u32) -> Result<Option<String>, StoreError> {
        if self.store.has_admin_owner().await? {
            return Ok(None);
        }
        self.link(&LinkPurpose::FirstOwner, hours, "serve", None).await.map(Some)
    }

    /// Creates a link for a new user and returns its token.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn invite(&self, role: Role, hours: u32, actor: &Actor) -> Result<String, StoreError> {
        let mut entry = actor.entry(&self.rng, self.clock.as_ref(), AdminAction::Invite, role.as_str());
        entry.latter = audit_json(&json!({ "role": role, "hours": hours }));
        self.link(&LinkPurpose::NewUser(role), hours, &actor.name, Some(&entry)).await
    }

    async fn link(
        &self,
        purpose: &LinkPurpose,
        hours: u32,
        created_by: &str,
        audit: Option<&NewAuditEntry>,
    ) -> Result<String, StoreError> {
        let (role, user_id) = match purpose {
            LinkPurpose::FirstOwner => (Role::Owner, None),
            LinkPurpose::NewUser(role) => (*role, None),
            LinkPurpose::NewPassphrase(user) => (user.role, Some(user.id.as_str())),
        };
        let (token, id, created_at) = (self.rng.token(), self.rng.id(self.clock.as_ref()), self.clock.now());
        let (token_hash, expires_at) = (link_hash(&token), Timestamp(created_at.0 + i64::from(hours) * HOUR_MS));
        let invite = NewAdminInvite {
            id: &id,
            token_hash: &token_hash,
            role,
            user_id,
            first_run: *purpose == LinkPurpose::FirstOwner,
            created_by,
            created_at,
            expires_at,
        };
        self.store.insert_admin_invite(invite, audit).await?;
        Ok(token)
    }

    /// Returns the invitation of a link; `None` if it is void.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn find_link(&self, token: &str) -> Result<Option<AdminInviteRow>, StoreError> {
        self.store.admin_invite(&link_hash(token.trim()), self.clock.now()).await
    }

    /// Redeems a link: creates an account, or sets a new passphrase for the one that was reset. Returns the account.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn join(
        &self,
        token: &str,
        name: &str,
        passphrase: &str,
        address: &str,
    ) -> Result<AdminUserRow, UserError> {
        let token_hash = link_hash(token.trim());
        let link = self.store.admin_invite(&token_hash, self.clock.now()).await?.ok_or(UserError::VoidLink)?;
        let name = link.user.map_or_else(|| account::parse_name(name), Ok)?;
        account::check_passphrase(passphrase, &name)?;
        let passphrase_hash = self.passphrases.hash(passphrase).await?;
        let actor = Actor { name: name.clone(), via: ActedVia::Page, address: address.to_owned() };
        let mut entry = actor.entry(&self.rng, self.clock.as_ref(), AdminAction::Join, &name);
        entry.latter = audit_json(&json!({ "role": link.role }));
        let user_id = self.rng.id(self.clock.as_ref());
        let joining = JoiningUser {
            token_hash: &token_hash,
            user_id: &user_id,
            name: &name,
            passphrase_hash: &passphrase_hash,
            now: self.clock.now(),
        };
        match self.store.join_admin(joining, &entry).await? {
            Joined::Done => self.store.admin_user(&name).await?.ok_or(UserError::Unknown(name)),
            Joined::NameTaken => Err(UserError::NameTaken(name)),
            Joined::Void => Err(UserError::VoidLink),
        }
    }

    /// Changes a user's role, locks or unlocks the user. A change without effect writes no audit entry.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn change(&self, name: &str, change: UserChange, actor: &Actor) -> Result<(), UserError> {
        let mut user = self.find(name).await?;
        loop {
            check_source(&user, change)?;
            if is_unchanged_by(&user, change) {
                return Ok(());
            }
            let entry = self.change_entry(&user, change, actor);
            if self.store.change_admin_user(&user, change, self.clock.now(), &entry).await? {
                return Ok(());
            }
            // A concurrent change would make the audit entry wrong.
            let latest = self.find(name).await?;
            let read = std::mem::replace(&mut user, latest);
            if (read.role, read.disabled_at) == (user.role, user.disabled_at) {
                return Err(UserError::LastOwner(user.name));
            }
        }
    }

    fn change_entry(&self, user: &AdminUserRow, change: UserChange, actor: &Actor) -> NewAuditEntry {
        let action = match change {
            UserChange::Role(_) => AdminAction::ChangeRole,
            UserChange::Disable => AdminAction::DisableUser,
            UserChange::Enable => AdminAction::EnableUser,
            UserChange::Reset => AdminAction::ResetUser,
        };
        let mut entry = actor.entry(&self.rng, self.clock.as_ref(), action, &user.name);
        if let UserChange::Role(role) = change {
            entry.former = audit_json(&json!({ "role": user.role }));
            entry.latter = audit_json(&json!({ "role": role }));
        }
        entry
    }

    /// Removes a user's passphrase and second factor, ends all sessions, and returns the token of a link for a new passphrase.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn reset(&self, name: &str, hours: u32, actor: &Actor) -> Result<String, UserError> {
        let user = self.find(name).await?;
        self.change(name, UserChange::Reset, actor).await?;
        Ok(self.link(&LinkPurpose::NewPassphrase(user), hours, &actor.name, None).await?)
    }

    /// Changes a user's passphrase and ends all sessions but this one.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn change_passphrase(
        &self,
        session: &str,
        former: &str,
        latter: &str,
        actor: &Actor,
    ) -> Result<(), UserError> {
        let user = self.confirm(&actor.name, former).await?;
        account::check_passphrase(latter, &user.name)?;
        let hash = self.passphrases.hash(latter).await?;
        let entry = actor.entry(&self.rng, self.clock.as_ref(), AdminAction::ChangePassphrase, &user.name);
        Ok(self.store.set_admin_passphrase(&user.id, session, &hash, &entry).await?)
    }

    /// Verifies a user's passphrase and returns the user. A caller that allows this from a session counts it as a sign-in attempt first: a
    /// stolen session must not guess faster than anyone else.
    pub(super) async fn confirm(&self, name: &str, passphrase: &str) -> Result<AdminUserRow, UserError> {
        let user = self.find(name).await?;
        let is_right = self.passphrases.is_hash_of(&user.passphrase_hash, passphrase).await?;
        if is_right {
            return Ok(user);
        }
        metrics::refused(LimitedAction::AdminSignIn.as_str(), "wrong");
        Err(UserError::WrongPassphrase)
    }

    pub(super) async fn find(&self, name: &str) -> Result<AdminUserRow, UserError> {
        let user = self.store.admin_user(&name.trim().to_ascii_lowercase()).await?;
        user.ok_or_else(|| UserError::Unknown(name.to_owned()))
    }
}

/// Refuses changes that only the provider can make.
fn check_source(user: &AdminUserRow, change: UserChange) -> Result<(), UserError> {
    let by_claim = user.provider.is_some_and(|account| account.role_from == RoleSource::Claim);
    match change {
        UserChange::Role(_) if by_claim => Err(UserError::RoleFromClaim(user.name.clone())),
        UserChange::Reset if user.provider.is_some() => Err(UserError::AtProvider(user.name.clone())),
        _ => Ok(()),
    }
}

fn is_unchanged_by(user: &AdminUserRow, change: UserChange) -> bool {
    match change {
        UserChange::Role(role) => user.role == role,
        UserChange::Disable => user.disabled_at.is_some(),
        UserChange::Enable => user.disabled_at.is_none(),
        UserChange::Reset => false,
    }
}

/// Computes the stored hash of a link's token, which has 128 random bits: a plain hash of it cannot be inverted.
#[must_use]
pub fn link_hash(token: &str) -> String {
    hex(&Sha256::digest(format!("langya admin link {token}")))
}

/// Returns the link of a token. The token is in the fragment (`#`), which browsers do not send.
#[must_use]
pub fn link_address(arena: &str, token: &str) -> String {
    format!("{}/admin/welcome#{token}", arena.trim_end_matches('/'))
}

/// Returns the link with which the user of this name chooses a new passphrase. It contains the name, so that the page need not ask.
#[must_use]
pub fn passphrase_link_address(arena: &str, name: &str, token: &str) -> String {
    format!("{}/admin/welcome?account={}#{token}", arena.trim_end_matches('/'), name.trim().to_ascii_lowercase())
}
