//! Rate limits and concurrency limits for each visitor, each network and the arena as a whole, in a minute, an hour and a day.
//!
//! Several instances count together in Redis, and in PostgreSQL while Redis is unavailable. If the database does not answer either, each
//! instance counts by itself at the same rates. Granted uses are always counted locally too, so that a process can refuse a known excess
//! without asking a backend.

mod concurrency;
mod gcra;
mod postgres_counts;
pub mod proof_of_work;
mod rate_limits;
mod redis_counts;
mod single_use;

use std::time::Duration;

use crate::domain::battle::VisitorId;
use crate::redis::RedisHandle;
use crate::storage::Store;

pub use concurrency::TurnPermit;
pub use rate_limits::RateLimits;
pub use single_use::SingleUse;

/// Backends that count for all instances.
#[derive(Clone)]
pub struct SharedBackends {
    /// Counts while it is available.
    pub redis: RedisHandle,
    /// Counts otherwise; a SQLite database does not, since only one process uses it.
    pub store: Store,
}

/// Rate-limited action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedAction {
    /// A battle, a further question, or a reply that is generated again.
    Turn,
    /// A vote.
    Vote,
    /// A battle that a client resumes.
    Resume,
    /// The text of a reply, requested again by a client, or the rendered texts of a campaign's assignment.
    Text,
    /// An image upload.
    Image,
    /// A sign-in attempt.
    SignIn,
    /// An admin sign-in attempt.
    AdminSignIn,
    /// An unknown API key.
    WrongKey,
}

impl LimitedAction {
    /// Returns the name in metrics and keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turns",
            Self::Vote => "votes",
            Self::Resume => "resumes",
            Self::Text => "texts",
            Self::Image => "images",
            Self::SignIn => "sign_ins",
            Self::AdminSignIn => "admin_sign_ins",
            Self::WrongKey => "wrong_keys",
        }
    }

    /// Returns the name in messages.
    fn shown(self) -> &'static str {
        match self {
            Self::Resume => "reconnections",
            Self::SignIn | Self::AdminSignIn => "sign-ins",
            Self::WrongKey => "wrong keys",
            Self::Text => "requests for texts",
            Self::Turn | Self::Vote | Self::Image => self.as_str(),
        }
    }
}

/// Scope of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitScope {
    /// One visitor.
    Visitor,
    /// One network.
    Network,
    /// One admin account.
    Account,
    /// The whole arena.
    Arena,
}

impl LimitScope {
    /// Returns the name in metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Visitor => "visitor",
            Self::Network => "network",
            Self::Account => "account",
            Self::Arena => "arena",
        }
    }
}

/// Visitor and network of a request, as pseudonyms.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Pseudonym of the visitor.
    pub visitor: VisitorId,
    /// Network of the address; `None`, and then not counted, if it is unknown or this machine.
    pub network: Option<String>,
}

/// Error of a rate limit. Nothing was done or stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("too many {what} {whose}: try again in {seconds} s", what = .act.shown(), whose = self.subject_name(), seconds = self.seconds())]
pub struct RateLimited {
    /// The limited action.
    pub act: LimitedAction,
    /// Scope of the limit.
    pub scope: LimitScope,
    /// Time to wait.
    pub wait: Duration,
}

impl RateLimited {
    /// Returns whole seconds to wait, 1 or more.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        self.wait.as_secs() + u64::from(self.wait.subsec_nanos() > 0)
    }

    fn subject_name(&self) -> &'static str {
        match self.scope {
            LimitScope::Visitor => "of yours",
            LimitScope::Network => "from your network",
            LimitScope::Account => "to this account",
            LimitScope::Arena => "from all visitors of this arena",
        }
    }
}

/// Reason why a turn may not begin. Nothing was done or stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnRefused {
    /// Too many turns in too short a time.
    #[error(transparent)]
    TooFast(#[from] RateLimited),
    /// Too many concurrent turns of the visitor or the network.
    #[error("too many battles of yours or of your network are being answered: wait until one ends, or stop one")]
    TooManyAtOnce,
}
