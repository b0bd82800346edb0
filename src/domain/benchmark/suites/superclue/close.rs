//! SuperCLUE-CLOSE: the open questions as multiple choice, parsed without a judge.
//!
//! An item is a line of JSON: `{"id": 1, "capability": "计算", "question": "…", "options": ["…", "…", "…", "…"], "answer": "B"}`; the options
//! may be an object by letter or one text, and 问题, 选项, 答案 are accepted as names too.

use serde::Deserialize;

use super::{capability_of, known_capability, parts};
use crate::benchmark::item::{Answer, AnswerRequest, Id, Item, Question};
use crate::benchmark::judging_forms::multiple_choice::{
    ChoicePrompt, OptionTexts, choices, item_score, judgings, read, scores,
};
use crate::benchmark::scores::judgement::JudgeTask;
use crate::benchmark::scores::score::{Scores, Verdicts};
use crate::benchmark::suite_data_file::{DataError, DataProblem, json_items};
use crate::benchmark::suite_options::{SuiteError, SuiteOptions};
use crate::benchmark::{JudgeMode, Suite};
use crate::judging::prompt_file::PromptFile;
use crate::judging::verdict::{Verdict, VerdictError};
use crate::language::Language;

pub(super) const PROMPT: &str = include_str!("../../prompts/superclue_close.toml");

/// SuperCLUE-CLOSE with its options.
pub struct SuperClueClose {
    variant: String,
    prompt: ChoicePrompt,
}

/// Line of the data file.
#[derive(Deserialize)]
struct CloseRecord {
    id: Id,
    #[serde(alias = "能力")]
    capability: String,
    #[serde(alias = "问题")]
    question: String,
    #[serde(alias = "选项")]
    options: OptionTexts,
    #[serde(alias = "答案")]
    answer: String,
}

impl SuperClueClose {
    /// Creates the suite with its options.
    ///
    /// # Errors
    /// [`SuiteError`] if an option is unknown or the prompt lacks a field.
    pub fn new(options: &SuiteOptions) -> Result<Self, SuiteError> {
        options.check("superclue-close", &[], &[])?;
        let file = PromptFile::parse(options.prompt.as_deref().unwrap_or(PROMPT));
        Ok(Self { variant: options.variant(), prompt: ChoicePrompt::new(&file)? })
    }
}

impl Suite for SuperClueClose {
    fn name(&self) -> &'static str {
        "superclue-close"
    }

    fn title(&self) -> &'static str {
        "SuperCLUE CLOSE"
    }

    fn mode(&self) -> JudgeMode {
        JudgeMode::MultipleChoice
    }

    fn variant(&self) -> &str {
        &self.variant
    }

    fn category_title<'n>(&'n self, category: &'n str) -> &'n str {
        capability_of(category).map_or(category, |known| known.title)
    }

    fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError> {
        json_items(bytes, item)
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        self.prompt.ask(item, answers)
    }

    fn judgings(&self, item: &Item, answers: &[Answer], _baseline: &[Answer]) -> Vec<JudgeTask> {
        judgings(item, answers)
    }

    fn parse(&self, item: &Item, reply: &str) -> Result<Verdict, VerdictError> {
        Ok(read(item, reply))
    }

    fn reminder(&self, _item: &Item) -> String {
        "请只回答A、B、C、D中的一个字母。".to_owned()
    }

    fn item_score(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
        item_score(item, verdicts)
    }

    fn score_verdicts(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Scores {
        Scores(scores(items, verdicts, &parts(items)))
    }
}

fn item(line: CloseRecord) -> Result<Item, DataProblem> {
    let capability = known_capability(&line.capability)?;
    Ok(Item {
        id: line.id.into_text(),
        category: capability.name.to_owned(),
        subcategory: None,
        language: Language::Chinese,
        turns: vec![Question { question: line.question, reference: None }],
        choices: Some(choices(line.options, &line.answer)?),
    })
}
