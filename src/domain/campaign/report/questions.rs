//! Answers to the questions in addition to the task. Repetitions are not counted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judged::JudgedUnit;
use super::scores::{ScoredModel, ScoresByItem, mean_of, scored_models};
use crate::campaign::invalid_judgement::ANSWER_LETTERS;
use crate::campaign::questions::{CampaignQuestion, QuestionAnswer, QuestionKind, Value};
use crate::language::Language;
use crate::stats::agreement::alpha::{MeasurementLevel, krippendorff};
use crate::stats::confidence::ConfidenceLevel;

/// Summary of the answers to one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionSummary {
    /// Id of the question.
    pub question: String,
    /// Text of the question.
    pub text: String,
    /// Text of the question in Chinese.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_zh: Option<String>,
    /// Kind of the answer.
    pub kind: QuestionKind,
    /// Number of judgements with an answer; texts are in the export.
    pub judgements: u64,
    /// Values of a choice or scale, in order.
    pub values: Vec<Value>,
    /// Counts of each value; for a question about answers, by model.
    pub counts: Vec<AnswerCounts>,
    /// Mean of a scale over its judgements; `None` without any.
    pub mean: Option<f64>,
    /// Means of a scale by model, best first, for a question about answers.
    pub models: Vec<ScoredModel>,
    /// Krippendorff's alpha: nominal for choices, interval for scales; `None` if undefined.
    pub krippendorff: Option<f64>,
    /// Number of units, or answers of them, that at least two annotators answered about.
    pub units: u64,
}

/// Counts of each value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnswerCounts {
    /// Model whose answers the question is about; `None` for a question about the item.
    pub model: Option<String>,
    /// Number of answers.
    pub judgements: u64,
    /// Number of answers with each of [`QuestionSummary::values`].
    pub counts: Vec<u64>,
}

impl QuestionSummary {
    /// Returns the text in a language.
    #[must_use]
    pub fn text_in(&self, language: Language) -> &str {
        self.text_zh.as_deref().filter(|_| language == Language::Chinese).unwrap_or(&self.text)
    }
}

/// Summarises the answers to each question.
pub(super) fn summaries(
    questions: &[CampaignQuestion],
    judged: &[&JudgedUnit],
    level: ConfidenceLevel,
) -> Vec<QuestionSummary> {
    questions.iter().map(|question| summary(question, judged, level)).collect()
}

fn summary(question: &CampaignQuestion, judged: &[&JudgedUnit], level: ConfidenceLevel) -> QuestionSummary {
    let values = values_of(question);
    let mut counts: BTreeMap<Option<&str>, Vec<u64>> = BTreeMap::new();
    let mut given: BTreeMap<(u32, Option<&str>), Vec<f64>> = BTreeMap::new();
    let mut judgements = 0;
    for unit in judged {
        let answered = answered(unit, question);
        judgements += u64::from(!answered.is_empty());
        for (model, value) in answered {
            let Some(at) = values.iter().position(|known| known == value) else { continue };
            counts.entry(model).or_insert_with(|| vec![0; values.len()])[at] += 1;
            given.entry((unit.unit, model)).or_default().push(number(value, at));
        }
    }
    let all: Vec<f64> = given.values().flatten().copied().collect();
    let several: Vec<Vec<f64>> = given.into_values().filter(|values| values.len() > 1).collect();
    let scale =
        if question.kind == QuestionKind::Scale { MeasurementLevel::Interval } else { MeasurementLevel::Nominal };
    let count = |(model, counts): (Option<&str>, Vec<u64>)| AnswerCounts {
        model: model.map(str::to_owned),
        judgements: counts.iter().sum(),
        counts,
    };
    QuestionSummary {
        question: question.id.clone(),
        text: question.text.clone(),
        text_zh: question.text_zh.clone(),
        kind: question.kind,
        judgements,
        counts: counts.into_iter().map(count).collect(),
        mean: (question.kind == QuestionKind::Scale && !all.is_empty()).then(|| mean_of(&all)),
        models: scored_models(scores_of(question, judged), level),
        krippendorff: krippendorff(&several, scale).ok(),
        units: several.len() as u64,
        values,
    }
}

/// Returns the possible values of a question; none for free text.
fn values_of(question: &CampaignQuestion) -> Vec<Value> {
    match question.kind {
        QuestionKind::Choice => question.options.iter().cloned().map(Value::Text).collect(),
        QuestionKind::Scale => question.points().map(Value::Point).collect(),
        QuestionKind::Text => Vec::new(),
    }
}

/// Converts a value into a number: the point of a scale, or the position of an option.
fn number(value: &Value, position: usize) -> f64 {
    match value {
        Value::Point(point) => f64::from(*point),
        Value::Text(_) => crate::stats::real_len(position),
    }
}

/// Returns the values of a judgement, each with its model; an answer about an item with one answer is about that answer.
fn answered<'j>(unit: &'j JudgedUnit, question: &CampaignQuestion) -> Vec<(Option<&'j str>, &'j Value)> {
    match unit.answers.get(&question.id) {
        None => Vec::new(),
        Some(QuestionAnswer::One(value)) => match &*unit.shown {
            [model] => vec![(Some(model), value)],
            _ => vec![(None, value)],
        },
        Some(QuestionAnswer::Each(values)) => {
            let model = |letter: &str| unit.shown.get(ANSWER_LETTERS.iter().position(|known| *known == letter)?);
            values.iter().filter_map(|(letter, value)| Some((Some(model(letter)?.as_str()), value))).collect()
        }
    }
}

/// Groups the points of a scale by model and item: an answer that is in several pairs counts as one item.
fn scores_of<'j>(question: &CampaignQuestion, judged: &[&'j JudgedUnit]) -> ScoresByItem<'j> {
    let mut scores = ScoresByItem::new();
    for unit in judged {
        for (model, value) in answered(unit, question) {
            if let (Some(model), Value::Point(point)) = (model, value) {
                scores.entry(model).or_default().entry(unit.item).or_default().push(f64::from(*point));
            }
        }
    }
    scores
}

/// Computes each model's mean answer to a scale question for each of its items.
#[must_use]
pub fn question_scores(question: &CampaignQuestion, judged: &[&JudgedUnit]) -> BTreeMap<String, Vec<f64>> {
    super::scores::item_means(scores_of(question, judged))
}
