//! Range of votes to read from the log.

use crate::time::Timestamp;

/// Range of votes to read: `after < seq ≤ upto`, cast in `[since, until)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VoteRange {
    /// Exclusive lower bound of the sequence number.
    pub after: i64,
    /// Inclusive upper bound of the sequence number.
    pub upto: i64,
    /// Inclusive lower bound of the time.
    pub since: Timestamp,
    /// Exclusive upper bound of the time.
    pub until: Timestamp,
}

impl VoteRange {
    /// All votes.
    pub const ALL: Self = Self { after: 0, upto: i64::MAX, since: Timestamp(i64::MIN), until: Timestamp(i64::MAX) };
}
