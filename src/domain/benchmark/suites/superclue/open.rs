//! SuperCLUE-OPEN: a question and a follow-up, compared with a baseline model's answers by a judge in both orders.
//!
//! An item is a line of JSON: `{"id": 1, "capability": "计算", "turns": ["…", "…"], "reference": ["…", "…"]}`; the reference and the second
//! turn are optional.

use serde::Deserialize;

use super::{AnswerKind, capability_of, known_capability, parts};
use crate::benchmark::item::{Answer, AnswerRequest, Id, Item, ItemSampling, Question};
use crate::benchmark::judging_forms::conversation::TurnLinks;
use crate::benchmark::judging_forms::pairwise::{FIVE_LEVELS, PairPrompts, ReferenceUse, item_score, reminder, scores};
use crate::benchmark::scores::judgement::JudgeTask;
use crate::benchmark::scores::score::{Scores, Verdicts};
use crate::benchmark::suite_data_file::{DataError, DataProblem, json_items};
use crate::benchmark::suite_options::{SuiteError, SuiteOptions};
use crate::benchmark::{JudgeMode, Suite};
use crate::judging::prompt_file::PromptFile;
use crate::judging::verdict::pairwise::VerdictScale;
use crate::judging::verdict::{Verdict, VerdictError, original_parsers};
use crate::language::Language;

/// Switch: `[[A]]` anywhere takes precedence over `[[B]]`, as in FastChat.
const FIRST_TOKEN: &str = "superclue-open.first_token";

const PROMPT: &str = include_str!("../../prompts/superclue_open.toml");

/// Dependencies of the turns: the follow-up comes after the model's own first answer.
const TURN_LINKS: TurnLinks = TurnLinks { first: 1, own_context: true };

/// SuperCLUE-OPEN with its options.
pub struct SuperClueOpen {
    variant: String,
    judge_prompts: PairPrompts,
    levels: VerdictScale,
    first_token: bool,
}

/// Line of the data file.
#[derive(Deserialize)]
struct OpenRecord {
    id: Id,
    capability: String,
    turns: Vec<String>,
    #[serde(default)]
    reference: Option<Vec<String>>,
}

impl SuperClueOpen {
    /// Creates the suite with its options.
    ///
    /// # Errors
    /// [`SuiteError`] if an option is unknown or a prompt lacks a field.
    pub fn new(options: &SuiteOptions) -> Result<Self, SuiteError> {
        let levels = if options.ablation.is_some() { VerdictScale::Five } else { VerdictScale::Three };
        // FastChat has three verdicts.
        let switches: &[&str] = if levels == VerdictScale::Three { &[FIRST_TOKEN] } else { &[] };
        options.check("superclue-open", &[FIVE_LEVELS], switches)?;
        let file = PromptFile::parse(options.prompt.as_deref().unwrap_or(PROMPT));
        let first_token = options.has(FIRST_TOKEN);
        Ok(Self { variant: options.variant(), judge_prompts: PairPrompts::new(&file, levels)?, levels, first_token })
    }
}

impl Suite for SuperClueOpen {
    fn name(&self) -> &'static str {
        "superclue-open"
    }

    fn title(&self) -> &'static str {
        "SuperCLUE OPEN"
    }

    fn mode(&self) -> JudgeMode {
        JudgeMode::PairwiseBaseline
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
        TURN_LINKS.asks(item, answers, ItemSampling::default())
    }

    fn judgings(&self, item: &Item, answers: &[Answer], baseline: &[Answer]) -> Vec<JudgeTask> {
        let exact = capability_of(&item.category).is_some_and(|known| known.answers == AnswerKind::Exact);
        let references = if exact { ReferenceUse::Shown } else { ReferenceUse::Hidden };
        self.judge_prompts.judgings(item, answers, baseline, references)
    }

    fn parse(&self, _item: &Item, reply: &str) -> Result<Verdict, VerdictError> {
        match self.first_token {
            true => original_parsers::fastchat(reply).map(|winner| Verdict::Pair { winner, margin: None }),
            false => self.levels.parse(reply),
        }
    }

    fn reminder(&self, _item: &Item) -> String {
        reminder(Language::Chinese, self.levels).to_owned()
    }

    fn item_score(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
        item_score(item, verdicts, self.levels)
    }

    fn score_verdicts(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Scores {
        Scores(scores(items, verdicts, &parts(items), self.levels))
    }
}

fn item(line: OpenRecord) -> Result<Item, DataProblem> {
    let capability = known_capability(&line.capability)?;
    if line.turns.len() > 2 {
        return Err(DataProblem::Record(format!("it has {} turns; the suite judges two", line.turns.len())));
    }
    let references = line.reference.unwrap_or_default();
    if references.len() > line.turns.len() {
        let (given, turns) = (references.len(), line.turns.len());
        return Err(DataProblem::Record(format!("it has {given} references to {turns} turns: give one for each turn")));
    }
    let reference = |turn: usize| references.get(turn).filter(|text| !text.trim().is_empty()).cloned();
    let turns = line.turns.into_iter().enumerate();
    Ok(Item {
        id: line.id.into_text(),
        category: capability.name.to_owned(),
        subcategory: None,
        language: Language::Chinese,
        turns: turns.map(|(turn, question)| Question { question, reference: reference(turn) }).collect(),
        choices: None,
    })
}
