//! Previews the effect of a decision on the leaderboard, without writing it.

use crate::domain::integrity::exclusions::exclusion_decision::{ExclusionDecision, SelectedVote};
use crate::domain::integrity::exclusions::leaderboard_change::LeaderboardChange;
use crate::domain::rating::FitError;
use crate::domain::rating::leaderboards::ranking::rank_log;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::votes::vote_log::ColumnSet;
use crate::infra::storage::{Store, VoteRange};
use crate::infra::stored_votes::vote_log::{LogQuery, ReadLogError, read_cast_votes};

/// Error of a preview.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The fit thread panicked.
    #[error("the fit thread panicked")]
    Thread(#[from] tokio::task::JoinError),
}

/// Computes the leaderboard of all rated votes before and after a decision on these votes. `progress` gets the sequence numbers of the
/// latest vote read and of the last vote.
///
/// # Errors
/// [`PreviewError`].
pub async fn preview(
    store: &Store,
    votes: &[SelectedVote],
    decision: &ExclusionDecision,
    options: LeaderboardOptions,
    progress: impl Fn(i64, i64),
) -> Result<LeaderboardChange, PreviewError> {
    let before = store.exclusions_in_force(VoteRange::ALL).await.map_err(ReadLogError::from)?;
    let after = decision.apply(votes, before.clone());
    let columns = ColumnSet { voters: options.interval.reads_voters(), ..ColumnSet::default() };
    let reading = LogQuery { columns, range: VoteRange::ALL, concurrency: 2 };
    let cast = read_cast_votes(store, reading, progress).await?;
    let compare = move || {
        let [before, after] = [before, after].map(|exclusions| rank_log(&cast.rated(&exclusions), &options));
        Ok::<_, PreviewError>(LeaderboardChange::between(&before?, &after?))
    };
    tokio::task::spawn_blocking(compare).await?
}
