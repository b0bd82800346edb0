//! Items of a custom suite, and their requirements by judging mode.

use serde::Deserialize;

use super::names;
use crate::benchmark::JudgeMode;
use crate::benchmark::item::{Id, Item, Question};
use crate::benchmark::judging_forms::multiple_choice::{OptionTexts, choices};
use crate::benchmark::suite_data_file::{DataError, DataProblem, json_items};
use crate::language::Language;

/// Category of items without one.
const NO_CATEGORY: &str = "all";

/// Requirements of the items.
pub(super) struct ItemRules<'d> {
    pub(super) mode: JudgeMode,
    pub(super) language: Language,
    pub(super) categories: &'d [String],
    pub(super) golden_context: bool,
}

/// Line of the data file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemRecord {
    id: Id,
    category: Option<String>,
    language: Option<Language>,
    question: Option<String>,
    #[serde(default)]
    turns: Vec<String>,
    reference: Option<References>,
    options: Option<OptionTexts>,
    answer: Option<String>,
}

/// One reference, or one per turn.
#[derive(Deserialize)]
#[serde(untagged)]
enum References {
    One(String),
    ByTurn(Vec<String>),
}

impl ItemRules<'_> {
    pub(super) fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError> {
        json_items(bytes, |line| self.item(line))
    }

    fn item(&self, line: ItemRecord) -> Result<Item, DataProblem> {
        let category = line.category.unwrap_or_else(|| NO_CATEGORY.to_owned());
        if !self.categories.is_empty() && !self.categories.contains(&category) {
            return Err(DataProblem::unknown("category", &category, self.categories.iter().map(String::as_str)));
        }
        names::check_category(&category).map_err(DataProblem::Record)?;
        let references = match line.reference {
            None => Vec::new(),
            Some(References::One(text)) => vec![text],
            Some(References::ByTurn(texts)) => texts,
        };
        let reference = |turn: usize| references.get(turn).filter(|text| !text.trim().is_empty()).cloned();
        let turns = line.question.into_iter().chain(line.turns).enumerate();
        let item = Item {
            id: line.id.into_text(),
            category,
            subcategory: None,
            language: line.language.unwrap_or(self.language),
            turns: turns.map(|(turn, question)| Question { question, reference: reference(turn) }).collect(),
            choices: match (line.options, line.answer) {
                (Some(texts), Some(answer)) => Some(choices(texts, &answer)?),
                _ => None,
            },
        };
        self.check(item)
    }

    /// Checks that the mode can judge the item.
    fn check(&self, item: Item) -> Result<Item, DataProblem> {
        let refuse = |what: &str| Err(DataProblem::Record(what.to_owned()));
        let turns = item.turns.len();
        let without_reference = item.turns.iter().any(|turn| turn.reference.is_none());
        match self.mode {
            JudgeMode::PairwiseBaseline if turns > 2 => refuse("pairwise_baseline judges two turns at most"),
            JudgeMode::PointwiseRef | JudgeMode::PointwiseRefMultidim if turns > 1 => {
                refuse("this mode judges one turn: use pointwise_turn for dialogues")
            }
            JudgeMode::PointwiseRef | JudgeMode::PointwiseRefMultidim if without_reference => {
                refuse("this mode needs a reference: add \"reference\": \"…\"")
            }
            JudgeMode::PointwiseTurn if self.golden_context && without_reference => {
                refuse("golden context needs a reference for every turn: add \"reference\": [\"…\", …]")
            }
            JudgeMode::MultipleChoice if item.choices.is_none() => {
                refuse("multiple_choice needs \"options\" and \"answer\"")
            }
            _ => Ok(item),
        }
    }
}
