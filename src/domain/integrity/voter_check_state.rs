//! How the checks of voters are doing.

use crate::time::Timestamp;

/// How the checks are doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VoterCheckState {
    /// When the latest check ended well.
    pub checked_at: Option<Timestamp>,
    /// Since when all have failed; nobody is excluded meanwhile.
    pub failing_since: Option<Timestamp>,
    /// Number of voters who seemed suspicious to a test of the latest check that flagged nobody, since they were more than a quarter of
    /// all voters; `None` where no test did so.
    pub withheld: Option<u64>,
}
