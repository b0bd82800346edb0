//! What an operator looks at first: how the models and the votes are doing.

use crate::domain::time::Timestamp;
use crate::infra::storage::{FailureCount, Store, StoreError};

const DAY_MS: i64 = 24 * 3_600_000;
/// Kinds of failures that are listed.
const FAILURES: u32 = 20;

/// The counts from the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// Number of the latest vote.
    pub last_vote: i64,
    /// Votes of the last 24 hours.
    pub votes_of_day: u64,
    /// Leaks that nobody has looked at.
    pub open_leaks: u64,
    /// Requests to delete texts that nobody has decided.
    pub open_requests: u64,
    /// Flagged texts that nobody has decided.
    pub open_flags: u64,
    /// Failures of the last 24 hours.
    pub failures: Vec<FailureCount>,
}

/// Reads them.
///
/// # Errors
/// [`StoreError`].
pub async fn overview(store: &Store, now: Timestamp) -> Result<Overview, StoreError> {
    let since = Timestamp(now.0 - DAY_MS);
    Ok(Overview {
        last_vote: store.last_vote_seq().await?,
        votes_of_day: store.votes_since(since).await?,
        open_leaks: store.open_leaks().await?,
        open_requests: store.open_deletion_requests().await?,
        open_flags: store.open_flags().await?,
        failures: store.failures_since(since, FAILURES).await?,
    })
}
