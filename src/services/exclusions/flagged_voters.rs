//! Flagged voters, whose votes differ from the crowd's more than chance and honest tastes explain, with the evidence. Flagging excludes no
//! votes.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::integrity::anomalous_voters::detection::{VoterReport, VoterTest, test_voters};
use crate::domain::integrity::pseudonym::voter_pseudonym;
use crate::domain::rating::FitError;
use crate::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::infra::single_flight::{FlightError, SingleFlight, Throttle};
use crate::infra::storage::{Store, StoreError, VoteRange};
use crate::infra::stored_votes::vote_log::{LogQuery, ReadLogError, read_log};
use crate::infra::tasks::Tasks;

/// Cool-down after a test, as a multiple of its duration.
const COOL_DOWN_FACTOR: u32 = 4;
/// Maximum wait for other tests.
const TEST_QUEUE_TIMEOUT: Duration = Duration::from_secs(20);

/// Error of testing voters.
#[derive(Debug, thiserror::Error)]
pub enum FlaggedError {
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// The crowd's ratings could not be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The thread panicked.
    #[error("the thread of the test panicked")]
    Thread(#[from] tokio::task::JoinError),
}

impl FlaggedError {
    /// Whether the database is unavailable, which the log reports already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Votes(error) if error.is_outage())
    }
}

impl From<StoreError> for FlaggedError {
    fn from(error: StoreError) -> Self {
        Self::Votes(error.into())
    }
}

/// Reads the rated votes with their voters. `progress` gets the sequence numbers of the latest vote read and of the last vote.
///
/// # Errors
/// [`ReadLogError`].
pub async fn read_voters(store: &Store, progress: impl Fn(i64, i64)) -> Result<VoteLog, ReadLogError> {
    let columns = ColumnSet { voters: true, ..ColumnSet::default() };
    read_log(store, LogQuery { columns, range: VoteRange::ALL, concurrency: 2 }, progress).await
}

/// Replaces the stored voter ids by the published pseudonyms.
pub fn hide_voters(report: &mut VoterReport) {
    report.results.iter_mut().for_each(|result| result.voter = voter_pseudonym(&result.voter));
}

/// Report with the version of its inputs.
#[derive(Debug)]
struct TestedVotes {
    version: (i64, i64),
    report: Arc<VoterReport>,
}

/// Cache of the latest score test of all voters, until a vote or an exclusion changes.
pub struct FlaggedVotersCache {
    store: Store,
    flights: SingleFlight<(), TestedVotes, FlaggedError>,
}

impl FlaggedVotersCache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(store: Store, tasks: Tasks) -> Self {
        let flights = SingleFlight::new("test_voters", 1, Throttle::new(COOL_DOWN_FACTOR, TEST_QUEUE_TIMEOUT), tasks);
        Self { store, flights }
    }

    /// Returns the score test of all voters, by their pseudonyms.
    ///
    /// # Errors
    /// [`FlightError`].
    pub async fn report(&self) -> Result<Arc<VoterReport>, FlightError<FlaggedError>> {
        let failed = |error: StoreError| FlightError::Failed(Arc::new(FlaggedError::from(error)));
        let version = version(&self.store).await.map_err(failed)?;
        let tested = self.flights.get((), |tested| tested.version == version, || test(self.store.clone())).await?;
        Ok(Arc::clone(&tested.report))
    }
}

async fn version(store: &Store) -> Result<(i64, i64), StoreError> {
    Ok((store.last_vote_seq().await?, store.exclusion_changes().await?))
}

async fn test(store: Store) -> Result<TestedVotes, FlaggedError> {
    let version = version(&store).await?;
    let log = read_voters(&store, |_, _| {}).await?;
    let tested = tokio::task::spawn_blocking(move || test_voters(&log, VoterTest::Score, 0)).await?;
    let mut report = match tested {
        // There are no votes yet, or all were imported without voters.
        Err(FitError::NoVoters) => VoterReport { test: VoterTest::Score, voters: 0, results: Vec::new(), taste: None },
        tested => tested?,
    };
    hide_voters(&mut report);
    Ok(TestedVotes { version, report: Arc::new(report) })
}
