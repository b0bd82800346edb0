//! Parses the winner column in every spelling of public vote logs.

use std::borrow::Cow;

use super::error::{RowError, shortened};
use crate::domain::battle::Outcome;

/// Words for a side that may also be model names.
const SIDE_WORDS: [&str; 6] = ["A", "B", "a", "b", "left", "right"];

/// Whether a word for a side could also be the name of a model.
pub(crate) fn is_short_word(text: &str) -> bool {
    SIDE_WORDS.contains(&text)
}

/// Parses a word for an outcome.
pub(super) fn parse_word(text: &str) -> Option<Outcome> {
    match text {
        "model_a" | "A" | "a" | "left" => Some(Outcome::AWins),
        "model_b" | "B" | "b" | "right" => Some(Outcome::BWins),
        "tie" => Some(Outcome::Tie),
        "both_bad" | "tie (bothbad)" => Some(Outcome::BothBad),
        _ => None,
    }
}

/// Parses a word, or the name of one of the models. Anything else is refused: counted as a tie or as a win for B, as other tools do,
/// it would bias the ratings silently. A short word for one side that is the name of the model on the other is also refused.
pub(super) fn parse_winner(text: &str, a: &str, b: &str) -> Result<Outcome, RowError> {
    let by_name = match text {
        _ if a == b => None,
        _ if text == a => Some(Outcome::AWins),
        _ if text == b => Some(Outcome::BWins),
        _ => None,
    };
    match (parse_word(text), by_name) {
        (Some(side), Some(model)) if side != model && is_short_word(text) => {
            Err(RowError::SideOrModel(text.to_owned()))
        }
        (side, model) => side.or(model).ok_or_else(|| RowError::Winner(shortened(text))),
    }
}

/// Parses the flags of LMArena's 55k file, of which exactly one must be set.
pub(super) fn one_of([a, b, tie]: [bool; 3]) -> Result<Outcome, RowError> {
    match (a, b, tie) {
        (true, false, false) => Ok(Outcome::AWins),
        (false, true, false) => Ok(Outcome::BWins),
        (false, false, true) => Ok(Outcome::Tie),
        _ => {
            let numbers = [a, b, tie].map(u8::from);
            Err(RowError::Winner(Cow::from(format!("{numbers:?}")).into_owned()))
        }
    }
}
