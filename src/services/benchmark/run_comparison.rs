//! Compares the results of two runs.

use std::sync::Arc;
use std::time::Duration;

use super::error::BenchError;
use super::loading::load;
use crate::domain::benchmark::analysis::run_comparison::{ComparedRuns, RunComparison, RunResults};
use crate::domain::benchmark::runs::run_selector::RunSelector;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::infra::single_flight::{SingleFlight, Throttle};
use crate::infra::storage::{AnswerRound, BenchFilter, BenchRunRow, Store};
use crate::infra::tasks::Tasks;

/// Number of latest runs searched for an id.
const MAX_SEARCHED_RUNS: u32 = 1_000;
/// Number of cached comparisons.
const CACHE_CAPACITY: usize = 8;
/// Cool-down after a comparison, as a multiple of its duration.
const COOL_DOWN_FACTOR: u32 = 1;
/// Maximum wait for other comparisons.
const COMPARISON_QUEUE_TIMEOUT: Duration = Duration::from_secs(10);

/// Compares two runs of one suite, each given by its id or a suffix of it.
///
/// # Errors
/// [`BenchError`] if a run is unknown, the suites differ, or the database fails.
pub async fn compare(store: &Store, [before, after]: [&str; 2]) -> Result<ComparedRuns, BenchError> {
    let runs = store.bench_runs(MAX_SEARCHED_RUNS).await?;
    let (before, after) = (find_run(&runs, before)?, find_run(&runs, after)?);
    if before.run.suite != after.run.suite {
        return Err(BenchError::OtherSuite { one: before.run.suite.clone(), other: after.run.suite.clone() });
    }
    compare_rows(store, [before, after]).await
}

/// Cache of comparisons. A comparison reads a whole suite, so one at a time is computed, and cached until there are new rows.
pub struct RunComparisons {
    store: Store,
    comparisons: SingleFlight<RowsVersion, ComparedRuns, BenchError>,
}

/// Version of a comparison's inputs: both runs' rows, and the number of all benchmark rows.
type RowsVersion = ([BenchRunRow; 2], u64);

impl RunComparisons {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(store: Store, tasks: Tasks) -> Self {
        let throttle = Throttle::new(COOL_DOWN_FACTOR, COMPARISON_QUEUE_TIMEOUT);
        Self { store, comparisons: SingleFlight::new("compare_runs", CACHE_CAPACITY, throttle, tasks) }
    }

    /// Returns the comparison of two runs of a suite, each given by its id or a suffix of it.
    ///
    /// # Errors
    /// As [`compare`].
    pub async fn latest(&self, suite: &str, [before, after]: [&str; 2]) -> Result<Arc<ComparedRuns>, BenchError> {
        let runs = self.store.bench_runs_of(suite, MAX_SEARCHED_RUNS).await?;
        let rows = [find_run(&runs, before)?.clone(), find_run(&runs, after)?.clone()];
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

fn find_run<'r>(runs: &'r [BenchRunRow], id: &str) -> Result<&'r BenchRunRow, BenchError> {
    BenchRunRow::find(runs, id).ok_or_else(|| BenchError::NoRun { id: id.to_owned() })
}

/// Reads the results of a run as of its end.
async fn results(store: &Store, row: &BenchRunRow) -> Result<RunResults, BenchError> {
    let run = &row.run;
    let way = RunSelector { data: run.version.clone(), variant: run.manifest.variant.clone(), sample: run.sample };
    let loaded = load(store, &run.suite, Some(&run.version), &way.options()).await?;
    let set = AnswerRound { suite: SuiteId::new(&run.suite), version: run.version.clone(), sample: run.sample };
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
