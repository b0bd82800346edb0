//! Reads the judgements of a suite for its series.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ReadSeriesError;
use crate::domain::benchmark::SuiteOptions;
use crate::domain::benchmark::panel_scores::{JudgementsByBaseline, most_used_baseline};
use crate::domain::correlation::{SuiteSeries, SuiteUsed};
use crate::domain::stats::resample::BootstrapOptions;
use crate::infra::storage::{BenchSet, Store};
use crate::services::benchmark::loading::load;

/// The scores of a suite by one judge, or by all judges. Computes on a blocking thread.
///
/// # Errors
/// [`ReadSeriesError`] if there is no such suite or no judgement, or the database fails.
pub(super) async fn read(
    store: &Store,
    suite: &str,
    judge: Option<&str>,
    bootstrap: BootstrapOptions,
) -> Result<Arc<SuiteSeries>, ReadSeriesError> {
    let loaded = load(store, suite, None, &SuiteOptions::default()).await?;
    let set = BenchSet { suite: loaded.row.suite.clone(), version: loaded.row.version.clone(), sample: 1 };
    let rows = store.scored_judgements(&set, "").await?;
    let by_judge = rows.into_iter().filter(|row| judge.is_none_or(|judge| row.judgement.judge_model == judge));
    let mut by_baseline = JudgementsByBaseline::new();
    by_judge.for_each(|row| by_baseline.entry(row.baseline).or_default().push(row.judgement));
    let judgements = most_used_baseline(by_baseline);
    if judgements.is_empty() {
        let by = judge.map_or_else(String::new, |judge| format!(" by {judge}"));
        return Err(ReadSeriesError::NotJudged { suite: suite.to_owned(), by });
    }
    let answered = store.answer_tokens(&set).await?.into_iter().collect();
    let judges: BTreeSet<&String> = judgements.iter().map(|judgement| &judgement.judge_model).collect();
    let used = SuiteUsed {
        suite: suite.to_owned(),
        sha256: loaded.row.version,
        file: loaded.row.source,
        judge: judge.map(str::to_owned),
        judges: judges.into_iter().cloned().collect(),
        judgements: judgements.len(),
        models: 0,
    };
    let (items, suite) = (loaded.data.items, loaded.suite);
    let compute = move || SuiteSeries::new(suite.as_ref(), &items, &judgements, used, bootstrap).with_answers(answered);
    Ok(Arc::new(tokio::task::spawn_blocking(compute).await?))
}
