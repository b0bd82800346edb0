//! Parses the winner column in every spelling of public vote logs.

use std::borrow::Cow;

use super::error::{RowError, shortened};
use crate::domain::battle::Outcome;

/// Words for a side that models may be called, too.
const SHORT_WORDS: [&str; 6] = ["A", "B", "a", "b", "left", "right"];

/// Whether a word stands for a side, and could as well be the name of a model.
pub(crate) fn is_short_word(text: &str) -> bool {
    SHORT_WORDS.contains(&text)
}

/// The words for an outcome.
pub(super) fn parse_word(text: &str) -> Option<Outcome> {
    match text {
        "model_a" | "A" | "a" | "left" => Some(Outcome::AWins),
        "model_b" | "B" | "b" | "right" => Some(Outcome::BWins),
        "tie" => Some(Outcome::Tie),
        "both_bad" | "tie (bothbad)" => Some(Outcome::BothBad),
        _ => None,
    }
}

/// A word, or the name of one of the models. Anything else is refused: counted as a tie or as a win for B, as other
/// tools do, it would bend the ratings unseen. So is a short word for one side that is the name of the model on the other.
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

/// LMArena's 55k file: of three flags exactly one is set.
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
