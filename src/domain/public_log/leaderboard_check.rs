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

/// Recomputes a published leaderboard from the entries of a log by the published rules, and returns its number of votes. The confidence
/// level is the one that the leaderboard names: while instances are restarted with another one, some publish the former.
///
/// # Errors
/// [`LeaderboardCheckError`].
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
