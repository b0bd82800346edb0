//! Reads the judgements of a suite for its series.

use std::sync::Arc;

use super::ReadSeriesError;
use crate::benchmark::loading::load;
use crate::benchmark::run_manifests::mixed_settings;
use crate::domain::benchmark::SuiteOptions;
use crate::domain::benchmark::scores::judgement::Judgement;
use crate::domain::benchmark::scores::panel_scores::{judge_names, most_used_baseline};
use crate::domain::correlation::{SuiteSeries, SuiteUsed};
use crate::domain::stats::resample::BootstrapOptions;
use crate::infra::storage::{AnswerRound, ScoredJudgement, Store};

/// Computes the scores of a suite by one judge, or by those whose scores its page shows, on a blocking thread.
///
/// # Errors
/// [`ReadSeriesError`] for an unknown suite, no judgements, or a database failure.
pub(super) async fn read(
    store: &Store,
    suite: &str,
    judge: Option<&str>,
    bootstrap: BootstrapOptions,
) -> Result<Arc<SuiteSeries>, ReadSeriesError> {
    let loaded = load(store, suite, None, &SuiteOptions::default()).await?;
    let set = AnswerRound { suite: loaded.row.suite.clone(), version: loaded.row.version.clone(), sample: 1 };
    let rows = store.scored_judgements(&set, "").await?;
    let answered = store.answer_tokens(&set).await?.into_iter().collect();
    let mixed = mixed_settings(store, &set).await?;
    let name = suite.to_owned();
    let (row, items, suite, judge) = (loaded.row, loaded.data.items, loaded.suite, judge.map(str::to_owned));
    let compute = move || {
        let by = judge.as_ref().map_or_else(String::new, |judge| format!(" by {judge}"));
        let judgements =
            of_judge(rows, judge.as_deref()).ok_or(ReadSeriesError::NotJudged { suite: name.clone(), by })?;
        let used = SuiteUsed {
            suite: name,
            sha256: row.version,
            file: row.source,
            judge,
            judges: judge_names(&judgements).into_iter().map(str::to_owned).collect(),
            judgements: judgements.len(),
            models: 0,
        };
        let series = SuiteSeries::new(suite.as_ref(), &items, &judgements, used, bootstrap);
        Ok::<_, ReadSeriesError>(series.with_answers(answered).with_mixed_settings(&mixed))
    };
    Ok(Arc::new(tokio::task::spawn_blocking(compute).await??))
}

/// Returns the judgements of the judge, or of all, with the most frequent baseline; `None` without judgements.
fn of_judge(rows: Vec<ScoredJudgement>, judge: Option<&str>) -> Option<Vec<Judgement>> {
    let is_own = |row: &ScoredJudgement| judge.is_none_or(|judge| row.judgement.judge_model == judge);
    let baseline =
        most_used_baseline(rows.iter().filter(|row| is_own(row)).map(|row| row.baseline.as_str()))?.to_owned();
    // Collected in place, without copying hundreds of thousands of rows.
    Some(rows.into_iter().filter(|row| is_own(row) && row.baseline == baseline).map(|row| row.judgement).collect())
}
