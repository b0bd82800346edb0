//! The votes of the database as columns, for fits that look at more than the published leaderboard does.

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::domain::battle::text_counts::TextCounts;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::rating::comparison::SelfPlay;
use crate::domain::rating::vote_log::{ColumnSet, Labels, StyleColumns, VoteLog};
use crate::domain::time::Timestamp;
use crate::infra::storage::{PackedVote, Store, StoreError, VoteColumn, VotePage, VoteRange};
use crate::services::labeling::final_labels::FinalLabels;

/// Numbers of the log that are asked for at a time.
const PAGE: usize = 10_000;
/// How votes are counted that no rule is named for.
const UNNAMED_RULE: &str = "not_rated";

/// Why the log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadLogError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A vote of a model against itself, which no battle can bring about.
    #[error(transparent)]
    SelfPlay(#[from] SelfPlay),
    /// The thread died on which votes were taken apart.
    #[error("a thread that reads votes ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl ReadLogError {
    /// Whether the database is in trouble, of which the log has a line already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_outage())
    }
}

/// How the log is read.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The columns.
    pub wanted: ColumnSet,
    /// The votes.
    pub range: VoteRange,
    /// Pages asked for at the same moment: one where visitors need the connections too.
    pub at_once: usize,
}

/// Reads votes of the log. Those that are not rated are counted and left out. Categories and intents are the final
/// labels of the prompts, and what the visitors said where a prompt has none. `progress` hears of the numbers that
/// were read and of the last one.
///
/// # Errors
/// [`ReadLogError`].
pub async fn read_log(store: &Store, reading: Reading, progress: impl Fn(i64, i64)) -> Result<VoteLog, ReadLogError> {
    let schemes = schemes(store, reading.wanted).await?;
    let (wanted, columns, range) = (reading.wanted, columns(reading.wanted, &schemes), reading.range);
    let last = store.last_vote_seq().await?.min(range.upto);
    let pages = stream::iter((range.after..last).step_by(PAGE)).map(async |after| {
        let upto = after.saturating_add(PAGE as i64).min(last);
        let range = VoteRange { after, upto, ..range };
        let page = store.vote_page(range, &columns).await?;
        let labels = FinalLabels::of_votes(store, &schemes, range).await?;
        let log = tokio::task::spawn_blocking(move || take_apart(&page, &labels, wanted)).await??;
        Ok::<_, ReadLogError>((upto, log))
    });
    let mut pages = pages.buffered(reading.at_once.max(1));
    let mut log = VoteLog::with_columns(wanted);
    while let Some((upto, page)) = pages.try_next().await? {
        log.append(&page);
        progress(upto, last);
    }
    Ok(log)
}

/// How votes are counted that this rule excludes.
pub(super) fn rule_name(rule: &str) -> String {
    if rule.is_empty() { UNNAMED_RULE.to_owned() } else { rule.to_owned() }
}

/// Those that are wanted, where any prompt has a label.
async fn schemes(store: &Store, wanted: ColumnSet) -> Result<Vec<Scheme>, ReadLogError> {
    let wanted = [(wanted.categories, Scheme::Superclue), (wanted.intents, Scheme::Urs)];
    let mut schemes: Vec<Scheme> = wanted.into_iter().filter_map(|(wanted, scheme)| wanted.then_some(scheme)).collect();
    if !schemes.is_empty() && store.labels_changed_at().await? == Timestamp(0) {
        schemes.clear();
    }
    Ok(schemes)
}

fn columns(wanted: ColumnSet, schemes: &[Scheme]) -> Vec<VoteColumn> {
    let all = [
        // Labels are found by the numbers of the votes.
        (!schemes.is_empty(), VoteColumn::Seq),
        (wanted.voters, VoteColumn::Voter),
        (wanted.languages, VoteColumn::Language),
        (wanted.categories, VoteColumn::Category),
        (wanted.intents, VoteColumn::Intent),
        (wanted.turns, VoteColumn::Turn),
        (wanted.seconds, VoteColumn::CreatedAt),
        (wanted.pair_probabilities, VoteColumn::PairProbability),
        (wanted.style, VoteColumn::TextCounts),
        (wanted.prompt_tokens, VoteColumn::Prompts),
        (wanted.satisfactions, VoteColumn::Satisfaction),
    ];
    all.into_iter().filter_map(|(wanted, column)| wanted.then_some(column)).collect()
}

fn take_apart(page: &VotePage, labels: &FinalLabels, wanted: ColumnSet) -> Result<VoteLog, ReadLogError> {
    let mut log = VoteLog::with_columns(wanted);
    let mut rated = Vec::with_capacity(page.votes);
    for row in page.rows() {
        let PackedVote { models, outcome } = row?;
        rated.push(outcome.is_ok());
        match outcome {
            Ok(outcome) => log.push(models[0], models[1], outcome)?,
            Err(rule) => *log.excluded.entry(rule_name(rule)).or_default() += 1,
        }
    }
    let numbers = numbers(page)?;
    for (column, values) in page.columns().filter(|(column, _)| *column != VoteColumn::Seq) {
        for (vote, value) in values.enumerate().filter(|(vote, _)| rated[*vote]) {
            let label = numbers.get(vote).and_then(|&seq| label_in(labels, column, seq));
            let value = label.unwrap_or(value);
            add_value(&mut log, column, value).ok_or_else(|| page.inconsistent(column.name(), value))?;
        }
    }
    Ok(log)
}

/// The numbers of the votes; none where they were not asked for.
fn numbers(page: &VotePage) -> Result<Vec<i64>, ReadLogError> {
    let values = page.columns().filter(|(column, _)| *column == VoteColumn::Seq).flat_map(|(_, values)| values);
    values.map(|value| value.parse().map_err(|_| page.inconsistent("seq", value).into())).collect()
}

fn label_in(labels: &FinalLabels, column: VoteColumn, seq: i64) -> Option<&str> {
    match column {
        VoteColumn::Category => labels.of(Scheme::Superclue, seq),
        VoteColumn::Intent => labels.of(Scheme::Urs, seq),
        _ => None,
    }
}

/// Adds a value to its column; `None` where it is not what the column holds.
fn add_value(log: &mut VoteLog, column: VoteColumn, value: &str) -> Option<()> {
    match column {
        // They tell votes apart and are kept in no column.
        VoteColumn::Seq | VoteColumn::Battle => {}
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
        VoteColumn::Prompts => log.prompt_tokens.as_mut()?.push(narrow(TextCounts::of(value).tokens)),
    }
    Some(())
}

fn add_label(labels: &mut Labels, value: &str) {
    labels.push(Some(value).filter(|value| !value.is_empty()));
}

fn add_style(style: &mut StyleColumns, counts: &[TextCounts; 2]) {
    let both = |count: fn(&TextCounts) -> u64| counts.each_ref().map(|side| narrow(count(side)));
    style.tokens.push(both(|side| side.tokens));
    style.headings.push(both(|side| side.headings.iter().sum()));
    style.lists.push(both(|side| side.ordered + side.unordered));
    style.bold.push(both(|side| side.bold_stars + side.bold_underscores));
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "a time in milliseconds stays below 2^53 for 285,000 years")]
fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1e3
}
