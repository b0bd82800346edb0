//! The answers of models that a campaign asks itself.
//!
//! They are kept as the answers to a suite are, under a suite of the campaign's own that no list shows: annotators are to find nothing of it.

use std::collections::BTreeMap;

use crate::benchmark::loading::{Loaded, answers_of};
use crate::domain::battle::ModelId;
use crate::domain::benchmark::item::Item;
use crate::domain::campaign::items::AnswerRow;
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::prompts::{CampaignPrompt, PromptSuite, is_shown};
use crate::infra::clock::Clock;
use crate::infra::storage::{BenchItemRow, BenchSet, BenchSuiteRow, Store, StoreError};

/// What is to be asked, as a run asks the items of a suite.
#[must_use]
pub fn asked_suite(plan: &CampaignPlan, prompts: &[CampaignPrompt], clock: &dyn Clock) -> Loaded {
    let suite = PromptSuite::new(&plan.id);
    let data = suite.data(prompts);
    let row = BenchSuiteRow {
        suite: suite.id(),
        version: data.sha256.clone(),
        source: plan.prompts().unwrap_or_default().to_owned(),
        declaration: None,
        items: data.items.len() as u64,
        imported_at: clock.now(),
    };
    Loaded { row, suite: Box::new(suite), data }
}

/// Keeps the items that are not kept yet, so that answers to them can be.
///
/// # Errors
/// [`StoreError`]; nothing was kept then.
pub async fn keep_items(store: &Store, asked: &Loaded) -> Result<(), StoreError> {
    let body = |item: &Item| serde_json::to_string(item).expect("texts are JSON");
    let items: Vec<BenchItemRow> =
        asked.data.items.iter().map(|item| BenchItemRow { item: item.id.clone(), body: body(item) }).collect();
    store.add_bench_items(&asked.row, &items).await
}

/// The answers to the prompts that all models of the plan answered with something that can be shown: models are compared on the same items.
///
/// # Errors
/// [`StoreError`].
pub async fn asked_answers(
    store: &Store,
    asked: &Loaded,
    plan: &CampaignPlan,
    prompts: &[CampaignPrompt],
) -> Result<Vec<AnswerRow>, StoreError> {
    let set = BenchSet { suite: asked.row.suite.clone(), version: asked.data.sha256.clone(), sample: 1 };
    let mut given = BTreeMap::new();
    for model in &plan.models {
        given.insert(model, answers_of(store, &set, &ModelId::new(model)).await?);
    }
    let answers = |prompt: &CampaignPrompt| -> Option<Vec<AnswerRow>> {
        let item = prompt.suite_item();
        let answer = |(model, index): (&&String, &crate::domain::benchmark::answer_index::AnswerIndex)| {
            let text = index.to(asked.suite.as_ref(), &item).pop()?.text;
            is_shown(&text).then(|| prompt.answered(model, &text))
        };
        given.iter().map(answer).collect()
    };
    Ok(prompts.iter().filter_map(answers).flatten().collect())
}
