//! Models' answers to a suite as the items of a campaign.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::items::AnswerRow;
use super::rubric::CampaignRubric;
use crate::benchmark::Suite;
use crate::benchmark::item::{Answer, Item};
use crate::benchmark::scores::answer_index::AnswerIndex;

/// Returns a row for each model's answers to each item. Items without answers of all models are left out, so that models are compared on
/// the same items.
#[must_use]
pub fn answer_rows(
    suite: &dyn Suite,
    items: &[Item],
    given: &BTreeMap<&String, AnswerIndex>,
    rubric: Option<CampaignRubric>,
) -> Vec<AnswerRow> {
    let answers = |item: &Item| -> Vec<(String, Vec<Answer>)> {
        let of = |(model, index): (&&String, &AnswerIndex)| ((*model).clone(), of_model(suite, item, index));
        given.iter().map(of).collect()
    };
    let rows = items.iter().map(|item| (item, answers(item)));
    let complete = rows.filter(|(_, answers)| {
        let turns = answers.first().map_or(0, |(_, turns)| turns.len());
        turns > 0 && answers.iter().all(|(_, others)| others.len() == turns)
    });
    let of_item = |(item, answers): (&Item, Vec<(String, Vec<Answer>)>)| {
        let category = category(item, rubric);
        answers.into_iter().map(|(model, turns)| row(item, category, model, &turns)).collect::<Vec<_>>()
    };
    complete.flat_map(of_item).collect()
}

/// Returns a model's answers to an item; none if one is empty.
fn of_model(suite: &dyn Suite, item: &Item, index: &AnswerIndex) -> Vec<Answer> {
    let answers = index.to(suite, item);
    if answers.iter().any(|answer| answer.text.trim().is_empty()) { Vec::new() } else { answers }
}

/// Returns the category of an item, or its subcategory if the rubric reads it.
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

/// Formats the texts of all turns: a single one unchanged, several under their numbers.
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
