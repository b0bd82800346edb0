//! Whether a published leaderboard follows from the log.

use serde_json::Value;

use super::recount::{RatingRules, Recount, RecountError, differences};
use crate::rating::FitError;

/// Why a published leaderboard does not agree with a log.
#[derive(Debug, thiserror::Error)]
pub enum LeaderboardCheckError {
    /// No leaderboard follows from the entries.
    #[error(transparent)]
    Recount(#[from] RecountError),
    /// The published rules of the fit cannot be used.
    #[error(transparent)]
    Rules(#[from] FitError),
    /// The published leaderboard does not follow from the log.
    #[error("the leaderboard does not follow from the log:\n{}", .0.join("\n"))]
    Differs(Vec<String>),
}

impl LeaderboardCheckError {
    /// Whether votes or exclusions may have come between the reading of the leaderboard and of the log.
    #[must_use]
    pub fn may_be_outdated(&self) -> bool {
        matches!(self, Self::Differs(_) | Self::Recount(RecountError::TooFew(_)))
    }
}

/// Recomputes a published leaderboard from the entries of a log by the published rules, and returns its number of votes.
///
/// # Errors
/// [`LeaderboardCheckError`].
pub fn check_leaderboard(
    recount: &Recount,
    published: &Value,
    rules: &RatingRules,
) -> Result<u64, LeaderboardCheckError> {
    let votes = published["votes"]["read"].as_u64().unwrap_or(0);
    let recounted = recount.leaderboard(usize::try_from(votes).unwrap_or(usize::MAX), &rules.options()?)?;
    let found = differences(published, &recounted);
    if found.is_empty() { Ok(votes) } else { Err(LeaderboardCheckError::Differs(found)) }
}
