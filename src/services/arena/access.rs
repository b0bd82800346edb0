//! Access control of the arena: open to everyone, or to visitors signed in by an invite code, the arena's passphrase or an account at the
//! provider.
//!
//! A sign-in is a row of the session. Each request and each socket checks it; open sockets are ended by [`SignedIn::ended`], which the
//! instance that signs out triggers at once and [`Access::follow_sign_outs`] on the others.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::instances::ArenaInstances;
use crate::domain::access::invite_code;
use crate::domain::battle::VisitorId;
use crate::domain::time::Timestamp;
use crate::infra::config::{AccessMode, CurrentSettings};
use crate::infra::limits::{LimitedAction, RateLimited, RateLimits};
use crate::infra::metrics;
use crate::infra::oidc::{Identity, OidcError};
use crate::infra::passphrase_hash::{PassphraseChecks, code_hash};
use crate::infra::sessions::{NewSession, Session, Sessions};
use crate::infra::storage::{NewSignIn, SignInMethod, Store, StoreError};
use crate::infra::time::clock::Clock;

/// Look-back period for sign-outs: greater than the clock skew between instances and the command line.
const SIGN_OUT_LOOK_BACK: Duration = Duration::from_secs(600);
/// Error of a sign-in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Too many attempts from one network.
    #[error(transparent)]
    TooFast(#[from] RateLimited),
    /// No such code, or a wrong passphrase.
    #[error("this code or passphrase is not valid")]
    Wrong,
    /// The invite has expired.
    #[error("this invite has expired")]
    Expired,
    /// The invite has reached its maximum number of uses.
    #[error("this invite was used already")]
    UsedUp,
    /// The invite was revoked.
    #[error("this invite was revoked")]
    Revoked,
    /// Too many concurrent passphrase checks.
    #[error("many people are signing in: try again in a moment")]
    Busy,
    /// Sign-in at the provider failed.
    #[error(transparent)]
    Provider(#[from] OidcError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SignInError {
    /// Returns the label value in metrics.
    fn as_str(&self) -> &'static str {
        match self {
            Self::TooFast(_) => "network",
            Self::Wrong => "wrong",
            Self::Expired => "expired",
            Self::UsedUp => "used_up",
            Self::Revoked => "revoked",
            Self::Busy => "busy",
            Self::Provider(_) => "provider",
            Self::Store(_) => "storage",
        }
    }
}

/// Admission of a visitor, valid until `ended` is cancelled.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// Cancelled when the session signs out, another session continues its visitor, or its visitor's texts are deleted.
    pub ended: Arc<CancellationToken>,
    /// Time until expiry; `None` where the arena is open.
    pub left: Option<Duration>,
}

/// Signs visitors in and out, and checks their admission.
pub struct Access {
    store: Store,
    sessions: Arc<Sessions>,
    limits: Arc<RateLimits>,
    settings: CurrentSettings,
    clock: Arc<dyn Clock>,
    passphrases: PassphraseChecks,
    /// Cancellation tokens of open sockets, by visitor.
    watched: Mutex<HashMap<VisitorId, Weak<CancellationToken>>>,
}

impl Access {
    /// Creates the service.
    #[must_use]
    pub fn new(
        store: Store,
        sessions: Arc<Sessions>,
        limits: Arc<RateLimits>,
        settings: CurrentSettings,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (passphrases, watched) = (PassphraseChecks::default(), Mutex::default());
        Self { store, sessions, limits, settings, clock, passphrases, watched }
    }

    /// Returns the access mode in force.
    #[must_use]
    pub fn mode(&self) -> AccessMode {
        self.settings.now().access.mode
    }

    /// Returns the admission of this session's visitor. `None` if they have to sign in first; in an open arena, if the session has ended:
    /// its token may be known to another person, so a new session is needed ([`admit_new`](Self::admit_new)).
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn admit(&self, session: &VisitorId) -> Result<Option<SignedIn>, StoreError> {
        let method = match self.mode() {
            AccessMode::Open => return self.admit_open(session).await,
            AccessMode::Invite => SignInMethod::Invite(""),
            AccessMode::Passphrase => SignInMethod::Passphrase,
            AccessMode::Oidc => SignInMethod::Account,
        };
        // Watched before the look-up, so that no sign-out is missed in between.
        let ended = self.watch(session);
        let now = self.clock.now();
        let expiry = self.store.sign_in_expiry(session, method, now).await?;
        let left = |expiry: Timestamp| Duration::from_millis(u64::try_from(expiry.0 - now.0).unwrap_or(0));
        Ok(expiry.map(|expiry| SignedIn { ended, left: Some(left(expiry)) }))
    }

    async fn admit_open(&self, session: &VisitorId) -> Result<Option<SignedIn>, StoreError> {
        // Watched before the look-up, as above.
        let ended = self.watch(session);
        let acts = match self.acts_for_itself(session).await {
            // A tab that reconnects while the database is unavailable gets its battle from memory. No battle begins meanwhile.
            Err(error) if error.is_outage() => true,
            acts => acts?,
        };
        Ok(acts.then_some(SignedIn { ended, left: None }))
    }

    /// Returns the admission of a new session's visitor if the arena is open. Reads no database.
    #[must_use]
    pub fn admit_new(&self, session: &VisitorId) -> Option<SignedIn> {
        (self.mode() == AccessMode::Open).then(|| SignedIn { ended: self.watch(session), left: None })
    }

    /// Whether the session may still act for its account: not after sign-out, in any access mode.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn acts_for_account(&self, session: &VisitorId) -> Result<bool, StoreError> {
        let expiry = self.store.sign_in_expiry(session, SignInMethod::Account, self.clock.now()).await?;
        Ok(expiry.is_some())
    }

    /// Whether the session may still act for its visitor without an account: not after it was signed out or continued by another session. A
    /// visitor who never signed in, or whose sign-in expired, keeps access to their own texts.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn acts_for_itself(&self, session: &VisitorId) -> Result<bool, StoreError> {
        Ok(!self.store.has_signed_out(session).await?)
    }

    /// Signs a visitor in by an invite code or the passphrase, whichever this arena uses. The new session continues the visitor of the
    /// previous session and ends that session; its token is no longer valid.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn sign_in(&self, secret: &str, network: &str, previous: &Session) -> Result<NewSession, SignInError> {
        let signed_in = self.try_sign_in(secret, network, previous).await;
        signed_in.inspect_err(|error| metrics::refused(LimitedAction::SignIn.as_str(), error.as_str()))
    }

    async fn try_sign_in(&self, secret: &str, network: &str, previous: &Session) -> Result<NewSession, SignInError> {
        self.limits.take_sign_in(network).await?;
        match self.mode() {
            AccessMode::Passphrase if self.is_passphrase(secret).await? => {
                self.begin(SignInMethod::Passphrase, previous).await
            }
            AccessMode::Invite => self.use_invite(secret, previous).await,
            AccessMode::Open | AccessMode::Passphrase | AccessMode::Oidc => Err(SignInError::Wrong),
        }
    }

    /// Signs in an identity of the provider. All sessions of an account are one visitor, with one visitor's limits.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn sign_in_account(&self, identity: &Identity) -> Result<NewSession, SignInError> {
        if self.mode() != AccessMode::Oidc {
            return Err(SignInError::Wrong);
        }
        let new = self.sessions.issue_for(&identity.issuer, &identity.subject);
        self.store_sign_in(new, SignInMethod::Account, None).await
    }

    /// Signs a visitor out, and closes their sockets on this instance.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn sign_out(&self, visitor: &VisitorId) -> Result<(), StoreError> {
        self.store.sign_out(visitor, self.clock.now()).await?;
        self.end(visitor);
        Ok(())
    }

    /// Ends a session whose visitor continues as another one, and closes its sockets on this instance.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn end_session(&self, session: &VisitorId) -> Result<(), StoreError> {
        self.store.end_session(session, self.clock.now()).await?;
        self.end(session);
        Ok(())
    }

    /// Closes the sockets whose sessions were ended by another instance, or by the command that revokes an invite.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn follow_sign_outs(&self, instances: &ArenaInstances) -> Result<(), StoreError> {
        // An open arena with a single instance has ended its sessions itself.
        let is_open = self.mode() == AccessMode::Open;
        if self.forget_unwatched() == 0 || (is_open && instances.is_alone()) {
            return Ok(());
        }
        let look_back = i64::try_from(SIGN_OUT_LOOK_BACK.as_millis()).unwrap_or(i64::MAX);
        let ended = self.store.signed_out_since(Timestamp(self.clock.now().0 - look_back)).await?;
        ended.iter().for_each(|visitor| self.end(visitor));
        Ok(())
    }

    async fn use_invite(&self, typed: &str, previous: &Session) -> Result<NewSession, SignInError> {
        let hash = invite_code::normalised(typed).map(|code| code_hash(&code)).ok_or(SignInError::Wrong)?;
        match self.begin(SignInMethod::Invite(&hash), previous).await {
            Err(SignInError::Wrong) => {}
            done => return done,
        }
        // A holder of the code may learn why it does not work.
        let now = self.clock.now();
        let invite = self.store.invite(&hash).await?.ok_or(SignInError::Wrong)?;
        Err(match invite {
            invite if invite.revoked_at.is_some() => SignInError::Revoked,
            invite if invite.expires_at.is_some_and(|at| at <= now) => SignInError::Expired,
            _ => SignInError::UsedUp,
        })
    }

    /// Begins a session that continues the visitor of the previous one, unless that was signed out or belongs to an account.
    async fn begin(&self, method: SignInMethod<'_>, previous: &Session) -> Result<NewSession, SignInError> {
        if !previous.has_account {
            let again = self.sessions.issue_replacement(&previous.visitor);
            match self.store_sign_in(again, method, Some(&previous.id)).await {
                Ok(new) => {
                    self.end(&previous.id);
                    return Ok(new);
                }
                Err(SignInError::Wrong) => {}
                Err(error) => return Err(error),
            }
        }
        self.store_sign_in(self.sessions.issue(), method, None).await
    }

    async fn store_sign_in(
        &self,
        new: NewSession,
        method: SignInMethod<'_>,
        previous: Option<&VisitorId>,
    ) -> Result<NewSession, SignInError> {
        let now = self.clock.now();
        let days = i64::from(self.settings.now().access.session_days);
        let expires_at = Timestamp(now.0 + days * 24 * 3_600_000);
        let sign_in = NewSignIn { visitor: &new.session.id, previous, method, signed_in_at: now, expires_at };
        if self.store.sign_in(sign_in).await? { Ok(new) } else { Err(SignInError::Wrong) }
    }

    /// Whether this is the arena's passphrase. Takes the same time for any guess, also without a usable hash in the settings.
    async fn is_passphrase(&self, guess: &str) -> Result<bool, SignInError> {
        let settings = self.settings.now();
        let checked = self.passphrases.is_hash_of(settings.access.passphrase_hash.expose(), guess).await;
        checked.map_err(|_| SignInError::Busy)
    }

    /// Returns the cancellation token shared by a visitor's sockets.
    fn watch(&self, visitor: &VisitorId) -> Arc<CancellationToken> {
        let mut watched = self.watched.lock();
        let known = watched.get(visitor).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let token = Arc::new(CancellationToken::new());
            watched.insert(visitor.clone(), Arc::downgrade(&token));
            token
        })
    }

    /// Removes visitors without an open socket, and returns the number that remain.
    fn forget_unwatched(&self) -> usize {
        let mut watched = self.watched.lock();
        watched.retain(|_, token| token.strong_count() > 0);
        watched.len()
    }

    fn end(&self, visitor: &VisitorId) {
        let token = self.watched.lock().remove(visitor);
        if let Some(token) = token.as_ref().and_then(Weak::upgrade) {
            token.cancel();
        }
    }
}
