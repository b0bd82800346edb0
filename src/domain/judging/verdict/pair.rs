//! Reads `[[A]]`, `[[B]]` or `[[C]]` (a tie), and puts the two games of a pair together.
//!
//! The same question is judged twice with the sides swapped. A model wins only where both games say so.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::{VerdictError, no_verdict};

/// Which of the two answers that it saw a judge prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    /// The first.
    A,
    /// The second.
    B,
    /// Neither.
    Tie,
}

/// What both games say of the model, against the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// Both games prefer the model.
    Win,
    /// The games disagree, or one says tie.
    Tie,
    /// Both games prefer the baseline.
    Loss,
}

static TOKEN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:\[\[|【【)\s*([ABC])\s*(?:\]\]|】】)").expect("the pattern is valid"));

/// Reads the last verdict token.
///
/// # Errors
/// [`VerdictError`] where there is none.
pub fn parse(reply: &str) -> Result<Preference, VerdictError> {
    let token = TOKEN.captures_iter(reply).last().ok_or_else(|| no_verdict(reply))?;
    Ok(match &token[1] {
        "A" => Preference::A,
        "B" => Preference::B,
        _ => Preference::Tie,
    })
}

/// What two games say: the model is A in the first and B in the second.
#[must_use]
pub fn both_games(first: Preference, second: Preference) -> GameResult {
    match (first, second) {
        (Preference::A, Preference::B) => GameResult::Win,
        (Preference::B, Preference::A) => GameResult::Loss,
        _ => GameResult::Tie,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: Result<Preference, VerdictError>) {
        assert_eq!(parse(reply), expected, "{reply:?}");
    }

    #[test]
    fn the_last_token_counts() {
        check("… [[A]]", Ok(Preference::A));
        check("[[B]] because", Ok(Preference::B));
        check("[[ C ]]", Ok(Preference::Tie));
        check("not [[A]] but [[B]]", Ok(Preference::B));
        check("判定：【【A】】", Ok(Preference::A));
    }

    #[test]
    fn a_reply_without_a_token_is_an_error() {
        check("I prefer A", Err(VerdictError::Unreadable));
        check("[[D]]", Err(VerdictError::Unreadable));
        check("", Err(VerdictError::Unreadable));
    }
}
