//! Selection of the battles of a judging run.

use super::sample::Sample;
use crate::time::Timestamp;

/// Selection of the battles to judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scope {
    /// Sample of all battles.
    pub sample: Sample,
    /// Earliest time of the vote, inclusive.
    pub since: Timestamp,
    /// Latest time of the vote, exclusive.
    pub until: Timestamp,
    /// Sequence number in the log after which votes are included.
    pub after: i64,
    /// Maximum number of battles; those of a smaller sample come first.
    pub at_most: usize,
    /// Whether refused or unreadable games are judged again.
    pub retry_failed: RetryFailed,
}

/// Whether a run judges refused or unreadable games again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryFailed {
    /// Failed games are not judged again.
    No,
    /// Failed games are judged again.
    Yes,
}

impl Scope {
    /// Selects from all battles.
    #[must_use]
    pub fn all(sample: Sample) -> Self {
        let (since, until) = (Timestamp(i64::MIN), Timestamp(i64::MAX));
        Self { sample, since, until, after: 0, at_most: usize::MAX, retry_failed: RetryFailed::No }
    }
}
