//! Makes rows of the votes of a file.

use super::{ImportedVote, is_storable};
use crate::domain::battle::BattleId;
use crate::domain::battle::reasons::{Reason, ReasonSet};
use crate::domain::battle::text_counts::TextCounts;
use crate::domain::rating::vote_log::{Labels, VoteLog};
use crate::domain::time::Timestamp;

/// The first text that the database cannot hold, and what it names.
#[must_use]
pub fn unstorable_name(log: &VoteLog) -> Option<(&'static str, &str)> {
    let beside =
        [("voter", &log.voters), ("language", &log.languages), ("category", &log.categories), ("intent", &log.intents)];
    let beside = beside.into_iter().filter_map(|(what, labels)| Some((what, &labels.as_ref()?.names)));
    let mut named = [("model", &log.models)].into_iter().chain(beside);
    named.find_map(|(what, names)| Some((what, names.as_slice().iter().find(|text| !is_storable(text))?.as_str())))
}

impl<'v> ImportedVote<'v> {
    /// A row of a log that was read from the file with this id; a vote without a time counts as cast `now`.
    #[must_use]
    pub fn of_log(log: &'v VoteLog, row: usize, id: &str, now: Timestamp) -> Self {
        let name = |model: u32| log.models.as_slice()[model as usize].as_str();
        let label = |labels: &'v Option<Labels>| {
            let labels = labels.as_ref()?;
            labels.names.as_slice().get(labels.rows[row] as usize).map(String::as_str)
        };
        let number =
            |column: &Option<Vec<f64>>| column.as_ref().map(|column| column[row]).filter(|value| value.is_finite());
        Self {
            battle: BattleId::new(format!("{id}-{:09}", row + 1)),
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

/// The reasons of a row; words that are none of this arena's are left out.
fn reasons(labels: &Labels, row: usize) -> ReasonSet {
    let text = labels.names.as_slice().get(labels.rows[row] as usize).map_or("", String::as_str);
    text.split(',').filter_map(|word| Reason::parse(word.trim()).ok()).collect()
}

/// Only the sums are known: they stand where a count of one kind would.
fn text_counts(log: &VoteLog, row: usize) -> String {
    let sides = [0, 1].map(|side| {
        log.style.as_ref().map_or_else(TextCounts::default, |style| TextCounts {
            tokens: style.tokens[row][side].into(),
            headings: [style.headings[row][side].into(), 0, 0, 0, 0, 0],
            ordered: 0,
            unordered: style.lists[row][side].into(),
            bold_stars: style.bold[row][side].into(),
            bold_underscores: 0,
        })
    });
    serde_json::to_string(&sides).expect("counts are plain numbers")
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of f64 stays within the bounds of i64")]
fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}
