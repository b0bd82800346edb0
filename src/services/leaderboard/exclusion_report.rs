//! What exclusions change on the published leaderboard: computed in the background and kept in memory.
//!
//! A report reads all votes and fits them once for each rule in force, so it belongs neither to a request nor to a refit. It uses one
//! thread, as the robustness report does. Without exclusions it costs nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use tokio::sync::watch;

use super::refit::leaderboard_options;
use super::vote_log::{LogQuery, ReadLogError, read_cast_votes};
use crate::domain::integrity::board_change::BoardChange;
use crate::domain::integrity::cast_votes::CastVotes;
use crate::domain::integrity::exclusions_in_force::ExclusionsInForce;
use crate::domain::rating::FitError;
use crate::domain::rating::options::LeaderboardOptions;
use crate::domain::rating::ranking::rank_log;
use crate::domain::rating::vote_log::ColumnSet;
use crate::infra::config::CurrentSettings;
use crate::infra::storage::{Store, StoreError, VoteRange};

/// Everything that a report depends on.
#[derive(Debug, Clone, PartialEq)]
struct InputVersion {
    last_vote_seq: i64,
    exclusion_changes: i64,
    rating: LeaderboardOptions,
}

/// What the votes of each rule would change if they were rated.
#[derive(Debug, Default)]
pub struct ExclusionReport {
    input_version: Option<InputVersion>,
    /// By rule, in alphabetical order.
    pub rules: Vec<RuleEffect>,
    cost: Duration,
}

/// What would change without a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleEffect {
    /// Name of the rule.
    pub rule: String,
    /// Votes that would be rated.
    pub votes: u64,
    /// Models whose rank would change.
    pub ranks_changed: usize,
    /// The largest change of a rating, in points; `None` where no model has a rating on both leaderboards.
    pub largest_change: Option<f64>,
}

impl ExclusionReport {
    /// Time to read the votes and compute the report.
    #[must_use]
    pub fn cost(&self) -> Duration {
        self.cost
    }

    /// What would change without a rule, once that is known.
    #[must_use]
    pub fn effect_of(&self, rule: &str) -> Option<&RuleEffect> {
        self.rules.iter().find(|effect| effect.rule == rule)
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ExclusionReportError {
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
    #[error("the thread of the exclusion report panicked")]
    Thread(#[from] tokio::task::JoinError),
}

impl From<StoreError> for ExclusionReportError {
    fn from(error: StoreError) -> Self {
        Self::Votes(error.into())
    }
}

impl ExclusionReportError {
    /// Whether the database is unavailable, which the log reports already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Votes(error) if error.is_outage())
    }
}

/// Keeps the latest report.
pub struct ExclusionReports {
    store: Store,
    settings: CurrentSettings,
    latest: watch::Sender<Arc<ExclusionReport>>,
}

impl ExclusionReports {
    /// A service without a report.
    #[must_use]
    pub fn new(store: Store, settings: CurrentSettings) -> Self {
        Self { store, settings, latest: watch::Sender::default() }
    }

    /// The latest report.
    #[must_use]
    pub fn latest(&self) -> Arc<ExclusionReport> {
        Arc::clone(&self.latest.borrow())
    }

    /// Notifies of every new report.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<ExclusionReport>> {
        self.latest.subscribe()
    }

    /// Makes a new report if anything changed that the latest one depends on. Returns whether it did.
    ///
    /// # Errors
    /// [`ExclusionReportError`]; the previous report stays.
    pub async fn refresh(&self) -> Result<bool, ExclusionReportError> {
        let input_version = self.input_version().await?;
        if self.latest().input_version.as_ref() == Some(&input_version) {
            return Ok(false);
        }
        let started = Instant::now();
        let range = VoteRange { upto: input_version.last_vote_seq, ..VoteRange::ALL };
        let in_force = self.store.exclusions_in_force(range).await?;
        let rules = if in_force.rules().is_empty() {
            Vec::new()
        } else {
            let options = input_version.rating.clone();
            let columns = ColumnSet { voters: options.interval.reads_voters(), ..ColumnSet::default() };
            let reading = LogQuery { columns, range, concurrency: 1 };
            let cast = read_cast_votes(&self.store, reading, |_, _| {}).await?;
            tokio::task::spawn_blocking(move || on_one_thread(&cast, &in_force, &options)).await??
        };
        let (input_version, cost) = (Some(input_version), started.elapsed());
        self.latest.send_replace(Arc::new(ExclusionReport { input_version, rules, cost }));
        Ok(true)
    }

    async fn input_version(&self) -> Result<InputVersion, ExclusionReportError> {
        Ok(InputVersion {
            last_vote_seq: self.store.last_vote_seq().await?,
            exclusion_changes: self.store.exclusion_changes().await?,
            rating: leaderboard_options(&self.settings.now().rating)?,
        })
    }
}

fn on_one_thread(
    cast: &CastVotes,
    in_force: &ExclusionsInForce,
    options: &LeaderboardOptions,
) -> Result<Vec<RuleEffect>, ExclusionReportError> {
    let alone = ThreadPoolBuilder::new().num_threads(1).build()?;
    Ok(alone.install(|| effects(cast, in_force, options))?)
}

fn effects(
    cast: &CastVotes,
    in_force: &ExclusionsInForce,
    options: &LeaderboardOptions,
) -> Result<Vec<RuleEffect>, FitError> {
    let board = rank_log(&cast.rated(in_force), options)?;
    let effect = |rule: &Arc<str>| {
        let without = rank_log(&cast.rated(&in_force.clone().without_rule(rule)), options)?;
        let change = BoardChange::between(&board, &without);
        Ok(RuleEffect {
            rule: rule.to_string(),
            votes: change.votes_after - change.votes_before,
            ranks_changed: change.ranks_changed,
            largest_change: change.largest_change,
        })
    };
    in_force.rules().iter().map(effect).collect()
}
