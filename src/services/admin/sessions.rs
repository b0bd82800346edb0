//! Admin sign-in and sessions. Sessions are random tokens stored as hashes; they end when idle, at the latest after some hours, and at once
//! when ended from any browser.

use std::sync::Arc;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::actor::{Actor, audit_json};
use super::users::AdminUsers;
use crate::domain::admin::account;
use crate::domain::admin::action::AdminAction;
use crate::domain::hex::hex;
use crate::domain::time::Timestamp;
use crate::infra::config::CurrentSettings;
use crate::infra::limits::{LimitedAction, RateLimited, RateLimits};
use crate::infra::metrics;
use crate::infra::oidc::OidcError;
use crate::infra::passphrase_hash::PassphraseError;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{ActedVia, AdminSessionRow, AdminUserRow, NewAdminSession, SessionAge, Store, StoreError};
use crate::infra::time::clock::Clock;

const MINUTE_MS: i64 = 60_000;
/// Rate-limit key for attempts with a name that no account can have.
const UNKNOWN_NAME_KEY: &str = "?";

/// Error of an admin sign-in.
#[derive(Debug, thiserror::Error)]
pub enum AdminSignInError {
    /// Too many attempts from one network, or at one account.
    #[error(transparent)]
    TooFast(#[from] RateLimited),
    /// A wrong name, passphrase or code; which one is not revealed.
    #[error("the name, the passphrase or the code is wrong")]
    Wrong,
    /// Passphrases cannot be checked at the moment.
    #[error(transparent)]
    Busy(#[from] PassphraseError),
    /// The provider's identity has no account here, or a locked one.
    #[error("this account at the provider has no permissions here")]
    NoRole,
    /// Sign-in at the provider failed.
    #[error(transparent)]
    Provider(#[from] OidcError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AdminSignInError {
    /// Returns the label value in metrics.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::TooFast(_) => "limited",
            Self::Wrong => "wrong",
            Self::Busy(_) => "busy",
            Self::NoRole => "no_role",
            Self::Provider(_) => "provider",
            Self::Store(_) => "storage",
        }
    }
}

/// Credentials of a sign-in.
#[derive(Debug, Clone, Copy)]
pub struct Credentials<'c> {
    /// Name as it was typed.
    pub name: &'c str,
    /// Passphrase.
    pub passphrase: &'c str,
    /// Code of the second factor, or a recovery code; empty where there is none.
    pub code: &'c str,
}

/// Origin of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestOrigin {
    /// Address, for the audit log.
    pub address: String,
    /// Pseudonym of the network, for limits.
    pub network: String,
}

/// Signs admins in and out.
pub struct AdminSessions {
    pub(super) store: Store,
    users: Arc<AdminUsers>,
    limits: Arc<RateLimits>,
    pub(super) settings: CurrentSettings,
    pub(super) rng: Arc<SharedRng>,
    pub(super) clock: Arc<dyn Clock>,
}

impl AdminSessions {
    /// Creates the service.
    #[must_use]
    pub fn new(users: Arc<AdminUsers>, limits: Arc<RateLimits>, settings: CurrentSettings) -> Self {
        let (store, rng, clock) = (users.store.clone(), Arc::clone(&users.rng), Arc::clone(&users.clock));
        Self { store, users, limits, settings, rng, clock }
    }

    /// Signs a user in and returns the token of a new session; an earlier session of the browser is ignored.
    ///
    /// # Errors
    /// [`AdminSignInError`].
    pub async fn sign_in(&self, given: Credentials<'_>, from: &RequestOrigin) -> Result<String, AdminSignInError> {
        let signed_in = self.try_sign_in(given, from).await;
        signed_in.inspect_err(|error| metrics::refused(LimitedAction::AdminSignIn.as_str(), error.as_str()))
    }

    async fn try_sign_in(&self, given: Credentials<'_>, from: &RequestOrigin) -> Result<String, AdminSignInError> {
        let name = account::parse_name(given.name).ok();
        self.limits.take_admin_sign_in(name.as_deref().unwrap_or(UNKNOWN_NAME_KEY), &from.network).await?;
        let user = match &name {
            Some(name) => self.store.admin_user(name).await?,
            None => None,
        };
        // Verified for unknown users too, so that an unknown name takes as long as a wrong passphrase.
        let hash = user.as_ref().map_or("", |user| user.passphrase_hash.as_str());
        let is_right = self.users.passphrases.is_hash_of(hash, given.passphrase).await?;
        let is_let_in = |user: &AdminUserRow| is_right && user.disabled_at.is_none() && user.provider.is_none();
        let user = user.filter(is_let_in).ok_or(AdminSignInError::Wrong)?;
        if !self.users.verify_second_factor(&user, given.code).await? {
            return Err(AdminSignInError::Wrong);
        }
        Ok(self.begin(&user, &from.address).await?)
    }

    /// Begins a session of a user, and returns its token.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn begin(&self, user: &AdminUserRow, address: &str) -> Result<String, StoreError> {
        let (token, id, created_at) = (self.rng.token(), self.rng.id(self.clock.as_ref()), self.clock.now());
        let hours = i64::from(self.settings.now().admin.session_hours);
        let session = NewAdminSession {
            id: &id,
            token_hash: &session_hash(&token),
            user_id: &user.id,
            address,
            created_at,
            expires_at: Timestamp(created_at.0 + hours * 60 * MINUTE_MS),
        };
        let actor = Actor { name: user.name.clone(), via: ActedVia::Page, address: address.to_owned() };
        let mut entry = actor.entry(&self.rng, self.clock.as_ref(), AdminAction::SignIn, &user.name);
        entry.latter = audit_json(&match user.provider {
            None => json!({ "second_factor": user.totp_secret.is_some() }),
            Some(_) => json!({ "provider": self.settings.now().oidc.issuer }),
        });
        self.store.begin_admin_session(session, &entry).await?;
        Ok(token)
    }

    /// Returns the valid session of a token, with its user's current permissions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn find(&self, token: &str) -> Result<Option<AdminSessionRow>, StoreError> {
        let Some(session) = self.find_by_hash(&session_hash(token)).await? else { return Ok(None) };
        let now = self.clock.now();
        if now.0 - session.seen_at.0 >= MINUTE_MS {
            self.store.touch_admin_session(&session.id, now).await?;
        }
        Ok(Some(session))
    }

    /// Returns the valid session whose token has this hash.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn find_by_hash(&self, hash: &str) -> Result<Option<AdminSessionRow>, StoreError> {
        self.store.admin_session(hash, self.age()).await
    }

    /// Lists the sessions of a user, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list(&self, user_id: &str) -> Result<Vec<AdminSessionRow>, StoreError> {
        self.store.admin_sessions_of(user_id, self.age()).await
    }

    /// Ends the user's own session or another one of theirs. Returns whether it was valid.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn end(&self, id: &str, own: &AdminSessionRow, actor: &Actor) -> Result<bool, StoreError> {
        let action = if id == own.id { AdminAction::SignOut } else { AdminAction::EndSession };
        let entry = actor.entry(&self.rng, self.clock.as_ref(), action, &own.name);
        self.store.end_admin_session(id, &own.user_id, self.clock.now(), &entry).await
    }

    fn age(&self) -> SessionAge {
        let now = self.clock.now();
        let idle = i64::from(self.settings.now().admin.idle_minutes) * MINUTE_MS;
        SessionAge { now, seen_after: Timestamp(now.0 - idle) }
    }
}

/// Computes the stored hash of a session's token, which has 128 random bits.
#[must_use]
pub fn session_hash(token: &str) -> String {
    hex(&Sha256::digest(format!("langya admin session {token}")))
}
