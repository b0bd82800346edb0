//! Reads the votes of the database into columns, for fits that need more than the published leaderboard.

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::domain::battle::text_counts::TextCounts;
use crate::domain::integrity::cast_votes::CastVotes;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::rating::vote_log::SelfPlay;
use crate::domain::rating::vote_log::{ColumnSet, Labels, ReplyTiming, StyleColumns, VoteLog};
use crate::domain::time::Timestamp;
use crate::infra::storage::{PackedVote, Store, StoreError, VoteColumn, VotePage, VoteRange};
use crate::services::labeling::final_labels::FinalLabels;

/// Sequence numbers in one page.
const PAGE: usize = 10_000;

/// Why the vote log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadLogError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A vote of a model against itself; no battle produces one.
    #[error(transparent)]
    SelfPlay(#[from] SelfPlay),
    /// The parser thread panicked.
    #[error("a thread that parses votes panicked")]
    Thread(#[from] tokio::task::JoinError),
}

impl ReadLogError {
    /// Whether the database is unavailable, which the log reports already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_outage())
    }
}

/// How to read the log.
#[derive(Debug, Clone, Copy)]
pub struct LogQuery {
    /// Columns to read.
    pub columns: ColumnSet,
    /// Votes to read.
    pub range: VoteRange,
    /// Number of concurrent page reads: 1 in a server, whose visitors need the connections too.
    pub concurrency: usize,
}

/// Reads rated votes and counts excluded ones. Categories and intents are the final labels of the prompts, or the
/// visitors' own where a prompt has none. Calls `progress` with the last sequence number read and the last of all.
///
/// # Errors
/// [`ReadLogError`].
pub async fn read_log(store: &Store, options: LogQuery, progress: impl Fn(i64, i64)) -> Result<VoteLog, ReadLogError> {
    read_votes(store, options, Excluded::Counted, progress).await.map(|votes| votes.log)
}

/// Reads all votes, excluded ones too, with their numbers.
///
/// # Errors
/// [`ReadLogError`].
pub async fn read_cast_votes(
    store: &Store,
    options: LogQuery,
    progress: impl Fn(i64, i64),
) -> Result<CastVotes, ReadLogError> {
    read_votes(store, options, Excluded::Read, progress).await
}

/// What a reading does with excluded votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excluded {
    /// Counts them by rule.
    Counted,
    /// Reads them like all others.
    Read,
}

async fn read_votes(
    store: &Store,
    options: LogQuery,
    excluded: Excluded,
    progress: impl Fn(i64, i64),
) -> Result<CastVotes, ReadLogError> {
    let LogQuery { columns, range, concurrency } = options;
    let schemes = schemes(store, columns).await?;
    let stored_columns = stored_columns(columns, &schemes, excluded);
    let last = store.last_vote_seq().await?.min(range.upto);
    let pages = stream::iter((range.after..last).step_by(PAGE)).map(async |after| {
        let upto = after.saturating_add(PAGE as i64).min(last);
        let range = VoteRange { after, upto, ..range };
        let page = match excluded {
            Excluded::Counted => store.vote_page(range, &stored_columns).await?,
            Excluded::Read => store.cast_vote_page(range, &stored_columns).await?,
        };
        let labels = FinalLabels::of_votes(store, &schemes, range).await?;
        let votes = tokio::task::spawn_blocking(move || parse_page(&page, &labels, columns)).await??;
        Ok::<_, ReadLogError>((upto, votes))
    });
    let mut pages = pages.buffered(concurrency.max(1));
    let mut votes = CastVotes { log: VoteLog::with_columns(columns), numbers: Vec::new() };
    while let Some((upto, mut page)) = pages.try_next().await? {
        votes.log.append(&page.log);
        votes.numbers.append(&mut page.numbers);
        progress(upto, last);
    }
    Ok(votes)
}

/// The label schemes of the requested columns, if any prompt is labelled.
async fn schemes(store: &Store, columns: ColumnSet) -> Result<Vec<Scheme>, ReadLogError> {
    let requested = [(columns.categories, Scheme::Superclue), (columns.intents, Scheme::Urs)];
    let mut schemes: Vec<Scheme> =
        requested.into_iter().filter_map(|(requested, scheme)| requested.then_some(scheme)).collect();
    if !schemes.is_empty() && store.labels_changed_at().await? == Timestamp(0) {
        schemes.clear();
    }
    Ok(schemes)
}

fn stored_columns(columns: ColumnSet, schemes: &[Scheme], excluded: Excluded) -> Vec<VoteColumn> {
    let all = [
        // Labels and exclusions are looked up by sequence number.
        (!schemes.is_empty() || excluded == Excluded::Read, VoteColumn::Seq),
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
    ];
    all.into_iter().filter_map(|(requested, column)| requested.then_some(column)).collect()
}

fn parse_page(page: &VotePage, labels: &FinalLabels, columns: ColumnSet) -> Result<CastVotes, ReadLogError> {
    let mut log = VoteLog::with_columns(columns);
    let mut rated = Vec::with_capacity(page.votes);
    for row in page.rows() {
        let PackedVote { models, outcome } = row?;
        rated.push(outcome.is_ok());
        match outcome {
            Ok(outcome) => log.push(models[0], models[1], outcome)?,
            Err(rule) => log.exclude(rule),
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
    Ok(CastVotes { log, numbers })
}

/// The sequence numbers of the votes; empty if they were not read.
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
        VoteColumn::Timings => log.timings.as_mut()?.push(timings(value)?),
        VoteColumn::Prompts => log.prompt_tokens.as_mut()?.push(narrow(TextCounts::count(value).tokens)),
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

/// The times of both sides. An import without times leaves a duration of 0, which no reply has.
fn timings(value: &str) -> Option<[ReplyTiming; 2]> {
    let time = |time: &str| if time.is_empty() { Some(None) } else { time.parse().ok().map(|ms| Some(narrow(ms))) };
    let mut times = value.split(' ').map(time);
    let mut next = || times.next().flatten();
    let mut side = || {
        let (first_token_ms, duration_ms) = (next()?, next()?.filter(|ms| *ms > 0));
        Some(ReplyTiming { first_token_ms, duration_ms })
    };
    Some([side()?, side()?])
}

fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "a time in milliseconds stays below 2^53 for 285,000 years")]
fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1e3
}
