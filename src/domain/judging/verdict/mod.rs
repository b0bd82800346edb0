//! Parsers of judges' replies, one file per reply format. An unreadable reply is a [`VerdictError`], never a score.
//!
//! [`dictionary`](dimension_scores) parses scores by dimension with an overall score, [`rating`](bracketed_score) parses `[[7]]`,
//! [`pair`](pairwise) parses `[[A]]` and `[[A>>B]]`, and [`choice`](option_letter) parses the letter of a multiple-choice answer.
//! [`original_parsers`] reproduce the benchmarks' own programs, for comparison with their results.

pub mod bracketed_score;
pub mod dimension_scores;
mod number;
pub mod option_letter;
pub mod original_parsers;
pub mod pairwise;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

pub use self::option_letter::OptionLetter;
pub use self::pairwise::{GameResult, Margin, Preference};

/// Valid range of scores.
pub const SCORE_RANGE: RangeInclusive<f64> = 1.0..=10.0;

/// Judge's verdict on an answer or a pair of answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Verdict {
    /// A score.
    Rating(Rating),
    /// Preference between two answers.
    Pair {
        /// Preferred side, in the order that the judge saw.
        winner: Preference,
        /// Margin of the preference; `None` if the judge was not asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        margin: Option<Margin>,
    },
    /// The letter of a multiple-choice answer.
    Choice {
        /// Letter of the answer; `None` if the answer asserts no single one.
        choice: Option<OptionLetter>,
        /// Whether the letter is correct.
        correct: bool,
    },
}

/// Score, with scores by dimension if the judge gave any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// Overall score, 1 to 10.
    pub score: f64,
    /// Score written by the judge, if `score` is the [expected](super::token_probabilities::expected_score) one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<f64>,
    /// Score by dimension, 1 to 10. A dimension without a score in this range is absent.
    #[serde(rename = "rating", default)]
    pub dimensions: BTreeMap<String, f64>,
}

impl Rating {
    /// Creates a rating from the written scores.
    #[must_use]
    pub fn new(score: f64, dimensions: BTreeMap<String, f64>) -> Self {
        Self { score, written: None, dimensions }
    }
}

/// Error of a reply without a valid verdict.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum VerdictError {
    /// The reply does not have the requested format.
    #[error("the reply contains no verdict in the requested format")]
    Unreadable,
    /// The score is outside the valid range.
    #[error("the score {0} is outside 1 to 10")]
    OutOfRange(f64),
    /// The judge refused to judge.
    #[error("the judge refused")]
    Refused,
}

/// Beginnings of refusals. Only checked in a reply without a verdict.
const REFUSAL_PREFIXES: [&str; 12] = [
    "i'm sorry",
    "i’m sorry",
    "i am sorry",
    "sorry,",
    "i cannot",
    "i can't",
    "i can’t",
    "i'm unable",
    "抱歉",
    "对不起",
    "很抱歉",
    "我无法",
];

/// Returns the error of a reply without a verdict: a refusal if it begins like one.
fn no_verdict(reply: &str) -> VerdictError {
    let start: String = reply.trim_start().chars().take(16).collect::<String>().to_lowercase();
    match REFUSAL_PREFIXES.iter().any(|refusal| start.starts_with(refusal)) {
        true => VerdictError::Refused,
        false => VerdictError::Unreadable,
    }
}

/// Checks that a score is in the valid range.
fn in_range(score: f64) -> Result<f64, VerdictError> {
    if SCORE_RANGE.contains(&score) { Ok(score) } else { Err(VerdictError::OutOfRange(score)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_kept_as_the_record_says() {
        let check = |verdict: Verdict, text: &str| {
            assert_eq!(serde_json::to_string(&verdict).unwrap(), text);
            assert_eq!(serde_json::from_str::<Verdict>(text).unwrap(), verdict);
        };
        let dimensions = BTreeMap::from([("清晰度".to_owned(), 9.0)]);
        check(Verdict::Rating(Rating::new(7.5, dimensions)), "{\"score\":7.5,\"rating\":{\"清晰度\":9.0}}");
        let expected = Rating { written: Some(7.0), ..Rating::new(7.25, BTreeMap::new()) };
        check(Verdict::Rating(expected), "{\"score\":7.25,\"written\":7.0,\"rating\":{}}");
        check(Verdict::Pair { winner: Preference::Tie, margin: None }, "{\"winner\":\"tie\"}");
        let clear = Verdict::Pair { winner: Preference::A, margin: Some(Margin::Clear) };
        check(clear, "{\"winner\":\"a\",\"margin\":\"clear\"}");
        check(Verdict::Choice { choice: None, correct: false }, "{\"choice\":null,\"correct\":false}");
        check(Verdict::Choice { choice: Some(OptionLetter::B), correct: true }, "{\"choice\":\"B\",\"correct\":true}");
    }

    #[test]
    fn a_judge_that_will_not_judge_is_distinguished_from_one_that_cannot_be_read() {
        assert_eq!(no_verdict("I'm sorry, but I can't help with that."), VerdictError::Refused);
        assert_eq!(no_verdict("抱歉，我无法评价。"), VerdictError::Refused);
        assert_eq!(no_verdict("The answer says: I'm sorry."), VerdictError::Unreadable);
        assert_eq!(no_verdict(""), VerdictError::Unreadable);
    }
}
