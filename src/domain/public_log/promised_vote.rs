//! A vote that a voter is promised to find in the log, from what is stored of it: the promise can be signed again alike at any time.

use std::time::Duration;

use serde::Deserialize;

use super::promise::VotePromise;
use crate::battle::record::VoteRow;
use crate::battle::{BattleId, ModelId, Outcome};
use crate::time::Timestamp;

/// A vote is in the log so long after it was cast, at the latest, unless leaderboards come more rarely.
const INCLUDED_WITHIN: Duration = Duration::from_secs(60);
/// What the log takes after a leaderboard, at the latest.
const AFTER_LEADERBOARD: Duration = Duration::from_secs(50);

/// How long after it was cast a vote is in the log at the latest, where leaderboards come this often: the log follows them.
#[must_use]
pub fn included_within(leaderboards_every: Duration) -> Duration {
    INCLUDED_WITHIN.max(leaderboards_every + AFTER_LEADERBOARD)
}

/// When a vote is in the log at the latest.
#[must_use]
pub fn included_by(cast_at: Timestamp, within: Duration) -> Timestamp {
    Timestamp(cast_at.0.saturating_add(i64::try_from(within.as_millis()).unwrap_or(i64::MAX)))
}

/// A vote that is promised to be in the log.
#[derive(Debug, Clone, Copy)]
pub struct PromisedVote<'v> {
    /// Its id.
    pub id: &'v str,
    /// Its battle.
    pub battle: &'v BattleId,
    /// The models on sides A and B.
    pub models: &'v [ModelId; 2],
    /// What the person said.
    pub outcome: Outcome,
    /// When it was cast.
    pub cast_at: Timestamp,
    /// When it is in the log at the latest, in milliseconds since 1970.
    pub included_by: i64,
}

/// What of a stored receipt says that a promise was made.
#[derive(Deserialize)]
struct StoredPromise {
    included_by: Option<i64>,
}

impl<'v> PromisedVote<'v> {
    /// A stored vote; `None` for one that nothing was promised of, such as an imported one.
    #[must_use]
    pub fn of_row(row: &'v VoteRow) -> Option<Self> {
        let included_by = serde_json::from_str::<StoredPromise>(&row.receipt).ok()?.included_by?;
        let VoteRow { id, battle, models, outcome, created_at, .. } = row;
        Some(Self { id, battle, models, outcome: *outcome, cast_at: *created_at, included_by })
    }

    /// The promise.
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
}
