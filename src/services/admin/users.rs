//! Accounts: links that make one, roles, locking out, and resets.

use std::sync::Arc;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::actor::{Actor, audit_json};
use crate::domain::admin::account::{self, AccountError};
use crate::domain::admin::action::AdminAction;
use crate::domain::admin::oidc_account::RoleFrom;
use crate::domain::admin::role::Role;
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::infra::clock::Clock;
use crate::infra::limits::{LimitedAction, RateLimited};
use crate::infra::metrics;
use crate::infra::passphrase_hash::{PassphraseChecks, PassphraseError};
use crate::infra::rng::SharedRng;
use crate::infra::storage::{
    ActedVia, AdminInviteRow, AdminUserRow, Joined, JoiningUser, NewAdminInvite, NewAuditEntry, Store, StoreError,
    UserChange,
};

const HOUR_MS: i64 = 3_600_000;

/// Why an account is not made or changed.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    /// A name or passphrase that cannot be.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The name is taken.
    #[error("the name {0} is taken: choose another name")]
    NameTaken(String),
    /// The link cannot be used.
    #[error("this link was used, has expired, or is incomplete: ask for another one")]
    VoidLink,
    /// There is no such user.
    #[error("there is no user {0:?}: `langya admin users list` shows them")]
    Unknown(String),
    /// An arena without an owner could not be run.
    #[error("{0} is the last owner who can sign in: make another user an owner first, who then signs in")]
    LastOwner(String),
    /// The passphrase to confirm with is wrong.
    #[error("the passphrase is wrong")]
    WrongPassphrase,
    /// Their passphrase and second factor are the provider's.
    #[error("{0} signs in at the provider: passphrase and second factor are changed there")]
    AtProvider(String),
    /// The role comes from a claim.
    #[error("the role of {0} comes from a claim of the provider: change it there, or lock the account out")]
    RoleFromClaim(String),
    /// No provider is set.
    #[error("no provider is set: oidc.issuer names one")]
    NoProvider,
    /// Neither or both of address and subject.
    #[error("somebody at the provider is known by an e-mail address or a subject: give one of them")]
    NoIdentity,
    /// This person has an account.
    #[error("somebody with this e-mail address or subject has an account already")]
    IdentityTaken,
    /// Too many tries at the passphrase.
    #[error(transparent)]
    TooFast(#[from] RateLimited),
    /// Passphrases cannot be hashed at the moment.
    #[error(transparent)]
    Passphrase(#[from] PassphraseError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a new link is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkPurpose {
    /// The first owner; void once there is one.
    FirstOwner,
    /// A new user with this role.
    NewUser(Role),
    /// A user who was reset.
    NewPassphrase(AdminUserRow),
}

/// Makes and changes accounts.
pub struct AdminUsers {
    pub(super) store: Store,
    pub(super) rng: Arc<SharedRng>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) passphrases: PassphraseChecks,
}

impl AdminUsers {
    /// Puts it together.
    #[must_use]
    pub fn new(store: Store, rng: Arc<SharedRng>, clock: Arc<dyn Clock>) -> Self {
        Self { store, rng, clock, passphrases: PassphraseChecks::default() }
    }

    /// All accounts, by name.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list(&self) -> Result<Vec<AdminUserRow>, StoreError> {
        self.store.admin_users().await
    }

    /// The token of a link for the first owner; `None` where there is an owner.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn first_link(&self, hours: u32) -> Result<Option<String>, StoreError> {
        if self.store.has_admin_owner().await? {
            return Ok(None);
        }
        self.link(&LinkPurpose::FirstOwner, hours, "serve", None).await.map(Some)
    }

    /// The token of a link for a new user.
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

    /// What a link is for; `None` where it cannot be used.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn find_link(&self, token: &str) -> Result<Option<AdminInviteRow>, StoreError> {
        self.store.admin_invite(&link_hash(token.trim()), self.clock.now()).await
    }

    /// Follows a link: a new account, or a new passphrase for the one that was reset. Returns the account.
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

    /// Gives a user another role, locks them out, or lets them in again. What is so already stays so, without another entry.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn change(&self, name: &str, change: UserChange, actor: &Actor) -> Result<(), UserError> {
        let mut user = self.find(name).await?;
        loop {
            check_source(&user, change)?;
            if is_already_so(&user, change) {
                return Ok(());
            }
            let entry = self.change_entry(&user, change, actor);
            if self.store.change_admin_user(&user, change, self.clock.now(), &entry).await? {
                return Ok(());
            }
            // Somebody else may have changed the account meanwhile: then the entry would say what it no longer was.
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

    /// Takes a user's passphrase and second factor away, ends all sessions, and gives the token of a link for a new passphrase.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn reset(&self, name: &str, hours: u32, actor: &Actor) -> Result<String, UserError> {
        let user = self.find(name).await?;
        self.change(name, UserChange::Reset, actor).await?;
        Ok(self.link(&LinkPurpose::NewPassphrase(user), hours, &actor.name, None).await?)
    }

    /// Gives a user another passphrase and ends all sessions but this one.
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

    /// The user of this name, who has just given their passphrase. A caller that lets a session ask this counts the try as one to sign in
    /// first: a stolen session must not guess faster than anybody else.
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

/// Refuses what is changed at the provider alone.
fn check_source(user: &AdminUserRow, change: UserChange) -> Result<(), UserError> {
    let by_claim = user.provider.is_some_and(|account| account.role_from == RoleFrom::Claim);
    match change {
        UserChange::Role(_) if by_claim => Err(UserError::RoleFromClaim(user.name.clone())),
        UserChange::Reset if user.provider.is_some() => Err(UserError::AtProvider(user.name.clone())),
        _ => Ok(()),
    }
}

fn is_already_so(user: &AdminUserRow, change: UserChange) -> bool {
    match change {
        UserChange::Role(role) => user.role == role,
        UserChange::Disable => user.disabled_at.is_some(),
        UserChange::Enable => user.disabled_at.is_none(),
        UserChange::Reset => false,
    }
}

/// What is kept of a link's token, which has 128 random bits: a plain hash of it cannot be turned back.
#[must_use]
pub fn link_hash(token: &str) -> String {
    hex(&Sha256::digest(format!("langya admin link {token}")))
}

/// The link of a token. The token stands behind `#`, which browsers keep to themselves.
#[must_use]
pub fn link_address(arena: &str, token: &str) -> String {
    format!("{}/admin/welcome#{token}", arena.trim_end_matches('/'))
}

/// The link of a token with which the user of this name chooses a new passphrase. It says whose account it is, so that the page need not ask.
#[must_use]
pub fn passphrase_link_address(arena: &str, name: &str, token: &str) -> String {
    format!("{}/admin/welcome?account={}#{token}", arena.trim_end_matches('/'), name.trim().to_ascii_lowercase())
}
