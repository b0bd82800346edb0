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
use crate::rating::history::Moment;
use crate::rating::options::LeaderboardOptions;
use crate::stats::resample::BootstrapOptions;
use crate::time::Timestamp;

/// How votes and judged items are resampled. The command line draws more often, with the same seed.
pub const SNAPSHOT_BOOTSTRAP: BootstrapOptions = BootstrapOptions { replicates: 200, seed: 0 };

/// Everything that a snapshot depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesVersion {
    /// The latest vote.
    pub votes: i64,
    /// Number of changes to exclusions of votes.
    pub exclusion_changes: i64,
    /// Data files, answers and judgements of benchmarks.
    pub judged: u64,
    /// Number of judge queries about the arena's battles.
    pub verdicts: u64,
    /// When labels last changed.
    pub labelled: Timestamp,
    /// Hash of the imported published scores.
    pub imported: u64,
    /// The rating options.
    pub rating: LeaderboardOptions,
    /// Other names of models.
    pub aliases: Aliases,
    /// The series of the arena's votes.
    pub names: Vec<SeriesName>,
}

/// What was read for a snapshot.
pub struct SnapshotInput {
    /// What it depends on.
    pub version: SeriesVersion,
    /// Time of the snapshot.
    pub made_at: Timestamp,
    /// The series that have values.
    pub series: Vec<Series>,
    /// The ratings at past moments.
    pub history: Vec<Moment>,
    /// Why other series cannot be read, where the user can change that.
    pub unusable: Vec<String>,
    /// Scores of suites.
    pub suites: SuiteCache,
}

/// All series of the arena at one moment.
pub struct CorrelationSnapshot {
    /// What it depends on; `None` before the first.
    pub input_version: Option<SeriesVersion>,
    /// Time of the snapshot; `None` before the first.
    pub made_at: Option<Timestamp>,
    /// The series.
    pub catalog: SeriesCatalog,
    /// Why other series cannot be read, where the user can change that.
    pub unusable: Vec<String>,
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
    /// A snapshot of what was read.
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

    /// The matrix of a group, computed on the first call: call it on a blocking thread.
    pub fn matrix(&self, group: SeriesGroup) -> &CorrelationMatrix {
        self.matrices[group as usize].get_or_init(|| self.catalog.matrix(group))
    }

    /// Whether the matrix of a group is computed.
    #[must_use]
    pub fn has_matrix(&self, group: SeriesGroup) -> bool {
        self.matrices[group as usize].get().is_some()
    }

    /// The models beside the suites, with what each score cost by these prices.
    #[must_use]
    pub fn suite_score_table(&self, prices: &dyn Fn(&str) -> Option<Prices>) -> SuiteScoreTable {
        let table = SuiteScoreTable::new(self.catalog.series());
        let Some(inputs) = &self.input_version else { return table };
        table.with_facts(|suite, model| self.suites.get(suite, None)?.facts(model, &inputs.aliases, prices))
    }

    /// The models of the score table beside one of them, on the same items; `None` where no suite has a score of the model.
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

    /// Computing time so far, including the matrices.
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
