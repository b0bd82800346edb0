//! All series of the arena at one moment, with their correlations.

use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::Mutex;

use super::catalog::{CorrelationMatrix, SeriesCatalog, SeriesGroup};
use super::report::StudyOptions;
use super::suite_cache::SuiteCache;
use super::suite_score_table::{ScoreTableComparison, SuiteScoreTable};
use super::{Aliases, Series, SeriesName};
use crate::judging::budget::Prices;
use crate::rating::leaderboards::history::Moment;
use crate::rating::options::LeaderboardOptions;
use crate::stats::resample::BootstrapOptions;
use crate::time::Timestamp;

/// Bootstrap of votes and judged items. The command line uses more replicates with the same seed.
pub const SNAPSHOT_BOOTSTRAP: BootstrapOptions = BootstrapOptions { replicates: 200, seed: 0 };

/// Version of all inputs of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesVersion {
    /// Sequence number of the latest vote.
    pub votes: i64,
    /// Number of changes to exclusions of votes.
    pub exclusion_changes: i64,
    /// Version of data files, answers and judgements of benchmarks.
    pub judged: u64,
    /// Number of judge queries about the arena's battles.
    pub verdicts: u64,
    /// Time of the latest change of labels.
    pub labelled: Timestamp,
    /// Hash of the imported published scores.
    pub imported: u64,
    /// Rating options.
    pub rating: LeaderboardOptions,
    /// Aliases of models.
    pub aliases: Aliases,
    /// Names of the series of the arena's votes.
    pub names: Vec<SeriesName>,
}

/// Series without a place in a snapshot, for a reason that the operator can remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableSeries {
    /// Message in English.
    pub message: String,
    /// The same reason, for texts in other languages.
    pub reason: UnusableReason,
}

/// Reason why a series has no place in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnusableReason {
    /// There are too many votes to read their prompts.
    TooManyPrompts {
        /// Maximum number of votes.
        votes: i64,
    },
    /// Two names in a series are aliases of one model.
    SameModel {
        /// Name of the series.
        series: String,
        /// The two names.
        names: [String; 2],
        /// Model id.
        model: String,
    },
    /// A suite has no data file.
    NoData {
        /// Name of the suite.
        suite: String,
    },
    /// A reason that has only the message.
    Other,
}

/// Input of a snapshot.
pub struct SnapshotInput {
    /// Version of the inputs.
    pub version: SeriesVersion,
    /// Time of the snapshot.
    pub made_at: Timestamp,
    /// Series with values.
    pub series: Vec<Series>,
    /// Ratings at past moments.
    pub history: Vec<Moment>,
    /// Series that cannot be used, for reasons that the operator can remove.
    pub unusable: Vec<UnusableSeries>,
    /// Scores of suites.
    pub suites: SuiteCache,
}

/// All series of the arena at one moment.
pub struct CorrelationSnapshot {
    /// Version of the inputs; `None` before the first snapshot.
    pub input_version: Option<SeriesVersion>,
    /// Time of the snapshot; `None` before the first.
    pub made_at: Option<Timestamp>,
    /// Catalog of the series.
    pub catalog: SeriesCatalog,
    /// Series that cannot be used, for reasons that the operator can remove.
    pub unusable: Vec<UnusableSeries>,
    /// Scores of suites, resampled only after new judgements.
    pub suites: SuiteCache,
    matrices: [OnceLock<CorrelationMatrix>; 3],
    /// Time to read and compute the series and the matrices so far.
    cost: Mutex<Duration>,
}

impl Default for CorrelationSnapshot {
    fn default() -> Self {
        Self {
            input_version: None,
            made_at: None,
            catalog: SeriesCatalog::new(Vec::new(), Vec::new(), study_options(&LeaderboardOptions::default())),
            unusable: Vec::new(),
            suites: SuiteCache::default(),
            matrices: Default::default(),
            cost: Mutex::default(),
        }
    }
}

impl CorrelationSnapshot {
    /// Builds a snapshot.
    #[must_use]
    pub fn new(input: SnapshotInput) -> Self {
        let SnapshotInput { version, made_at, series, history, unusable, suites } = input;
        Self {
            catalog: SeriesCatalog::new(series, history, study_options(&version.rating)),
            input_version: Some(version),
            made_at: Some(made_at),
            unusable,
            suites,
            ..Self::default()
        }
    }

    /// Returns the matrix of a group, computed on the first call: call it on a blocking thread.
    pub fn matrix(&self, group: SeriesGroup) -> &CorrelationMatrix {
        self.matrices[group as usize].get_or_init(|| self.catalog.matrix(group))
    }

    /// Returns whether the matrix of a group is computed.
    #[must_use]
    pub fn has_matrix(&self, group: SeriesGroup) -> bool {
        self.matrices[group as usize].get().is_some()
    }

    /// Builds the table of models and suites, with the cost of each score by these prices.
    #[must_use]
    pub fn suite_score_table(&self, prices: &dyn Fn(&str) -> Option<Prices>) -> SuiteScoreTable {
        let table = SuiteScoreTable::new(self.catalog.series());
        let Some(inputs) = &self.input_version else { return table };
        table.with_facts(|suite, model| self.suites.get(suite, None)?.facts(model, &inputs.aliases, prices))
    }

    /// Compares one model of the score table with all others, on the same items; `None` if no suite has a score of the model.
    #[must_use]
    pub fn compare_with(&self, with: &str) -> Option<ScoreTableComparison> {
        let inputs = self.input_version.as_ref()?;
        let table = SuiteScoreTable::new(self.catalog.series());
        let suites = table.suites.iter().filter_map(|suite| self.suites.get(&suite.suite, None));
        let compared = suites.filter_map(|suite| suite.compare_with(with, &inputs.aliases, inputs.rating.confidence));
        table.has(with).then(|| ScoreTableComparison { with: with.to_owned(), suites: compared.collect() })
    }

    /// Adds computing time.
    pub fn add_cost(&self, time: Duration) {
        *self.cost.lock() += time;
    }

    /// Returns the computing time so far, including the matrices.
    #[must_use]
    pub fn cost(&self) -> Duration {
        *self.cost.lock()
    }
}

fn study_options(rating: &LeaderboardOptions) -> StudyOptions {
    StudyOptions { level: rating.confidence, bootstrap: SNAPSHOT_BOOTSTRAP }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_computed_once_and_its_time_counts() {
        let snapshot = CorrelationSnapshot::default();
        assert!(!snapshot.has_matrix(SeriesGroup::All));
        let first: *const CorrelationMatrix = snapshot.matrix(SeriesGroup::All);
        assert!(std::ptr::eq(first, snapshot.matrix(SeriesGroup::All)) && snapshot.has_matrix(SeriesGroup::All));
        assert!(!snapshot.has_matrix(SeriesGroup::Own));
        snapshot.add_cost(Duration::from_secs(2));
        snapshot.add_cost(Duration::from_secs(1));
        assert_eq!(snapshot.cost(), Duration::from_secs(3));
    }
}
