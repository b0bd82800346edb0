//! Reads the votes of the database into columns, for fits that need more than the published leaderboard.

use futures_util::{StreamExt, TryStreamExt, stream};

use super::final_labels::final_labels_of;
use crate::domain::integrity::exclusions::ratable_votes::RatableVotes;
use crate::domain::labeling::scheme::Scheme;
use crate::domain::rating::votes::vote_log::{ColumnSet, SelfPlay, VoteLog};
use crate::domain::time::Timestamp;
use crate::storage::{Store, StoreError, VotePageError, VoteRange, columns_of_log};

/// Sequence numbers in one page.
const PAGE_SIZE: usize = 10_000;

/// Error of reading the vote log.
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

impl From<VotePageError> for ReadLogError {
    fn from(error: VotePageError) -> Self {
        match error {
            VotePageError::Store(error) => Self::Store(error),
            VotePageError::SelfPlay(error) => Self::SelfPlay(error),
        }
    }
}

impl ReadLogError {
    /// Whether the database is unavailable, which is already logged.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_outage())
    }
}

/// Options for reading the log.
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

/// Reads all votes that could be rated, excluded ones too, with their numbers. Counts votes on models chosen by the voter.
///
/// # Errors
/// [`ReadLogError`].
pub async fn read_cast_votes(
    store: &Store,
    options: LogQuery,
    progress: impl Fn(i64, i64),
) -> Result<RatableVotes, ReadLogError> {
    read_votes(store, options, Excluded::Read, progress).await
}

/// Treatment of excluded votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excluded {
    /// Count them by rule.
    Counted,
    /// Read them like all others.
    Read,
}

async fn read_votes(
    store: &Store,
    options: LogQuery,
    excluded: Excluded,
    progress: impl Fn(i64, i64),
) -> Result<RatableVotes, ReadLogError> {
    let LogQuery { columns, range, concurrency } = options;
    let schemes = schemes(store, columns).await?;
    // Labels and exclusions are looked up by sequence number.
    let numbered = !schemes.is_empty() || excluded == Excluded::Read;
    let stored_columns = columns_of_log(columns, numbered);
    let last = store.last_vote_seq().await?.min(range.upto);
    let pages = stream::iter((range.after..last).step_by(PAGE_SIZE)).map(async |after| {
        let upto = after.saturating_add(PAGE_SIZE as i64).min(last);
        let range = VoteRange { after, upto, ..range };
        let page = match excluded {
            Excluded::Counted => store.vote_page(range, &stored_columns).await?,
            Excluded::Read => store.ratable_vote_page(range, &stored_columns).await?,
        };
        let labels = final_labels_of(store, &schemes, range).await?;
        let votes = tokio::task::spawn_blocking(move || page.cast_votes(&labels, columns)).await??;
        Ok::<_, ReadLogError>((upto, votes))
    });
    let mut pages = pages.buffered(concurrency.max(1));
    let mut votes = RatableVotes { log: VoteLog::with_columns(columns), numbers: Vec::new() };
    while let Some((upto, mut page)) = pages.try_next().await? {
        votes.log.append(&page.log);
        votes.numbers.append(&mut page.numbers);
        progress(upto, last);
    }
    Ok(votes)
}

/// Returns the label schemes of the requested columns, if any prompt is labelled.
async fn schemes(store: &Store, columns: ColumnSet) -> Result<Vec<Scheme>, ReadLogError> {
    let requested = [(columns.categories, Scheme::Superclue), (columns.intents, Scheme::Urs)];
    let mut schemes: Vec<Scheme> =
        requested.into_iter().filter_map(|(requested, scheme)| requested.then_some(scheme)).collect();
    if !schemes.is_empty() && store.labels_changed_at().await? == Timestamp(0) {
        schemes.clear();
    }
    Ok(schemes)
}
