//! Converts the votes of a file to rows.

use crate::domain::battle::BattleId;
use crate::domain::battle::text_counts::TextCounts;
use crate::domain::battle::vote_reasons::{Reason, ReasonSet};
use crate::domain::rating::votes::vote_log::{Labels, VoteLog};
use crate::domain::text_direction;
use crate::domain::time::Timestamp;
use crate::storage::{ImportedVote, is_storable};

/// Maximum length of a name in bytes. PostgreSQL's index of a vote holds six of them (two models, voter, language, category, intent) within
/// 2,704 bytes, and a SQLite arena must be movable there; an entry of the public log has more room.
const MAX_NAME_BYTES: usize = 400;

/// A name that cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnusableName {
    /// The name has characters that the database cannot store, or that make names indistinguishable.
    #[error("the {what} {text:?}: remove its control character")]
    ControlCharacter {
        /// Kind of the named thing, such as a model.
        what: &'static str,
        /// The name.
        text: String,
    },
    /// The name is too long.
    #[error("a {what} of {bytes} bytes, which begins with {beginning:?}: shorten it to at most {MAX_NAME_BYTES}")]
    TooLong {
        /// Kind of the named thing, such as a model.
        what: &'static str,
        /// Length in bytes.
        bytes: usize,
        /// First characters of the name.
        beginning: String,
    },
}

/// Returns the first unusable name of a log.
#[must_use]
pub fn unusable_name(log: &VoteLog) -> Option<UnusableName> {
    let beside =
        [("voter", &log.voters), ("language", &log.languages), ("category", &log.categories), ("intent", &log.intents)];
    let beside = beside.into_iter().filter_map(|(what, labels)| Some((what, &labels.as_ref()?.names)));
    let mut named = [("model", &log.models)].into_iter().chain(beside);
    named.find_map(|(what, names)| names.as_slice().iter().find_map(|text| check_name(what, text).err()))
}

fn check_name(what: &'static str, text: &str) -> Result<(), UnusableName> {
    if text.len() > MAX_NAME_BYTES {
        let beginning = text.chars().take(40).collect();
        return Err(UnusableName::TooLong { what, bytes: text.len(), beginning });
    }
    let is_plain = what != "model" || (!text.contains(char::is_control) && text_direction::in_name(text) == text);
    if is_plain && is_storable(text) {
        return Ok(());
    }
    Err(UnusableName::ControlCharacter { what, text: text.to_owned() })
}

impl<'v> ImportedVote<'v> {
    /// Converts a row of a log, with new ids of the vote and its battle; a vote without a time counts as cast `now`.
    #[must_use]
    pub fn of_log(log: &'v VoteLog, row: usize, (id, battle): (String, BattleId), now: Timestamp) -> Self {
        let name = |model: u32| log.models.as_slice()[model as usize].as_str();
        let label = |labels: &'v Option<Labels>| {
            let labels = labels.as_ref()?;
            labels.names.as_slice().get(labels.rows[row] as usize).map(String::as_str)
        };
        let number =
            |column: &Option<Vec<f64>>| column.as_ref().map(|column| column[row]).filter(|value| value.is_finite());
        Self {
            id,
            battle,
            voter: label(&log.voters).unwrap_or_default(),
            a: name(log.a[row]),
            b: name(log.b[row]),
            outcome: log.outcomes[row].as_str(),
            turn: log.turns.as_ref().map_or(1, |turns| turns[row]),
            language: label(&log.languages).unwrap_or_default(),
            category: label(&log.categories),
            intent: label(&log.intents),
            satisfaction: log.satisfactions.as_ref().map(|said| said[row]).filter(|said| (1..=5).contains(said)),
            reasons: log
                .reasons
                .as_ref()
                .map_or_else(Default::default, |sides| sides.each_ref().map(|side| reasons(side, row))),
            probability: number(&log.pair_probabilities).unwrap_or(0.0),
            text_counts: text_counts(log, row),
            timings: log.timings.as_ref().map_or_else(Default::default, |timings| timings[row]),
            cast_at: number(&log.seconds).map_or(now.0, millis),
        }
    }
}

/// Returns the reasons of a row; skips those unknown to this arena.
fn reasons(labels: &Labels, row: usize) -> ReasonSet {
    let text = labels.names.as_slice().get(labels.rows[row] as usize).map_or("", String::as_str);
    text.split(',').filter_map(|word| Reason::parse(word.trim()).ok()).collect()
}

/// Returns the text counts; only the totals are known, and replace the counts by kind.
fn text_counts(log: &VoteLog, row: usize) -> String {
    let sides = [0, 1].map(|side| {
        log.style.as_ref().map_or_else(TextCounts::default, |style| TextCounts {
            tokens: style.tokens()[row][side].into(),
            headings: [style.headings()[row][side].into(), 0, 0, 0, 0, 0],
            ordered: 0,
            unordered: style.lists()[row][side].into(),
            bold_stars: style.bold()[row][side].into(),
            bold_underscores: 0,
        })
    });
    serde_json::to_string(&sides).expect("counts are plain numbers")
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of f64 stays within the bounds of i64")]
fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_nothing_can_hold_or_show_are_not_taken() {
        assert_eq!(check_name("model", "gpt-4 琅琊"), Ok(()));
        assert_eq!(check_name("category", "two\nlines"), Ok(()));
        assert_eq!(check_name("model", &"n".repeat(MAX_NAME_BYTES)), Ok(()));
        for name in ["two\nlines", "turned \u{202e}", "\0"] {
            assert!(matches!(check_name("model", name), Err(UnusableName::ControlCharacter { .. })), "{name:?}");
        }
        let refused = check_name("language", &"琅".repeat(400)).unwrap_err().to_string();
        assert!(
            refused.starts_with("a language of 1200 bytes") && refused.ends_with("shorten it to at most 400"),
            "{refused}"
        );
    }
}
