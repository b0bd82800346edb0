//! Rate limits and concurrency limits for each visitor, each network and the arena as a whole, in a minute, an hour and a day.
//!
//! Several instances count together in Redis, and in PostgreSQL while Redis cannot be asked. Where the database does not answer
//! either, each counts by itself at the same rates. What was granted is always counted here too: a process refuses without asking
//! what it knows to be too much.

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

/// Where instances count together.
#[derive(Clone)]
pub struct SharedBackends {
    /// Counts, as long as it can be asked.
    pub redis: RedisHandle,
    /// Counts otherwise; a SQLite database does not, since one process serves it.
    pub store: Store,
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedAction {
    /// A battle, a further question, or a reply that is generated again.
    Turn,
    /// A vote.
    Vote,
    /// A battle that a client comes back to.
    Resume,
    /// An image that is sent.
    Image,
    /// A try to sign in.
    SignIn,
    /// A try to sign in to the admin.
    AdminSignIn,
    /// An unknown API key.
    WrongKey,
}

impl LimitedAction {
    /// The word in metrics and keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turns",
            Self::Vote => "votes",
            Self::Resume => "resumes",
            Self::Image => "images",
            Self::SignIn => "sign_ins",
            Self::AdminSignIn => "admin_sign_ins",
            Self::WrongKey => "wrong_keys",
        }
    }

    /// The word in messages.
    fn shown(self) -> &'static str {
        match self {
            Self::Resume => "reconnections",
            Self::SignIn | Self::AdminSignIn => "sign-ins",
            Self::WrongKey => "wrong keys",
            Self::Turn | Self::Vote | Self::Image => self.as_str(),
        }
    }
}

/// Whose limit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitScope {
    /// One visitor's.
    Visitor,
    /// One network's.
    Network,
    /// One account's of the admin.
    Account,
    /// The arena's.
    Arena,
}

impl LimitScope {
    /// The word in metrics.
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
    /// The visitor.
    pub visitor: VisitorId,
    /// The network of the address; `None` where it is unknown, or this very machine: then no network is counted.
    pub network: Option<String>,
}

/// Too much in too short a time. Nothing was done or kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("too many {what} {whose}: try again in {seconds} s", what = .act.shown(), whose = self.whose(), seconds = self.seconds())]
pub struct RateLimited {
    /// What was too much.
    pub act: LimitedAction,
    /// Whose limit it is.
    pub scope: LimitScope,
    /// How long to wait.
    pub wait: Duration,
}

impl RateLimited {
    /// Whole seconds to wait, 1 or more.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        self.wait.as_secs() + u64::from(self.wait.subsec_nanos() > 0)
    }

    fn whose(&self) -> &'static str {
        match self.scope {
            LimitScope::Visitor => "of yours",
            LimitScope::Network => "from your network",
            LimitScope::Account => "to this account",
            LimitScope::Arena => "from all visitors of this arena",
        }
    }
}

/// Why a turn may not begin. Nothing was done or kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnRefused {
    /// Too many turns in too short a time.
    #[error(transparent)]
    TooFast(#[from] RateLimited),
    /// Too many turns of the visitor or the network are being answered.
    #[error("too many battles of yours or of your network are being answered: wait until one ends, or stop one")]
    TooManyAtOnce,
}
