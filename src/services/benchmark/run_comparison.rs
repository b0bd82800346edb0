//! Reads what two runs have, and compares them.

use std::sync::Arc;
use std::time::Duration;

use super::error::BenchError;
use super::loading::load;
use crate::domain::benchmark::run_comparison::{ComparedRuns, RunComparison, RunResults};
use crate::domain::benchmark::run_selector::RunSelector;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::infra::single_flight::{SingleFlight, Throttle};
use crate::infra::storage::{BenchFilter, BenchRunRow, BenchSet, Store};
use crate::infra::tasks::Tasks;

/// Runs among which one is looked for.
const KNOWN: u32 = 1_000;
/// Comparisons that are kept.
const KEPT: usize = 8;
/// Rest after a comparison, as a multiple of its duration.
const REST_TIMES: u32 = 1;
/// Longest wait for the comparisons of others.
const PATIENCE: Duration = Duration::from_secs(10);

/// Compares two runs of one suite, each given by its id or the end of it.
///
/// # Errors
/// [`BenchError`] where a run is unknown, they are of different suites, or the database fails.
pub async fn compare(store: &Store, [before, after]: [&str; 2]) -> Result<ComparedRuns, BenchError> {
    let runs = store.bench_runs(KNOWN).await?;
    let (before, after) = (named(&runs, before)?, named(&runs, after)?);
    if before.run.suite != after.run.suite {
        return Err(BenchError::OtherSuite { one: before.run.suite.clone(), other: after.run.suite.clone() });
    }
    compare_rows(store, [before, after]).await
}

/// The latest comparisons. A comparison reads a whole suite, so one at a time is made, and kept until there is something new.
pub struct RunComparisons {
    store: Store,
    comparisons: SingleFlight<RowsVersion, ComparedRuns, BenchError>,
}

/// What a comparison depends on: both runs as they stand, and the number of all rows of benchmarks.
type RowsVersion = ([BenchRunRow; 2], u64);

impl RunComparisons {
    /// A cache without a comparison.
    #[must_use]
    pub fn new(store: Store, tasks: Tasks) -> Self {
        let throttle = Throttle::new(REST_TIMES, PATIENCE);
        Self { store, comparisons: SingleFlight::new("compare_runs", KEPT, throttle, tasks) }
    }

    /// The comparison of two runs of a suite, each given by its id or the end of it.
    ///
    /// # Errors
    /// As [`compare`].
    pub async fn latest(&self, suite: &str, [before, after]: [&str; 2]) -> Result<Arc<ComparedRuns>, BenchError> {
        let runs = self.store.bench_runs_of(suite, KNOWN).await?;
        let rows = [named(&runs, before)?.clone(), named(&runs, after)?.clone()];
        let key = (rows, self.store.bench_row_count().await?);
        let make = || {
            let (store, [before, after]) = (self.store.clone(), key.0.clone());
            async move { compare_rows(&store, [&before, &after]).await }
        };
        Ok(self.comparisons.get(key.clone(), |_| true, make).await?)
    }
}

async fn compare_rows(store: &Store, [before, after]: [&BenchRunRow; 2]) -> Result<ComparedRuns, BenchError> {
    let [first, second] = [results(store, before).await?, results(store, after).await?];
    let (before, after) = (before.clone(), after.clone());
    let compared = tokio::task::spawn_blocking(move || {
        let comparison = RunComparison::of_runs([&before, &after], [&first, &second]);
        ComparedRuns { before, after, comparison }
    });
    Ok(compared.await?)
}

fn named<'r>(runs: &'r [BenchRunRow], id: &str) -> Result<&'r BenchRunRow, BenchError> {
    BenchRunRow::find(runs, id).ok_or_else(|| BenchError::NoRun { id: id.to_owned() })
}

/// What a run has of its models: what was there when it ended.
async fn results(store: &Store, row: &BenchRunRow) -> Result<RunResults, BenchError> {
    let run = &row.run;
    let way = RunSelector { data: run.version.clone(), variant: run.manifest.variant.clone(), sample: run.sample };
    let loaded = load(store, &run.suite, Some(&run.version), &way.options()).await?;
    let set = BenchSet { suite: SuiteId::new(&run.suite), version: run.version.clone(), sample: run.sample };
    let mut judged = store.scored_judgements(&set, &way.variant).await?;
    judged.retain(|judgement| row.has_judgement(judgement));
    let mut answers = Vec::new();
    for model in &run.models {
        let own = BenchFilter { model: Some(model.as_str()), ..BenchFilter::ALL };
        answers.extend(store.bench_answers(&set, own).await?);
    }
    answers.retain(|answer| row.has_answer(answer));
    let made = tokio::task::spawn_blocking(move || {
        RunResults::new(loaded.suite.as_ref(), &loaded.data.items, &judged, answers)
    });
    Ok(made.await?)
}
