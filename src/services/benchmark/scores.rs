//! Reads suites with their coverage, scores of a suite, and single items with all their judgements.

use std::collections::{BTreeMap, BTreeSet};

use super::RunContext;
use crate::domain::benchmark::scores::arena_votes::pair_votes;
use crate::domain::benchmark::scores::panel_scores::{JudgementFilter, JudgementsByBaseline, ModelScores};
use crate::domain::benchmark::suite_summary::SuiteSummary;
use crate::domain::campaign::item_judgement_summary::ItemJudgementSummary;
use crate::domain::integrity::prompts::prompt_digest::prompt_digest;
use crate::formats::scores::ItemScoreRow;
use crate::infra::storage::{
    AnswerRound, BenchFilter, BenchJudgementRow, IncludeText, ItemView, ScoredJudgement, Store, StoreError,
};

/// Lists every data file, the latest of a suite first.
///
/// # Errors
/// [`StoreError`].
pub async fn suites(store: &Store) -> Result<Vec<SuiteSummary>, StoreError> {
    let mut summaries = Vec::new();
    for suite in store.bench_suites().await? {
        let judged = store.judged(&suite.suite, &suite.version).await?;
        let mut answered: BTreeMap<u32, BTreeMap<String, u64>> = BTreeMap::new();
        for group in store.answered(&suite.suite, &suite.version).await? {
            answered.entry(group.sample).or_default().insert(group.model, group.answers);
        }
        let latest = store.judged_at(&suite.suite, &suite.version).await?;
        summaries.push(SuiteSummary { suite, answered, judged, latest });
    }
    Ok(summaries)
}

/// Computes the scores of a suite by judge and model; with several judges, also their mean. Judgements from
/// [`reparse`](super::reparse_replies) are added to the stored ones.
///
/// # Errors
/// [`StoreError`].
pub async fn scores(
    bench: RunContext<'_>,
    filter: &JudgementFilter,
    reparsed: Vec<BenchJudgementRow>,
) -> Result<Vec<ModelScores>, StoreError> {
    let mut rows = bench.store.bench_judgements(&bench.set(), BenchFilter::ALL, IncludeText::No).await?;
    rows.extend(reparsed);
    rows.retain(|row| row.variant == bench.suite.variant());
    // Every judged model counts as evaluated, selected or not.
    let evaluated_models: BTreeSet<String> = rows.iter().map(|row| row.judgement.model.clone()).collect();
    rows.retain(|row| filter.matches(&row.judgement));
    Ok(ModelScores::all(bench.suite, &bench.data.items, &by_baseline(rows), &evaluated_models))
}

/// Computes the score of every item by each judge, model by model; items without judgements are omitted.
///
/// # Errors
/// [`StoreError`].
pub async fn item_scores(bench: RunContext<'_>) -> Result<Vec<ItemScoreRow>, StoreError> {
    let mut rows = bench.store.bench_judgements(&bench.set(), BenchFilter::ALL, IncludeText::No).await?;
    rows.retain(|row| row.variant == bench.suite.variant());
    let judged: Vec<ScoredJudgement> = rows.into_iter().map(ScoredJudgement::from).collect();
    Ok(ItemScoreRow::all(bench.suite, bench.data, bench.sample, &judged))
}

/// Groups judgements for [`ModelScores::all`].
pub(crate) fn by_baseline(rows: Vec<BenchJudgementRow>) -> JudgementsByBaseline {
    let mut by_baseline = JudgementsByBaseline::new();
    for row in rows {
        by_baseline.entry(row.baseline).or_default().push(row.judgement);
    }
    by_baseline
}

/// Reads one item of a data file; `None` if there is no such item.
///
/// # Errors
/// [`StoreError`].
pub async fn item(store: &Store, set: &AnswerRound, id: &str) -> Result<Option<ItemView>, StoreError> {
    let Some(body) = store.bench_item(&set.suite, &set.version, id).await? else { return Ok(None) };
    let item = super::loading::item_of(id, &body)?;
    let answers = store.bench_answers(set, BenchFilter::of_item(id)).await?;
    let judgements = store.bench_judgements(set, BenchFilter::of_item(id), IncludeText::Yes).await?;
    let prompt = item.turns.first().map_or("", |turn| turn.question.as_str());
    let opinions = ItemJudgementSummary::new(&store.item_judgements(id, prompt).await?);
    let votes = match item.turns.as_slice() {
        [turn] => pair_votes(&store.votes_on_prompt(&prompt_digest(&turn.question)).await?),
        _ => Vec::new(),
    };
    Ok(Some(ItemView { item, answers, judgements, opinions, votes }))
}
