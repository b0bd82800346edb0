//! Answers that a campaign requests from models itself.
//!
//! They are stored like the answers to a suite, under a private suite that is not listed: annotators must not see it.

use std::collections::BTreeMap;

use crate::benchmark::loading::{LoadedSuite, answers_of};
use crate::domain::battle::ModelId;
use crate::domain::benchmark::item::Item;
use crate::domain::campaign::items::AnswerRow;
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::prompts::{CampaignPrompt, PromptSuite, is_shown};
use crate::infra::storage::{AnswerRound, BenchItemRow, BenchSuiteRow, Store, StoreError};
use crate::infra::time::clock::Clock;

/// Builds the private suite with the prompts as items.
#[must_use]
pub fn asked_suite(plan: &CampaignPlan, prompts: &[CampaignPrompt], clock: &dyn Clock) -> LoadedSuite {
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
    LoadedSuite { row, suite: Box::new(suite), data }
}

/// Stores missing items, so that answers to them can be stored.
///
/// # Errors
/// [`StoreError`]; nothing was stored then.
pub async fn store_missing_items(store: &Store, asked: &LoadedSuite) -> Result<(), StoreError> {
    let body = |item: &Item| serde_json::to_string(item).expect("texts are JSON");
    let items: Vec<BenchItemRow> =
        asked.data.items.iter().map(|item| BenchItemRow { item: item.id.clone(), body: body(item) }).collect();
    store.add_bench_items(&asked.row, &items).await
}

/// Reads the answers to the prompts that all models of the plan answered with visible text: models are compared on the same items.
///
/// # Errors
/// [`StoreError`].
pub async fn asked_answers(
    store: &Store,
    asked: &LoadedSuite,
    plan: &CampaignPlan,
    prompts: &[CampaignPrompt],
) -> Result<Vec<AnswerRow>, StoreError> {
    let set = AnswerRound { suite: asked.row.suite.clone(), version: asked.data.sha256.clone(), sample: 1 };
    let mut given = BTreeMap::new();
    for model in &plan.models {
        given.insert(model, answers_of(store, &set, &ModelId::new(model)).await?);
    }
    let answers = |prompt: &CampaignPrompt| -> Option<Vec<AnswerRow>> {
        let item = prompt.suite_item();
        let answer = |(model, index): (&&String, &crate::domain::benchmark::scores::answer_index::AnswerIndex)| {
            let text = index.to(asked.suite.as_ref(), &item).pop()?.text;
            is_shown(&text).then(|| prompt.answered(model, &text))
        };
        given.iter().map(answer).collect()
    };
    Ok(prompts.iter().filter_map(answers).flatten().collect())
}
