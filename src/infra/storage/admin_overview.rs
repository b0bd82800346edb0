//! What an operator looks at first: how the models and the votes are doing.

use super::{FailureCount, Store, StoreError};
use crate::domain::time::Timestamp;

const DAY_MS: i64 = 24 * 3_600_000;
/// Kinds of failures that are listed.
const FAILURES: u32 = 20;

/// The counts from the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminOverview {
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

impl Store {
    /// Counts what the overview shows.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn admin_overview(&self, now: Timestamp) -> Result<AdminOverview, StoreError> {
        let since = Timestamp(now.0 - DAY_MS);
        Ok(AdminOverview {
            last_vote: self.last_vote_seq().await?,
            votes_of_day: self.votes_since(since).await?,
            open_leaks: self.open_leaks().await?,
            open_requests: self.open_deletion_requests().await?,
            open_flags: self.open_flags().await?,
            failures: self.failures_since(since, FAILURES).await?,
        })
    }
}
