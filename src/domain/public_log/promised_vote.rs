//! Promised votes, from stored data: the same promise can be signed again at any time.

use std::time::Duration;

use serde::Deserialize;

use super::promise::VotePromise;
use crate::battle::record::VoteRow;
use crate::battle::{BattleId, ModelId, Outcome};
use crate::time::Timestamp;

/// Maximum delay between a vote and its log entry, unless leaderboards are computed less often.
const MAX_INCLUSION_DELAY: Duration = Duration::from_secs(60);
/// Maximum delay between a leaderboard and its log entries.
const MAX_DELAY_AFTER_LEADERBOARD: Duration = Duration::from_secs(50);
/// Maximum number of votes appended in one step.
pub const VOTES_PER_STEP: u32 = 500;
/// Number of votes that are appended within a minute even if a step with its pause takes 15 s.
pub const FEW_UNLOGGED: u64 = 2_000;
/// Maximum backlog at which inclusion of a vote is promised, whatever the deadline.
pub const MAX_UNLOGGED: u64 = 10_000;

/// Returns the maximum delay of a log entry, given the leaderboard interval: the log is updated after each leaderboard.
#[must_use]
pub fn included_within(leaderboards_every: Duration) -> Duration {
    MAX_INCLUSION_DELAY.max(leaderboards_every + MAX_DELAY_AFTER_LEADERBOARD)
}

/// Returns the maximum backlog at which inclusion of another vote is promised `within` this time.
#[must_use]
pub fn promised_backlog(within: Duration) -> u64 {
    (FEW_UNLOGGED.saturating_mul(within.as_secs()) / MAX_INCLUSION_DELAY.as_secs()).min(MAX_UNLOGGED)
}

/// Returns the deadline for a vote's log entry.
#[must_use]
pub fn included_by(cast_at: Timestamp, within: Duration) -> Timestamp {
    Timestamp(cast_at.0.saturating_add(i64::try_from(within.as_millis()).unwrap_or(i64::MAX)))
}

/// Vote that is promised to be in the log.
#[derive(Debug, Clone, Copy)]
pub struct PromisedVote<'v> {
    /// Id of the vote.
    pub id: &'v str,
    /// Id of the battle.
    pub battle: &'v BattleId,
    /// The models on sides A and B.
    pub models: &'v [ModelId; 2],
    /// Outcome of the vote.
    pub outcome: Outcome,
    /// Time of the vote.
    pub cast_at: Timestamp,
    /// Deadline for the log entry, in milliseconds since 1970.
    pub included_by: i64,
}

/// Promise data in a stored receipt.
#[derive(Deserialize)]
struct StoredPromise {
    included_by: Option<i64>,
}

impl<'v> PromisedVote<'v> {
    /// Reads a stored vote; `None` if it has no promise, such as an imported one.
    #[must_use]
    pub fn of_row(row: &'v VoteRow) -> Option<Self> {
        let included_by = serde_json::from_str::<StoredPromise>(&row.receipt).ok()?.included_by?;
        let VoteRow { id, battle, models, outcome, created_at, .. } = row;
        Some(Self { id, battle, models, outcome: *outcome, cast_at: *created_at, included_by })
    }

    /// Builds the promise.
    #[must_use]
    pub fn promise(&self) -> VotePromise {
        let [model_a, model_b] = self.models.each_ref().map(|model| model.as_str().to_owned());
        VotePromise {
            vote: self.id.to_owned(),
            battle: self.battle.as_str().to_owned(),
            model_a,
            model_b,
            winner: self.outcome.winner().to_owned(),
            time: self.cast_at.0,
            included_by: self.included_by,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_leaderboards_make_for_later_promises() {
        let within = |seconds| included_within(Duration::from_secs(seconds)).as_secs();
        assert_eq!((within(1), within(10), within(600)), (60, 60, 650));
    }

    #[test]
    fn more_votes_may_wait_where_promises_are_for_later() {
        let backlog = |seconds| promised_backlog(Duration::from_secs(seconds));
        assert_eq!([60, 120, 650, u64::MAX].map(backlog), [FEW_UNLOGGED, 4_000, MAX_UNLOGGED, MAX_UNLOGGED]);
    }
}
