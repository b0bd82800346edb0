//! How firm the published leaderboard is: computed in the background and kept in memory.
//!
//! A report reads all votes and takes seconds where there are millions of them, so it belongs neither to a request nor to a
//! refit. It uses one thread, which leaves the other cores to the live leaderboard.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use tokio::sync::watch;

use super::refit::leaderboard_options;
use super::vote_log::{LogQuery, ReadLogError, read_log};
use crate::domain::integrity::rigging_report::{RiggingReport, rigging_report};
use crate::domain::rating::FitError;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::robustness::{OverallRobustness, RobustnessOptions, overall_robustness};
use crate::domain::rating::vote_log::{ColumnSet, VoteLog};
use crate::domain::time::Timestamp;
use crate::infra::clock::Clock;
use crate::infra::config::CurrentSettings;
use crate::infra::storage::{Store, StoreError, VoteRange};

/// Everything that a report depends on.
#[derive(Debug, Clone, PartialEq)]
struct InputVersion {
    last_vote_seq: i64,
    exclusion_changes: i64,
    rating: LeaderboardOptions,
}

/// A report with its date.
#[derive(Debug, Default)]
pub struct RobustnessSnapshot {
    input_version: Option<InputVersion>,
    /// Time of the report; `None` before the first.
    pub computed_at: Option<Timestamp>,
    /// The report.
    pub report: OverallRobustness,
    /// What rigging would take, and may have done.
    pub rigging: RiggingReport,
    cost: Duration,
}

impl RobustnessSnapshot {
    /// Time to read the votes and compute the report.
    #[must_use]
    pub fn cost(&self) -> Duration {
        self.cost
    }

    /// The latest vote in the report; 0 before the first.
    #[must_use]
    pub fn last_vote_seq(&self) -> i64 {
        self.input_version.as_ref().map_or(0, |version| version.last_vote_seq)
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum RobustnessError {
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
    #[error("the thread of the robustness report panicked")]
    Thread(#[from] tokio::task::JoinError),
}

impl From<StoreError> for RobustnessError {
    fn from(error: StoreError) -> Self {
        Self::Votes(error.into())
    }
}

impl RobustnessError {
    /// Whether the database is unavailable, which the log reports already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Votes(error) if error.is_outage())
    }
}

/// Keeps the latest report.
pub struct RobustnessService {
    store: Store,
    settings: CurrentSettings,
    clock: Arc<dyn Clock>,
    latest: watch::Sender<Arc<RobustnessSnapshot>>,
}

impl RobustnessService {
    /// A service without a report.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings, clock: Arc<dyn Clock>) -> Self {
        Self { store, settings, clock, latest: watch::Sender::default() }
    }

    /// The latest report.
    #[must_use]
    pub fn latest(&self) -> Arc<RobustnessSnapshot> {
        Arc::clone(&self.latest.borrow())
    }

    /// Notifies of every new report.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<RobustnessSnapshot>> {
        self.latest.subscribe()
    }

    /// Makes a new report if anything changed that the latest one depends on. Returns whether it did.
    ///
    /// # Errors
    /// [`RobustnessError`]; the previous report stays.
    pub async fn refresh(&self) -> Result<bool, RobustnessError> {
        let input_version = self.input_version().await?;
        if self.latest().input_version.as_ref() == Some(&input_version) {
            return Ok(false);
        }
        let started = Instant::now();
        let columns = ColumnSet { voters: true, ..ColumnSet::default() };
        let range = VoteRange { upto: input_version.last_vote_seq, ..VoteRange::ALL };
        let log = read_log(&self.store, LogQuery { columns, range, concurrency: 1 }, |_, _| {}).await?;
        let LeaderboardOptions { scoring, confidence, .. } = input_version.rating;
        let options = RobustnessOptions { scoring, confidence, ..RobustnessOptions::default() };
        let (report, rigging) = tokio::task::spawn_blocking(move || on_one_thread(&log, options)).await??;
        let computed_at = Some(self.clock.now());
        let (input_version, cost) = (Some(input_version), started.elapsed());
        self.latest.send_replace(Arc::new(RobustnessSnapshot { input_version, computed_at, report, rigging, cost }));
        Ok(true)
    }

    async fn input_version(&self) -> Result<InputVersion, RobustnessError> {
        Ok(InputVersion {
            last_vote_seq: self.store.last_vote_seq().await?,
            exclusion_changes: self.store.exclusion_changes().await?,
            rating: leaderboard_options(&self.settings.now().rating)?,
        })
    }
}

fn on_one_thread(
    log: &VoteLog,
    options: RobustnessOptions,
) -> Result<(OverallRobustness, RiggingReport), RobustnessError> {
    let alone = ThreadPoolBuilder::new().num_threads(1).build()?;
    alone.install(|| Ok((overall_robustness(log, options)?, rigging_report(log, options.seed)?)))
}
