//! Which votes of the log are read.

use crate::time::Timestamp;

/// Which votes are read: `after < seq ≤ upto`, cast in `[since, until)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VoteRange {
    /// The last vote that is known already.
    pub after: i64,
    /// The last vote to read.
    pub upto: i64,
    /// The earliest time.
    pub since: Timestamp,
    /// The first time that is too late.
    pub until: Timestamp,
}

impl VoteRange {
    /// All votes.
    pub const ALL: Self = Self { after: 0, upto: i64::MAX, since: Timestamp(i64::MIN), until: Timestamp(i64::MAX) };
}
