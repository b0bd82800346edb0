//! Leaderboards of a slice of the votes, of a past moment, or with style control, fitted on demand.
//!
//! Each is an exact fit of the votes in the log. One fit runs at a time
//! ([`single_flight`](crate::infra::single_flight)), with a cool-down, and results are cached, so the cost is
//! bounded for any number and kind of requests.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::integrity::exclusions::exclusions_in_force::ExclusionsInForce;
use crate::domain::integrity::exclusions::leaderboard_change::LeaderboardChange;
use crate::domain::rating::FitError;
use crate::domain::rating::counts::tally::Tally;
use crate::domain::rating::leaderboards::differences::Differences;
use crate::domain::rating::leaderboards::history::{Moment, history};
use crate::domain::rating::leaderboards::leaderboard::Leaderboard;
use crate::domain::rating::leaderboards::leaderboard_filter::{CountedVotes, LeaderboardFilter};
use crate::domain::rating::leaderboards::ranking::{Ranking, rank_log, rank_log_with_differences};
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::votes::slice::{Slice, SliceError};
use crate::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::domain::time::Timestamp;
use crate::infra::cache_validity::CacheValidity;
use crate::infra::config::CurrentSettings;
use crate::infra::single_flight::{FlightError, SingleFlight, Throttle};
use crate::infra::storage::{Store, VoteRange};
use crate::infra::stored_votes::prompt_index::read_prompt_index;
use crate::infra::stored_votes::vote_log::{LogQuery, ReadLogError, read_cast_votes, read_log};
use crate::infra::tasks::Tasks;
use crate::render::chart::pair_values::Pairs;

/// Number of moments in the rating history.
const HISTORY_POINTS: usize = 40;
/// Cool-down after a fit, as a multiple of its duration: fits use at most a fifth of wall time.
const COOL_DOWN_FACTOR: u32 = 4;
/// Maximum wait for fits of other filters.
const FIT_QUEUE_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of cached leaderboards.
const CACHE_CAPACITY: usize = 48;

/// Leaderboard for a filter.
#[derive(Debug, Clone)]
pub struct FilteredLeaderboard {
    validity: CacheValidity,
    /// The leaderboard.
    pub leaderboard: Leaderboard,
    /// Differences of any two models.
    pub differences: Differences,
    /// Counts and predictions of every pair.
    pub pairs: Pairs,
    /// Rating history; empty with style control and with the sides held equal.
    pub history: Vec<Moment>,
    /// Change from the leaderboard of the rated votes; `None` for that leaderboard itself.
    pub change: Option<LeaderboardChange>,
}

/// Error of fitting a filtered leaderboard.
#[derive(Debug, thiserror::Error)]
pub enum FilteredLeaderboardError {
    /// The shared computation failed or was not started.
    #[error(transparent)]
    Shared(#[from] FlightError<Self>),
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// No vote matches the filter.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The fit thread panicked.
    #[error("the fit thread panicked")]
    Thread(#[from] tokio::task::JoinError),
}

impl FilteredLeaderboardError {
    /// Whether no vote matches the filter.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Shared(error) => error.cause().is_some_and(Self::is_missing),
            Self::Slice(_) => true,
            Self::Votes(_) | Self::Fit(_) | Self::Thread(_) => false,
        }
    }

    /// Whether the database is unavailable, which the log reports already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Shared(error) => error.cause().is_some_and(Self::is_outage),
            Self::Votes(error) => error.is_outage(),
            Self::Slice(_) | Self::Fit(_) | Self::Thread(_) => false,
        }
    }
}

/// Everything that a leaderboard depends on besides the votes: also the time of the last label change, if the filter uses
/// labels, and the number of changes to exclusions.
type LeaderboardCacheKey = (LeaderboardFilter, LeaderboardOptions, Timestamp, i64);

/// Fits and caches filtered leaderboards.
#[derive(Debug)]
pub struct FilteredLeaderboards {
    store: Store,
    settings: CurrentSettings,
    fits: SingleFlight<LeaderboardCacheKey, FilteredLeaderboard, FilteredLeaderboardError>,
}

impl FilteredLeaderboards {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings, tasks: Tasks) -> Self {
        let fits = SingleFlight::new(
            "fit_filtered_leaderboard",
            CACHE_CAPACITY,
            Throttle::new(COOL_DOWN_FACTOR, FIT_QUEUE_TIMEOUT),
            tasks,
        );
        Self { store, settings, fits }
    }

    /// Returns the leaderboard for a filter, with the votes up to `last_seq` or slightly fewer: never with later ones, which would reveal
    /// single votes before the published leaderboard counts them.
    ///
    /// # Errors
    /// [`FilteredLeaderboardError`].
    pub async fn get(
        &self,
        filter: &LeaderboardFilter,
        last_seq: i64,
    ) -> Result<Arc<FilteredLeaderboard>, FilteredLeaderboardError> {
        let options = filter.options(self.settings.now().rating.leaderboard_options()?);
        let exclusion_changes = self.store.exclusion_changes().await.map_err(ReadLogError::from)?;
        let key = (filter.clone(), options.clone(), labels_changed_at(&self.store, filter).await?, exclusion_changes);
        let fit = || read_and_fit(self.store.clone(), filter.clone(), options.clone(), last_seq);
        Ok(self.fits.get(key, |cached| cached.validity.is_current(last_seq), fit).await?)
    }
}

async fn read_and_fit(
    store: Store,
    filter: LeaderboardFilter,
    options: LeaderboardOptions,
    last_seq: i64,
) -> Result<FilteredLeaderboard, FilteredLeaderboardError> {
    let began = Instant::now();
    let last_vote_seq = store.last_vote_seq().await.map_err(ReadLogError::from)?.min(last_seq);
    let range =
        VoteRange { upto: last_vote_seq, until: filter.until.unwrap_or(VoteRange::ALL.until), ..VoteRange::ALL };
    let slice = filter.slice();
    // The history needs times.
    let voters = options.interval.reads_voters();
    let mut columns = ColumnSet { seconds: true, style: filter.style, voters, ..ColumnSet::default() };
    slice.add_columns(&mut columns);
    filter.pool_by.into_iter().for_each(|column| column.add_to(&mut columns));
    let reading = LogQuery { columns, range, concurrency: 1 };
    let (log, rated) = match filter.votes {
        CountedVotes::Rated => (read_log(&store, reading, |_, _| {}).await?, None),
        votes => {
            let both = read_both(&store, reading, votes, |_, _| {}).await?;
            (both.counted, Some(both.rated))
        }
    };
    let fitted = tokio::task::spawn_blocking(move || {
        let fitted = fit(&slice, log, &options)?;
        // The slice may have no rated vote.
        let rated = rated.map(|rated| rank_log(&slice.take(rated).unwrap_or_default(), &options));
        let change = rated.transpose()?.map(|rated| LeaderboardChange::between(&rated, &fitted.ranking.leaderboard));
        Ok::<_, FilteredLeaderboardError>((fitted, change))
    });
    let (FittedVotes { ranking: Ranking { leaderboard, differences }, pairs, history }, change) = fitted.await??;
    let validity = CacheValidity::new(last_vote_seq, began.elapsed());
    Ok(FilteredLeaderboard { validity, leaderboard, differences, pairs, history, change })
}

/// Counted votes, and the rated votes, which count by default.
pub struct CountedAndRatedVotes {
    /// Votes that count.
    pub counted: VoteLog,
    /// Votes that are rated.
    pub rated: VoteLog,
}

/// Reads the log once for both. `progress` gets the sequence numbers of the latest vote read and of the last vote.
///
/// # Errors
/// [`ReadLogError`].
pub async fn read_both(
    store: &Store,
    reading: LogQuery,
    votes: CountedVotes,
    progress: impl Fn(i64, i64),
) -> Result<CountedAndRatedVotes, ReadLogError> {
    let in_force = store.exclusions_in_force(reading.range).await?;
    let counted = match votes {
        CountedVotes::Rated => in_force.clone(),
        CountedVotes::WithExcluded => ExclusionsInForce::default(),
        // Repetitions are found over all votes, whatever the selected time range.
        CountedVotes::UniquePrompts => read_prompt_index(store, &progress).await?.without_repeated(in_force.clone()),
    };
    let cast = read_cast_votes(store, reading, progress).await?;
    let both = move || CountedAndRatedVotes { counted: cast.rated(&counted), rated: cast.rated(&in_force) };
    Ok(tokio::task::spawn_blocking(both).await?)
}

/// Returns the time of the last label change if the filter uses labels, otherwise 0.
pub(super) async fn labels_changed_at(store: &Store, filter: &LeaderboardFilter) -> Result<Timestamp, ReadLogError> {
    if filter.uses_labels() { Ok(store.labels_changed_at().await?) } else { Ok(Timestamp(0)) }
}

/// Leaderboard and statistics fitted to a slice.
struct FittedVotes {
    ranking: Ranking,
    pairs: Pairs,
    history: Vec<Moment>,
}

fn fit(slice: &Slice, log: VoteLog, options: &LeaderboardOptions) -> Result<FittedVotes, FilteredLeaderboardError> {
    let log = slice.take(log)?;
    let ranking = rank_log_with_differences(&log, options)?;
    let pairs = Pairs::new(&ranking.leaderboard.models, &Tally::from_log(&log, options.scoring));
    let history = history(&log, HISTORY_POINTS, options)?;
    Ok(FittedVotes { ranking, pairs, history })
}
