//! The promise that a voter gets with the receipt. It is signed in memory after the commit, and signed again alike for whoever asks
//! again: all that it says is in the vote's row.

use std::time::Duration;

use serde::Deserialize;

use super::PublicLog;
use crate::domain::battle::{BattleId, ModelId, Outcome};
use crate::domain::public_log::promise::VotePromise;
use crate::domain::time::Timestamp;
use crate::infra::config::RatingSettings;
use crate::infra::storage::VoteRow;

/// A vote is in the log so long after it was cast, at the latest, unless leaderboards come more rarely.
const INCLUDED_WITHIN: Duration = Duration::from_secs(60);
/// What the log takes after a leaderboard, at the latest.
const AFTER_LEADERBOARD: Duration = Duration::from_secs(50);

/// How long after it was cast a vote is in the log at the latest: the log follows the leaderboard.
#[must_use]
pub fn included_within(rating: &RatingSettings) -> Duration {
    INCLUDED_WITHIN.max(Duration::from_secs(rating.group_seconds.into()) + AFTER_LEADERBOARD)
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

impl PublicLog {
    /// The signed promise that a vote will be in the log.
    #[must_use]
    pub fn promise(&self, vote: &PromisedVote<'_>) -> String {
        self.key.sign_promise(&vote.promise())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_leaderboards_make_for_later_promises() {
        let within =
            |group_seconds| included_within(&RatingSettings { group_seconds, ..RatingSettings::default() }).as_secs();
        assert_eq!((within(1), within(10), within(600)), (60, 60, 650));
    }
}
