//! Converts pages of votes to columns of a vote log.

use crate::domain::battle::text_counts::TextCounts;
use crate::domain::integrity::exclusions::ratable_votes::RatableVotes;
use crate::domain::labeling::final_labels::FinalLabels;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::rating::votes::vote_log::{ColumnSet, Labels, ReplyTiming, SelfPlay, StyleColumns, VoteLog};
use crate::storage::{PackedOutcome, PackedVote, StoreError, VoteColumn, VotePage};

/// Error of a page that cannot be converted.
#[derive(Debug, thiserror::Error)]
pub enum VotePageError {
    /// A value is invalid for its column.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A vote of a model against itself; no battle produces one.
    #[error(transparent)]
    SelfPlay(#[from] SelfPlay),
}

/// Returns the stored columns needed for a log with these columns; `numbered` adds sequence numbers.
#[must_use]
pub fn columns_of_log(columns: ColumnSet, numbered: bool) -> Vec<VoteColumn> {
    let all = [
        (numbered, VoteColumn::Seq),
        (columns.voters, VoteColumn::Voter),
        (columns.languages, VoteColumn::Language),
        (columns.categories, VoteColumn::Category),
        (columns.intents, VoteColumn::Intent),
        (columns.turns, VoteColumn::Turn),
        (columns.seconds, VoteColumn::CreatedAt),
        (columns.pair_probabilities, VoteColumn::PairProbability),
        (columns.style, VoteColumn::TextCounts),
        (columns.prompt_tokens, VoteColumn::Prompts),
        (columns.satisfactions, VoteColumn::Satisfaction),
        (columns.reasons, VoteColumn::ReasonsA),
        (columns.reasons, VoteColumn::ReasonsB),
        (columns.timings, VoteColumn::Timings),
        (columns.pairing_policies, VoteColumn::PairingPolicy),
    ];
    all.into_iter().filter_map(|(requested, column)| requested.then_some(column)).collect()
}

impl VotePage {
    /// Converts the votes of a page to columns. Categories and intents are the final labels of numbered votes, or the visitors' own if a
    /// vote has none; excluded votes are counted.
    ///
    /// # Errors
    /// [`VotePageError`].
    pub fn cast_votes(&self, labels: &FinalLabels, columns: ColumnSet) -> Result<RatableVotes, VotePageError> {
        let mut log = VoteLog::with_columns(columns);
        let mut rated = Vec::with_capacity(self.votes);
        for row in self.rows() {
            let PackedVote { models, outcome } = row?;
            rated.push(outcome.is_rated());
            match outcome {
                PackedOutcome::Rated(outcome) => log.push(models[0], models[1], outcome)?,
                PackedOutcome::Excluded(rule) => log.exclude_vote(rule),
            }
        }
        let numbers = self.numbers()?;
        for (column, values) in self.columns().filter(|(column, _)| *column != VoteColumn::Seq) {
            for (vote, value) in values.enumerate() {
                let target = if rated[vote] {
                    &mut log
                } else {
                    match &mut log.excluded_votes {
                        Some(excluded) if selects_slices(column) => &mut excluded.columns,
                        _ => continue,
                    }
                };
                let label = numbers.get(vote).and_then(|&seq| label_in(labels, column, seq));
                let value = label.unwrap_or(value);
                add_value(target, column, value).ok_or_else(|| self.inconsistent(column.name(), value))?;
            }
        }
        // Only of the votes in the log.
        let numbers = numbers.into_iter().zip(&rated).filter_map(|(number, is_rated)| is_rated.then_some(number));
        Ok(RatableVotes { numbers: numbers.collect(), log })
    }

    /// Returns the sequence numbers of the votes; empty if they were not read.
    fn numbers(&self) -> Result<Vec<i64>, StoreError> {
        let values = self.columns().filter(|(column, _)| *column == VoteColumn::Seq).flat_map(|(_, values)| values);
        values.map(|value| value.parse().map_err(|_| self.inconsistent("seq", value))).collect()
    }
}

fn label_in(labels: &FinalLabels, column: VoteColumn, seq: i64) -> Option<&str> {
    match column {
        VoteColumn::Category => labels.of(Scheme::Superclue, seq),
        VoteColumn::Intent => labels.of(Scheme::Urs, seq),
        _ => None,
    }
}

/// Whether slices can select by the column.
fn selects_slices(column: VoteColumn) -> bool {
    use VoteColumn::{Category, CreatedAt, Intent, Language, PairingPolicy, Prompts, Turn};
    matches!(column, Language | Category | Intent | Turn | CreatedAt | Prompts | PairingPolicy)
}

/// Adds a value to its column; `None` for an invalid value.
fn add_value(log: &mut VoteLog, column: VoteColumn, value: &str) -> Option<()> {
    match column {
        // These identify votes and their prompts, and have no column.
        VoteColumn::Seq | VoteColumn::Battle | VoteColumn::FirstPrompt => {}
        VoteColumn::Voter => add_label(log.voters.as_mut()?, value),
        VoteColumn::Language => add_label(log.languages.as_mut()?, value),
        VoteColumn::Category => add_label(log.categories.as_mut()?, value),
        VoteColumn::Intent => add_label(log.intents.as_mut()?, value),
        VoteColumn::Turn => log.turns.as_mut()?.push(value.parse().ok()?),
        VoteColumn::CreatedAt => log.seconds.as_mut()?.push(seconds(value.parse().ok()?)),
        VoteColumn::PairProbability => log.pair_probabilities.as_mut()?.push(value.parse().ok()?),
        VoteColumn::TextCounts => add_style(log.style.as_mut()?, &serde_json::from_str(value).ok()?),
        VoteColumn::Satisfaction => {
            log.satisfactions.as_mut()?.push(if value.is_empty() { 0 } else { value.parse().ok()? })
        }
        VoteColumn::ReasonsA => add_label(&mut log.reasons.as_mut()?[0], value),
        VoteColumn::ReasonsB => add_label(&mut log.reasons.as_mut()?[1], value),
        VoteColumn::PairingPolicy => add_label(log.pairing_policies.as_mut()?, value),
        VoteColumn::Timings => log.timings.as_mut()?.push(timings(value)?),
        VoteColumn::Prompts => log.prompt_tokens.as_mut()?.push(to_u32(TextCounts::count(value).tokens)),
    }
    Some(())
}

fn add_label(labels: &mut Labels, value: &str) {
    labels.push(Some(value).filter(|value| !value.is_empty()));
}

fn add_style(style: &mut StyleColumns, counts: &[TextCounts; 2]) {
    let both = |count: fn(&TextCounts) -> u64| Some(counts.each_ref().map(|side| to_u32(count(side))));
    style.push([
        both(|side| side.tokens),
        both(|side| side.headings.iter().sum()),
        both(|side| side.ordered + side.unordered),
        both(|side| side.bold_stars + side.bold_underscores),
    ]);
}

/// Parses the times of both sides. An import without times has a duration of 0, which no reply has.
fn timings(value: &str) -> Option<[ReplyTiming; 2]> {
    let time = |time: &str| if time.is_empty() { Some(None) } else { time.parse().ok().map(|ms| Some(to_u32(ms))) };
    let mut times = value.split(' ').map(time);
    let mut next = || times.next().flatten();
    let mut side = || {
        let (first_token_ms, duration_ms) = (next()?, next()?.filter(|ms| *ms > 0));
        Some(ReplyTiming { first_token_ms, duration_ms })
    };
    Some([side()?, side()?])
}

fn to_u32(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "a time in milliseconds stays below 2^53 for 285,000 years")]
fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1e3
}
