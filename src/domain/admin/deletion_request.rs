//! Requests to delete what was said in battles.

use std::str::FromStr;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionScope {
    /// The texts of one battle.
    Battle,
    /// The texts of all battles of its visitor.
    Visitor,
}

/// Where a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionRequestState {
    /// Nobody has decided it.
    Open,
    /// The texts are deleted.
    Done,
    /// They stay, with a reason.
    Refused,
}

/// No scope or state has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope or state of a request")]
pub struct UnknownRequestWord;

impl DeletionScope {
    /// All scopes.
    pub const ALL: [Self; 2] = [Self::Battle, Self::Visitor];

    /// Name in the database and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Battle => "battle",
            Self::Visitor => "visitor",
        }
    }
}

impl DeletionRequestState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Open, Self::Done, Self::Refused];

    /// Name in the database and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Refused => "refused",
        }
    }
}

impl FromStr for DeletionScope {
    type Err = UnknownRequestWord;

    fn from_str(text: &str) -> Result<Self, UnknownRequestWord> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(UnknownRequestWord)
    }
}

impl FromStr for DeletionRequestState {
    type Err = UnknownRequestWord;

    fn from_str(text: &str) -> Result<Self, UnknownRequestWord> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(UnknownRequestWord)
    }
}
