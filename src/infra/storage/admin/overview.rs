//! Counts for the admin overview: models, votes and review queues.

use crate::domain::time::Timestamp;
use crate::storage::{FailureCount, Store, StoreError};

const DAY_MS: i64 = 24 * 3_600_000;
/// Maximum number of failure kinds listed.
const MAX_LISTED_FAILURES: u32 = 20;

/// Counts from the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminOverview {
    /// Number of the latest vote.
    pub last_vote: i64,
    /// Number of votes in the last 24 hours.
    pub votes_of_day: u64,
    /// Number of unreviewed leaks.
    pub open_leaks: u64,
    /// Number of undecided text deletion requests.
    pub open_requests: u64,
    /// Number of undecided flagged texts.
    pub open_flags: u64,
    /// Failures of the last 24 hours.
    pub failures: Vec<FailureCount>,
}

impl Store {
    /// Computes the counts of the overview.
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
            failures: self.failures_since(since, MAX_LISTED_FAILURES).await?,
        })
    }
}
