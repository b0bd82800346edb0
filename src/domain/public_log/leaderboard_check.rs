//! Verification of a published leaderboard against the log.

use serde_json::Value;

use super::recount::{RatingRules, Recount, RecountError, differences};
use crate::rating::FitError;

/// Error of a published leaderboard that disagrees with a log.
#[derive(Debug, thiserror::Error)]
pub enum LeaderboardCheckError {
    /// The entries yield no leaderboard.
    #[error(transparent)]
    Recount(#[from] RecountError),
    /// The published rating rules are invalid.
    #[error(transparent)]
    Rules(#[from] FitError),
    /// The published leaderboard differs from the recount, at these JSON pointers.
    #[error("the leaderboard does not follow from the log:\n{}", .0.join("\n"))]
    Differs(Vec<String>),
}

impl LeaderboardCheckError {
    /// Whether the cause may be votes or exclusions between reading the leaderboard and reading the log.
    #[must_use]
    pub fn may_be_outdated(&self) -> bool {
        matches!(self, Self::Differs(_) | Self::Recount(RecountError::TooFew(_)))
    }
}

/// Recomputes a published leaderboard from a log's entries and the published rules, and returns its number of votes. The confidence level
/// is the one named by the leaderboard: while instances are restarted with another level, some still publish the former one.
pub fn check_leaderboard(
    recount: &Recount,
    published: &Value,
    rules: &RatingRules,
) -> Result<u64, LeaderboardCheckError> {
    let votes = published["votes"]["read"].as_u64().unwrap_or(0);
    let confidence = published["confidence"].as_f64().unwrap_or(rules.confidence);
    let options = RatingRules { confidence, ..*rules }.options()?;
    let recounted = recount.leaderboard(usize::try_from(votes).unwrap_or(usize::MAX), &options)?;
    let found = differences(published, &recounted);
    if found.is_empty() { Ok(votes) } else { Err(LeaderboardCheckError::Differs(found)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::public_log::recount::tests::RULES;

    const VOTES: usize = 60;

    fn recount() -> Recount {
        let mut recount = Recount::default();
        for seq in 1..=VOTES {
            let winner = ["model_a", "model_a", "model_b", "tie"][seq % 4];
            let vote = json!({
                "seq": seq, "time": seq, "model_a": "one", "model_b": "two", "winner": winner, "turn": 1, "language": "en",
                "pairing_policy": "uniform", "pair_probability": 1.0, "voter": format!("voter {}", seq % 7), "commitment": "",
            });
            recount.add(json!({ "vote": vote }).to_string().as_bytes()).unwrap();
        }
        recount
    }

    #[test]
    fn a_leaderboard_is_recounted_at_the_confidence_level_that_it_names() {
        let recount = recount();
        let published = |confidence: f64| {
            let options = RatingRules { confidence, ..RULES }.options().unwrap();
            serde_json::to_value(recount.leaderboard(VOTES, &options).unwrap()).unwrap()
        };
        let mut former = published(0.9);
        assert_ne!(former["models"], published(0.95)["models"]);
        assert_eq!(check_leaderboard(&recount, &former, &RULES).unwrap(), VOTES as u64);
        former["confidence"] = json!(0.95);
        assert!(matches!(check_leaderboard(&recount, &former, &RULES), Err(LeaderboardCheckError::Differs(_))));
        former["confidence"] = json!(1.5);
        assert!(matches!(check_leaderboard(&recount, &former, &RULES), Err(LeaderboardCheckError::Rules(_))));
    }
}
