//! A report on all votes, computed in the background and cached in memory until a vote, an exclusion or a rating setting changes.
//!
//! A report reads all votes and takes seconds with millions of them, so it runs neither in a request nor in a refit. It uses one thread,
//! which leaves the other cores to the live leaderboard. It has the votes of the published leaderboard, so a comparison of the two reveals
//! no single vote.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use tokio::sync::watch;

use super::latest_leaderboard::LatestLeaderboard;
use crate::domain::rating::FitError;
use crate::domain::rating::options::LeaderboardOptions;
use crate::infra::config::CurrentSettings;
use crate::infra::storage::{Store, StoreError, VoteRange};
use crate::infra::stored_votes::vote_log::ReadLogError;

/// Everything that a report depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct VotesVersion {
    last_vote_seq: i64,
    exclusion_changes: i64,
    /// The options of the published leaderboard.
    pub rating: LeaderboardOptions,
}

impl VotesVersion {
    async fn read(
        store: &Store,
        settings: &CurrentSettings,
        leaderboard: &LatestLeaderboard,
    ) -> Result<Self, ReportError> {
        Ok(Self {
            last_vote_seq: leaderboard.latest().last_public_seq().min(store.last_vote_seq().await?),
            exclusion_changes: store.exclusion_changes().await?,
            rating: settings.now().rating.leaderboard_options()?,
        })
    }

    /// Returns the range of votes in the report.
    #[must_use]
    pub fn range(&self) -> VoteRange {
        VoteRange { upto: self.last_vote_seq, ..VoteRange::ALL }
    }
}

/// Report with the version of its inputs; empty before the first.
#[derive(Debug, Default)]
pub struct ReportSnapshot<R> {
    input_version: Option<VotesVersion>,
    /// The report.
    pub report: R,
    cost: Duration,
}

impl<R> ReportSnapshot<R> {
    /// Returns the time taken to read the votes and compute the report.
    #[must_use]
    pub fn cost(&self) -> Duration {
        self.cost
    }

    /// Returns the sequence number of the latest vote in the report; 0 before the first.
    #[must_use]
    pub fn last_vote_seq(&self) -> i64 {
        self.input_version.as_ref().map_or(0, |version| version.last_vote_seq)
    }
}

/// Error of computing a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The thread could not be started.
    #[error(transparent)]
    Start(#[from] ThreadPoolBuildError),
    /// The thread panicked.
    #[error("the thread of a report panicked")]
    Thread(#[from] tokio::task::JoinError),
}

impl From<StoreError> for ReportError {
    fn from(error: StoreError) -> Self {
        Self::Votes(error.into())
    }
}

impl ReportError {
    /// Whether the database is unavailable, which the log reports already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Votes(error) if error.is_outage())
    }
}

/// Holder of the latest report.
pub struct BackgroundReport<R> {
    pub(super) store: Store,
    settings: CurrentSettings,
    leaderboard: Arc<LatestLeaderboard>,
    latest: watch::Sender<Arc<ReportSnapshot<R>>>,
}

impl<R: Default> BackgroundReport<R> {
    /// Creates the holder without a report; reports will have the votes of `leaderboard`.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings, leaderboard: Arc<LatestLeaderboard>) -> Self {
        Self { store, settings, leaderboard, latest: watch::Sender::default() }
    }

    /// Returns the latest report.
    #[must_use]
    pub fn latest(&self) -> Arc<ReportSnapshot<R>> {
        Arc::clone(&self.latest.borrow())
    }

    /// Returns a receiver of every new report.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<ReportSnapshot<R>>> {
        self.latest.subscribe()
    }

    /// Makes a new report if an input of the latest one changed. Returns whether it did.
    pub(super) async fn refresh_by<F>(&self, make: impl FnOnce(VotesVersion) -> F) -> Result<bool, ReportError>
    where
        F: Future<Output = Result<R, ReportError>>,
    {
        let version = VotesVersion::read(&self.store, &self.settings, &self.leaderboard).await?;
        if self.latest().input_version.as_ref() == Some(&version) {
            return Ok(false);
        }
        let started = Instant::now();
        let report = make(version.clone()).await?;
        let (input_version, cost) = (Some(version), started.elapsed());
        self.latest.send_replace(Arc::new(ReportSnapshot { input_version, report, cost }));
        Ok(true)
    }
}

/// Computes on a blocking thread, in a thread pool of one.
pub(crate) async fn on_one_thread<T: Send + 'static>(
    compute: impl FnOnce() -> Result<T, FitError> + Send + 'static,
) -> Result<T, ReportError> {
    let alone = ThreadPoolBuilder::new().num_threads(1).build()?;
    Ok(tokio::task::spawn_blocking(move || alone.install(compute)).await??)
}
