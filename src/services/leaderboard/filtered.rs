//! Leaderboards of a part of the votes, or as of a past moment, fitted when somebody asks.
//!
//! Each is an exact fit of the votes in the log. One at a time is fitted ([`single_flight`](crate::services::single_flight)), and what
//! was fitted is kept for a while, so that visitors cannot make the arena fit all day: the cost is bounded however many
//! ask, and whatever for.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::vote_log::{ReadLogError, Reading, read_log};
use crate::domain::rating::FitError;
use crate::domain::rating::history::{Moment, history};
use crate::domain::rating::leaderboard::{Leaderboard, LeaderboardOptions, rank_log};
use crate::domain::rating::scoring::{BothBadRule, TieRule};
use crate::domain::rating::slice::{Slice, SliceError, Turns};
use crate::domain::rating::tally::Tally;
use crate::domain::rating::vote_log::{ColumnSet, VoteLog};
use crate::domain::time::Timestamp;
use crate::infra::backoff::later;
use crate::infra::config::CurrentSettings;
use crate::infra::storage::{Store, VoteRange};
use crate::infra::tasks::Tasks;
use crate::render::chart::pairs::Pairs;
use crate::services::leaderboard::refit::leaderboard_options;
use crate::services::single_flight::{FlightError, SingleFlight, Throttle};

/// Moments of the history.
const MOMENTS: usize = 40;
/// Rest after a fit, as a multiple of its duration: fits run for a fifth of the time at the most.
const REST_TIMES: u32 = 4;
/// Longest wait for the fits of others.
const PATIENCE: Duration = Duration::from_secs(10);
/// Studies that are kept.
const KEPT: usize = 48;
/// How long one is shown although there are newer votes, at least.
const FRESH: Duration = Duration::from_secs(60);
/// The same as a multiple of the duration of its fit.
const FRESH_TIMES: u32 = 10;

/// Which votes a leaderboard is asked of; by default all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LeaderboardFilter {
    /// Of this language.
    pub language: Option<String>,
    /// Of this category.
    pub category: Option<String>,
    /// Of this intent.
    pub intent: Option<String>,
    /// After one turn, or after several.
    pub turns: Option<Turns>,
    /// Only where the visitor asked [`crate::domain::rating::slice::LONG_PROMPT_TOKENS`] or more.
    pub long_prompts: bool,
    /// Without ties and "both bad".
    pub without_ties: bool,
    /// With the looks of the replies held equal.
    pub style: bool,
    /// Cast before this moment.
    pub until: Option<Timestamp>,
}

/// What came of a question.
#[derive(Debug, Clone)]
pub struct FilteredLeaderboard {
    /// The latest vote that was there.
    pub last_vote_seq: i64,
    /// Until when it is shown although there are newer votes.
    fresh_until: Instant,
    /// The leaderboard.
    pub board: Leaderboard,
    /// The figures of every pair.
    pub pairs: Pairs,
    /// Ratings at past moments; none where style is held equal.
    pub history: Vec<Moment>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum FilteredLeaderboardError {
    /// There is no result, for all who asked.
    #[error(transparent)]
    Shared(#[from] FlightError<Self>),
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// No vote has what was asked for.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The fit's thread died.
    #[error("the thread of the fit ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl FilteredLeaderboardError {
    /// Whether no vote has what was asked for.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Shared(error) => error.cause().is_some_and(Self::is_missing),
            Self::Slice(_) => true,
            Self::Votes(_) | Self::Fit(_) | Self::Thread(_) => false,
        }
    }

    /// Whether the database is in trouble, of which the log has a line already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Shared(error) => error.cause().is_some_and(Self::is_outage),
            Self::Votes(error) => error.is_outage(),
            Self::Slice(_) | Self::Fit(_) | Self::Thread(_) => false,
        }
    }
}

/// What a study depends on beside the votes: when a label last changed, for who asks what votes are about.
type StudyKey = (LeaderboardFilter, LeaderboardOptions, Timestamp);

/// Answers questions.
#[derive(Debug)]
pub struct FilteredLeaderboards {
    store: Store,
    settings: CurrentSettings,
    fits: SingleFlight<StudyKey, FilteredLeaderboard, FilteredLeaderboardError>,
}

impl FilteredLeaderboards {
    /// Nothing has been asked yet.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings, tasks: Tasks) -> Self {
        let fits = SingleFlight::new("fit_study", KEPT, Throttle::new(REST_TIMES, PATIENCE), tasks);
        Self { store, settings, fits }
    }

    /// The leaderboard of a question: as it is with the vote `last_seq`, or a little older.
    ///
    /// # Errors
    /// [`FilteredLeaderboardError`].
    pub async fn answer(
        &self,
        filter: &LeaderboardFilter,
        last_seq: i64,
    ) -> Result<Arc<FilteredLeaderboard>, FilteredLeaderboardError> {
        let options = self.options(filter)?;
        let key = (filter.clone(), options.clone(), self.labelled_at(filter).await?);
        let fit = || study(self.store.clone(), filter.clone(), options.clone());
        Ok(self.fits.get(key, |study| study.is_current(last_seq), fit).await?)
    }

    /// When labels last changed, for who asks what votes are about; otherwise always the same.
    async fn labelled_at(&self, filter: &LeaderboardFilter) -> Result<Timestamp, ReadLogError> {
        if filter.category.is_none() && filter.intent.is_none() {
            return Ok(Timestamp(0));
        }
        Ok(self.store.labels_changed_at().await?)
    }

    fn options(&self, filter: &LeaderboardFilter) -> Result<LeaderboardOptions, FitError> {
        let mut options = leaderboard_options(&self.settings.now().rating)?;
        if filter.without_ties {
            options.scoring.ties = TieRule::Drop;
            options.scoring.both_bad = BothBadRule::Drop;
        }
        options.style = filter.style;
        Ok(options)
    }
}

async fn study(
    store: Store,
    filter: LeaderboardFilter,
    options: LeaderboardOptions,
) -> Result<FilteredLeaderboard, FilteredLeaderboardError> {
    let began = Instant::now();
    let last_vote_seq = store.last_vote_seq().await.map_err(ReadLogError::from)?;
    let range =
        VoteRange { upto: last_vote_seq, until: filter.until.unwrap_or(VoteRange::ALL.until), ..VoteRange::ALL };
    let slice = filter.slice();
    // Times for the history.
    let mut wanted = ColumnSet { seconds: true, style: filter.style, ..ColumnSet::default() };
    slice.want(&mut wanted);
    let log = read_log(&store, Reading { wanted, range, at_once: 1 }, |_, _| {}).await?;
    let study = tokio::task::spawn_blocking(move || fit(&slice, log, &options, last_vote_seq)).await??;
    Ok(study.fresh_for(began.elapsed()))
}

impl FilteredLeaderboard {
    /// The same, shown for a while in proportion to what it cost.
    fn fresh_for(self, cost: Duration) -> Self {
        let fresh = FRESH.max(cost.saturating_mul(FRESH_TIMES));
        Self { fresh_until: later(Instant::now(), fresh), ..self }
    }

    /// Whether it has the vote `last_seq`, or is fresh.
    fn is_current(&self, last_seq: i64) -> bool {
        self.last_vote_seq >= last_seq || Instant::now() < self.fresh_until
    }
}

impl LeaderboardFilter {
    /// The part of the votes; the time is left to the database.
    fn slice(&self) -> Slice {
        Slice {
            language: self.language.clone(),
            category: self.category.clone(),
            intent: self.intent.clone(),
            turns: self.turns,
            long_prompts: self.long_prompts,
            ..Slice::default()
        }
    }

    /// Whether all votes are asked for, as they are now.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

fn fit(
    slice: &Slice,
    log: VoteLog,
    options: &LeaderboardOptions,
    last: i64,
) -> Result<FilteredLeaderboard, FilteredLeaderboardError> {
    let log = slice.take(log)?;
    let board = rank_log(&log, options)?;
    let pairs = Pairs::of(&board.models, &Tally::of_log(&log, options.scoring));
    let history = history(&log, MOMENTS, options)?;
    Ok(FilteredLeaderboard { last_vote_seq: last, fresh_until: Instant::now(), board, pairs, history })
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_study_is_shown_until_it_is_old_and_there_are_newer_votes() {
        for (cost, fresh) in [(1, 60), (7, 70)] {
            let study = fit(&Slice::default(), VoteLog::default(), &LeaderboardOptions::default(), 5).unwrap();
            let study = study.fresh_for(Duration::from_secs(cost));
            advance(Duration::from_millis(1_000 * fresh - 1)).await;
            assert!(study.is_current(6), "fresh for {fresh} s");
            advance(Duration::from_millis(1)).await;
            assert!(!study.is_current(6) && study.is_current(5), "without newer votes it is as good as new");
        }
    }
}
