//! State of the periodic voter check.

use crate::time::Timestamp;

/// State of the periodic voter check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VoterCheckState {
    /// Time of the latest successful check.
    pub checked_at: Option<Timestamp>,
    /// Time since which all checks have failed; no voter is excluded meanwhile.
    pub failing_since: Option<Timestamp>,
    /// Number of voters that a test of the latest check found suspicious without flagging them, since they were more than a quarter of all
    /// voters; `None` where no test did so.
    pub withheld: Option<u64>,
}
