//! Which battles a run of judges is about.

use super::sample::Sample;
use crate::time::Timestamp;

/// Which battles are judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scope {
    /// The share of all.
    pub sample: Sample,
    /// Voted on at this moment or later.
    pub since: Timestamp,
    /// Voted on before this moment.
    pub until: Timestamp,
    /// Only battles whose votes come after this one in the log.
    pub after: i64,
    /// Maximum number of battles; those that a smaller share would include come first.
    pub at_most: usize,
    /// Whether to ask again what was refused or could not be read.
    pub retry_failed: RetryFailed,
}

/// Whether a run asks again what was refused or could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryFailed {
    /// It does not.
    No,
    /// It does.
    Yes,
}

impl Scope {
    /// A share of all battles.
    #[must_use]
    pub fn all(sample: Sample) -> Self {
        let (since, until) = (Timestamp(i64::MIN), Timestamp(i64::MAX));
        Self { sample, since, until, after: 0, at_most: usize::MAX, retry_failed: RetryFailed::No }
    }
}
