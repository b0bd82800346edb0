//! Reports of judges on battles, cached until votes, verdicts or labels change.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::domain::battle_judging::leaderboards::verdict_log;
use crate::domain::battle_judging::report::{BattleJudgingReport, report};
use crate::domain::battle_judging::verdicts::{JudgedVote, by_judge};
use crate::domain::labeling::scheme::Scheme;
use crate::domain::rating::FitError;
use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::domain::rating::leaderboards::ranking::rank;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::votes::vote_log::VoteLog;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::domain::time::Timestamp;
use crate::infra::single_flight::{FlightError, SingleFlight, Throttle};
use crate::infra::storage::{Store, StoreError, VoteRange};
use crate::infra::stored_votes::final_labels::final_labels_of;
use crate::infra::stored_votes::vote_log::ReadLogError;
use crate::infra::stored_votes::vote_tally::VoteTally;
use crate::infra::tasks::Tasks;
use crate::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Page size of label look-ups, in sequence numbers.
const PAGE_SIZE: i64 = 10_000;
/// Longest wait for another report.
const REPORT_QUEUE_TIMEOUT: Duration = Duration::from_secs(10);

/// Error of computing a report.
#[derive(Debug, thiserror::Error)]
pub enum BattleJudgingError {
    /// The judge has no verdicts.
    #[error("no battle was judged by {0:?}: there are verdicts of {1}")]
    NoVerdicts(String, String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// A fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The shared computation failed or was not started.
    #[error(transparent)]
    Shared(#[from] FlightError<Self>),
    /// The computing thread panicked.
    #[error("the thread of the report ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl BattleJudgingError {
    /// Whether the database is unavailable, which is logged already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_outage(),
            Self::Votes(error) => error.is_outage(),
            Self::Shared(error) => error.cause().is_some_and(Self::is_outage),
            Self::NoVerdicts(..) | Self::Fit(_) | Self::Thread(_) => false,
        }
    }
}

/// Cache of the latest report, with the state for computing the next one.
pub struct BattleJudgingReports {
    store: Store,
    /// Leaderboard whose last vote ends the reports; `None` for all votes.
    leaderboard: Option<Arc<LatestLeaderboard>>,
    /// Tally of the votes of the latest report: distances between models are taken from their leaderboard.
    tally: Arc<Mutex<VoteTally>>,
    reports: SingleFlight<VerdictsVersion, BattleJudgingReport, BattleJudgingError>,
}

/// Everything that a report depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct VerdictsVersion {
    verdicts: u64,
    last_vote_seq: i64,
    exclusion_changes: i64,
    labeled_at: Timestamp,
    level: ConfidenceLevel,
}

impl BattleJudgingReports {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(store: Store, tasks: Tasks) -> Self {
        let reports = SingleFlight::new("report_judges", 1, Throttle::new(0, REPORT_QUEUE_TIMEOUT), tasks);
        Self { store, leaderboard: None, tally: Arc::default(), reports }
    }

    /// Ends the reports at the last vote of the leaderboard, as those of an arena: a later vote would show which models had just met.
    #[must_use]
    pub fn up_to(self, leaderboard: Arc<LatestLeaderboard>) -> Self {
        Self { leaderboard: Some(leaderboard), ..self }
    }

    /// Returns the current report. One report at a time is computed.
    ///
    /// # Errors
    /// [`BattleJudgingError`].
    pub async fn latest(&self, level: ConfidenceLevel) -> Result<Arc<BattleJudgingReport>, BattleJudgingError> {
        let input_version = self.input_version(level).await?;
        let make = || {
            let (store, tally) = (self.store.clone(), Arc::clone(&self.tally));
            async move { make(&store, &mut *tally.lock().await, input_version.last_vote_seq, level).await }
        };
        Ok(self.reports.get(input_version, |_| true, make).await?)
    }

    async fn input_version(&self, level: ConfidenceLevel) -> Result<VerdictsVersion, StoreError> {
        let verdicts = self.store.verdict_count().await?;
        Ok(VerdictsVersion {
            verdicts,
            // Without verdicts the report is empty.
            last_vote_seq: if verdicts == 0 { 0 } else { self.last_vote().await? },
            exclusion_changes: if verdicts == 0 { 0 } else { self.store.exclusion_changes().await? },
            labeled_at: if verdicts == 0 { Timestamp(0) } else { self.store.labels_changed_at().await? },
            level,
        })
    }

    async fn last_vote(&self) -> Result<i64, StoreError> {
        let shown = self.leaderboard.as_ref().map_or(i64::MAX, |leaderboard| leaderboard.latest().last_public_seq());
        Ok(shown.min(self.store.last_vote_seq().await?))
    }
}

async fn make(
    store: &Store,
    tally: &mut VoteTally,
    last_vote: i64,
    level: ConfidenceLevel,
) -> Result<BattleJudgingReport, BattleJudgingError> {
    let mut said = judged_votes(store, "").await?;
    said.retain(|one| one.seq <= last_vote);
    if !said.is_empty() {
        tally.catch_up_to(store, last_vote, |_| {}).await?;
    }
    let (comparisons, elo) = (tally.counts.comparisons.clone(), tally.counts.elo.clone());
    let made = tokio::task::spawn_blocking(move || {
        let options = LeaderboardOptions { confidence: level, ..LeaderboardOptions::default() };
        let models: Vec<RankedModel> = rank(&comparisons, &elo, &options)?.models;
        report(&said, &models, level)
    });
    Ok(made.await??)
}

/// Returns a judge's verdicts as votes, to be fitted like any others: of battles with two parsed games and a vote up to `last_vote`.
///
/// # Errors
/// [`BattleJudgingError::NoVerdicts`] names the judges that there are.
pub async fn verdict_votes(store: &Store, judge: &str, last_vote: i64) -> Result<VoteLog, BattleJudgingError> {
    let mut said = judged_votes(store, judge).await?;
    said.retain(|one| one.seq <= last_vote);
    match by_judge(&said).first() {
        Some(found) => Ok(verdict_log(&found.battles)),
        None => Err(BattleJudgingError::NoVerdicts(judge.to_owned(), judges(store).await?)),
    }
}

/// Lists the judges with verdicts, for an error message.
async fn judges(store: &Store) -> Result<String, StoreError> {
    let all = store.verdict_spending(Timestamp(i64::MIN)).await?;
    let names: Vec<String> = all.into_iter().map(|spent| spent.judge).collect();
    Ok(if names.is_empty() { "nobody".to_owned() } else { names.join(", ") })
}

/// Reads the verdicts of a judge, or of all judges if it is empty. Categories and intents are the final labels of the prompts, or else the
/// visitors' own.
async fn judged_votes(store: &Store, judge: &str) -> Result<Vec<JudgedVote>, StoreError> {
    let mut said = store.judged_votes(judge).await?;
    if said.is_empty() || store.labels_changed_at().await? == Timestamp(0) {
        return Ok(said);
    }
    let page = |one: &JudgedVote| (one.seq - 1) / PAGE_SIZE;
    for chunk in said.chunk_by_mut(|one, other| page(one) == page(other)) {
        let after = page(&chunk[0]) * PAGE_SIZE;
        let range = VoteRange { after, upto: after + PAGE_SIZE, ..VoteRange::ALL };
        let labels = final_labels_of(store, &Scheme::ALL, range).await?;
        for one in chunk {
            let label = |scheme| labels.of(scheme, one.seq).map(str::to_owned);
            let (category, intent) = (label(Scheme::Superclue), label(Scheme::Urs));
            one.category = category.or(one.category.take());
            one.intent = intent.or(one.intent.take());
        }
    }
    Ok(said)
}
