//! Reads what two runs have, and compares them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::error::BenchError;
use super::loading::load;
use crate::domain::benchmark::analysis::item_scores::ItemScores;
use crate::domain::benchmark::judgement::Judgement;
use crate::domain::benchmark::run_comparison::{AnswerPrint, RunComparison, RunResults};
use crate::domain::benchmark::run_manifest::RunChange;
use crate::domain::benchmark::run_selector::RunSelector;
use crate::domain::benchmark::run_state::RunState;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::sha256::sha256;
use crate::infra::single_flight::{SingleFlight, Throttle};
use crate::infra::storage::{BenchAnswerRow, BenchFilter, BenchRunRow, BenchSet, Store};
use crate::infra::tasks::Tasks;

/// Runs among which one is looked for.
const KNOWN: u32 = 1_000;
/// Comparisons that are kept.
const KEPT: usize = 8;
/// Rest after a comparison, as a multiple of its duration.
const REST_TIMES: u32 = 1;
/// Longest wait for the comparisons of others.
const PATIENCE: Duration = Duration::from_secs(10);

/// Two runs, and what differs.
#[derive(Debug, Clone)]
pub struct ComparedRuns {
    /// The first run.
    pub before: BenchRunRow,
    /// The second.
    pub after: BenchRunRow,
    /// The comparison.
    pub comparison: RunComparison,
}

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
    let manifests = [before.run.manifest.clone(), after.run.manifest.clone()];
    let compared = tokio::task::spawn_blocking(move || {
        let mut compared = RunComparison::new(manifests.each_ref(), &first, &second);
        compared.items.retain(|item| item.difference().is_some() || item.same_answer.is_some());
        compared
    });
    let mut comparison = compared.await?;
    comparison.changes.splice(0..0, row_changes(before, after));
    Ok(ComparedRuns { before: before.clone(), after: after.clone(), comparison })
}

/// The run whose id ends like this, if there is one only.
fn named<'r>(runs: &'r [BenchRunRow], id: &str) -> Result<&'r BenchRunRow, BenchError> {
    let mut found = runs.iter().filter(|row| !id.is_empty() && row.run.id.ends_with(id));
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(run),
        _ => Err(BenchError::NoRun { id: id.to_owned() }),
    }
}

/// What differs in the rows of two runs.
fn row_changes(before: &BenchRunRow, after: &BenchRunRow) -> Vec<RunChange> {
    let own = |row: &BenchRunRow| {
        let run = &row.run;
        [
            ("data", run.version.clone()),
            ("round", run.sample.to_string()),
            ("models", run.models.join(", ")),
            ("judges", run.judges.join(", ")),
            ("baseline", run.baseline.clone()),
        ]
    };
    let both = own(before).into_iter().zip(own(after));
    let changes = both.map(|((what, before), (_, after))| RunChange { what: what.to_owned(), before, after });
    changes.filter(|change| change.before != change.after).collect()
}

/// What a run has of its models: what was there when it ended.
async fn results(store: &Store, row: &BenchRunRow) -> Result<RunResults, BenchError> {
    let run = &row.run;
    let way = RunSelector { data: run.version.clone(), variant: run.manifest.variant.clone(), sample: run.sample };
    let loaded = load(store, &run.suite, Some(&run.version), &way.options()).await?;
    let set = BenchSet { suite: SuiteId::new(&run.suite), version: run.version.clone(), sample: run.sample };
    let ended = if row.snapshot.state == RunState::Running { i64::MAX } else { row.changed_at.0 };
    let is_own = |model: &String| run.models.contains(model);
    let mut judged = store.scored_judgements(&set, &way.variant).await?;
    judged.retain(|row| {
        let said = &row.judgement;
        let is_judge = run.judges.is_empty() || run.judges.contains(&said.judge_model);
        said.ts <= ended && is_own(&said.model) && is_judge && row.baseline == run.baseline
    });
    let mut answers = Vec::new();
    for model in &run.models {
        let own = BenchFilter { model: Some(model.as_str()), ..BenchFilter::ALL };
        answers.extend(store.bench_answers(&set, own).await?);
    }
    answers.retain(|answer| answer.created_at.0 <= ended);
    let made = tokio::task::spawn_blocking(move || {
        let mut by_judge: BTreeMap<&str, Vec<&Judgement>> = BTreeMap::new();
        for row in &judged {
            by_judge.entry(&row.judgement.judge_model).or_default().push(&row.judgement);
        }
        let (suite, items) = (loaded.suite.as_ref(), &loaded.data.items);
        let scores = by_judge.values().map(|own| ItemScores::new(suite, items, own)).filter(ItemScores::is_scored);
        let scores = ItemScores::panel_mean(&scores.collect::<Vec<_>>());
        let keyed = |(item, model, score): (&str, &str, f64)| ((model.to_owned(), item.to_owned()), score);
        RunResults { scores: scores.scores().map(keyed).collect(), answers: prints(answers) }
    });
    Ok(made.await?)
}

/// The answers to each item; of several to one question the latest.
fn prints(mut answers: Vec<BenchAnswerRow>) -> BTreeMap<(String, String), AnswerPrint> {
    answers.sort_by_key(|answer| (answer.turn, answer.created_at.0));
    let mut texts: BTreeMap<(String, String), BTreeMap<u32, String>> = BTreeMap::new();
    for answer in answers {
        texts.entry((answer.model, answer.item)).or_default().insert(answer.turn, answer.text);
    }
    let print = |turns: BTreeMap<u32, String>| {
        let characters = turns.values().map(|text| text.chars().count()).sum::<usize>();
        let all: Vec<String> = turns.iter().map(|(turn, text)| format!("{turn} {}", sha256(text.as_bytes()))).collect();
        AnswerPrint { sha256: sha256(all.join("\n").as_bytes()), characters: characters.try_into().unwrap_or(u64::MAX) }
    };
    texts.into_iter().map(|(key, turns)| (key, print(turns))).collect()
}
