//! Reads models' answers to a suite, for a campaign.

use std::collections::BTreeMap;

use crate::benchmark::error::BenchError;
use crate::benchmark::loading::{answers_of, load};
use crate::domain::battle::ModelId;
use crate::domain::benchmark::SuiteOptions;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::campaign::items::AnswerRow;
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::suite_answers::answer_rows;
use crate::infra::storage::{AnswerRound, Store};

/// Reads first-round answers of the plan's models, or of all, to the latest data of a suite. Items with missing answers are omitted: models
/// are compared on the same items.
///
/// # Errors
/// [`BenchError`] for an unknown suite, or a model without answers.
pub async fn suite_answers(store: &Store, suite: &str, plan: &CampaignPlan) -> Result<Vec<AnswerRow>, BenchError> {
    let loaded = load(store, suite, None, &SuiteOptions::default()).await?;
    let set = AnswerRound { suite: SuiteId::new(suite), version: loaded.data.sha256.clone(), sample: 1 };
    let answered = store.answered(&set.suite, &set.version).await?;
    let known: Vec<String> = answered.into_iter().filter(|one| one.sample == 1).map(|one| one.model).collect();
    let models = if plan.models.is_empty() { known.as_slice() } else { plan.models.as_slice() };
    if let Some(model) = models.iter().find(|model| !known.contains(model)) {
        return Err(BenchError::Unanswered { suite: suite.to_owned(), model: model.clone() });
    }
    let mut given = BTreeMap::new();
    for model in models {
        given.insert(model, answers_of(store, &set, &ModelId::new(model)).await?);
    }
    Ok(answer_rows(loaded.suite.as_ref(), &loaded.data.items, &given, plan.rubric))
}
