//! Suite with a model's own answers as references, for URS's cross-validation.

use std::collections::HashMap;

use super::super::delegate_to_suite::delegate_to_suite;
use super::super::item::{Answer, AnswerRequest, Item, Question, answer_of};
use super::super::scores::judgement::JudgeTask;
use super::super::scores::score::{Scores, Verdicts};
use super::super::suite_data_file::DataError;
use super::super::{JudgeMode, Scale, Suite};
use crate::judging::verdict::{Verdict, VerdictError};

/// Suite that judges with a model's answers as references, instead of the data file's. An item that the model has not answered, or only
/// with an empty text, is not judged and counts as missing.
pub struct ReferenceSuite {
    suite: Box<dyn Suite>,
    answers: HashMap<String, Vec<Answer>>,
}

impl ReferenceSuite {
    /// Creates the suite with these answers, by item. Its variant already names the model: see
    /// [`SuiteOptions::references`](super::super::SuiteOptions::references).
    #[must_use]
    pub fn new(suite: Box<dyn Suite>, answers: HashMap<String, Vec<Answer>>) -> Self {
        Self { suite, answers }
    }

    /// Returns the item with the answers as its references; `None` if one is missing.
    fn with_answers_as_references(&self, item: &Item) -> Option<Item> {
        let answers = self.answers.get(&item.id)?;
        let turn = |(number, turn): (u32, &Question)| {
            let answer = answer_of(answers, number).filter(|answer| !answer.trim().is_empty())?;
            Some(Question { question: turn.question.clone(), reference: Some(answer.to_owned()) })
        };
        let turns = (1..).zip(&item.turns).map(turn).collect::<Option<_>>()?;
        Some(Item { turns, ..item.clone() })
    }
}

impl Suite for ReferenceSuite {
    delegate_to_suite!();

    fn variant(&self) -> &str {
        self.suite.variant()
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        self.suite.asks(item, answers)
    }

    fn judgings(&self, item: &Item, answers: &[Answer], baseline: &[Answer]) -> Vec<JudgeTask> {
        let item = self.with_answers_as_references(item);
        item.map(|item| self.suite.judgings(&item, answers, baseline)).unwrap_or_default()
    }
}
