//! The answers that models gave to a suite, as the items of a campaign.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::domain::battle::ModelId;
use crate::domain::benchmark::SuiteOptions;
use crate::domain::benchmark::item::{Answer, Item};
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::campaign::items::AnswerRow;
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::rubric::CampaignRubric;
use crate::infra::storage::{BenchSet, Store};
use crate::services::benchmark::error::BenchError;
use crate::services::benchmark::loading::{Loaded, answers_of, load};

/// The first round of answers of the plan's models, or of all, to the latest data of a suite. An item whose answers are not all there is
/// left out: models are compared on the same items.
///
/// # Errors
/// [`BenchError`] where there is no such suite, or a model has no answers.
pub async fn suite_answers(store: &Store, suite: &str, plan: &CampaignPlan) -> Result<Vec<AnswerRow>, BenchError> {
    let loaded = load(store, suite, None, &SuiteOptions::default()).await?;
    let set = BenchSet { suite: SuiteId::new(suite), version: loaded.data.sha256.clone(), sample: 1 };
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
    let answers = |item: &Item| -> Vec<(String, Vec<Answer>)> {
        let of = |(model, index): (&&String, &_)| ((*model).clone(), of_model(&loaded, item, index));
        given.iter().map(of).collect()
    };
    let rows = loaded.data.items.iter().map(|item| (item, answers(item)));
    let complete = rows.filter(|(_, answers)| {
        let turns = answers.first().map_or(0, |(_, turns)| turns.len());
        turns > 0 && answers.iter().all(|(_, others)| others.len() == turns)
    });
    let of_item = |(item, answers): (&Item, Vec<(String, Vec<Answer>)>)| {
        let category = category(item, plan.rubric);
        answers.into_iter().map(|(model, turns)| row(item, category, model, &turns)).collect::<Vec<_>>()
    };
    Ok(complete.flat_map(of_item).collect())
}

/// What a model answered; nothing where an answer is empty.
fn of_model(loaded: &Loaded, item: &Item, index: &crate::domain::benchmark::answer_index::AnswerIndex) -> Vec<Answer> {
    let answers = index.to(loaded.suite.as_ref(), item);
    if answers.iter().any(|answer| answer.text.trim().is_empty()) { Vec::new() } else { answers }
}

/// What the rubric tells items apart by.
fn category(item: &Item, rubric: Option<CampaignRubric>) -> &str {
    let is_read = rubric.is_some_and(CampaignRubric::reads_subcategories);
    item.subcategory.as_deref().filter(|_| is_read).unwrap_or(&item.category)
}

fn row(item: &Item, category: &str, model: String, answers: &[Answer]) -> AnswerRow {
    let references = item.turns.iter().map(|turn| turn.reference.as_deref().unwrap_or_default());
    AnswerRow {
        place: format!("item {:?}", item.id),
        item: item.id.clone(),
        prompt: turns(item.turns.iter().map(|turn| turn.question.as_str())),
        model,
        answer: turns(answers.iter().map(|answer| answer.text.as_str())),
        reference: turns(references),
        category: category.to_owned(),
        language: item.language.code().to_owned(),
    }
}

/// The texts of all turns: that of one as it is, those of several under their numbers.
fn turns<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> String {
    let several = texts.clone().filter(|text| !text.is_empty()).count() > 1;
    let mut all = String::new();
    for (number, text) in (1..).zip(texts).filter(|(_, text)| !text.is_empty()) {
        if several {
            write!(all, "**{number}**\n\n{text}\n\n").expect("a String takes what is written");
        } else {
            all.push_str(text);
        }
    }
    all
}
