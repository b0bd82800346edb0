//! Custom suite, declared in TOML with items in JSON lines, without code.
//!
//! ```toml
//! name = "house-rules"
//! title = "House rules"
//! mode = "pointwise_ref_multidim"   # or pointwise_ref, pointwise_turn, pairwise_baseline, multiple_choice
//! language = "en"                   # of the items, and of the reminder to a judge
//! categories = ["facts", "style"]   # optional; any category is allowed by default
//! overall = "items"                 # or "categories": the mean over items, or over categories
//! dimensions = ["Accuracy", "Tone"] # of pointwise_ref_multidim
//! context = "own"                   # or "golden": context of later turns of pointwise_turn
//! dialogue = "lowest"               # or "mean": score of a dialogue from its turns, of pointwise_turn
//! temperature = 0.2                 # of the models' answers
//! verdicts = "five_levels"          # of pairwise_baseline: from [[A>>B]] to [[B>>A]]; or "three", the default
//!
//! [prompt]                          # optional, in the format of any prompt file
//! user = "…"
//! ```
//!
//! An item is `{"id": 1, "category": "facts", "turns": ["…"], "reference": ["…"], "options": […], "answer": "B"}`, with `question` for a
//! single turn. `scoring` has the common parts of the modes.

mod items;
mod names;
mod scoring;

use serde::Deserialize;

use self::items::ItemRules;
use super::super::item::{Answer, AnswerRequest, Item, ItemSampling};
use super::super::judging_forms::conversation::TurnLinks;
use super::super::judging_forms::multiple_choice::{self, ChoicePrompt};
use super::super::judging_forms::pairwise::{self, FIVE_LEVELS, PairPrompts, ReferenceUse};
use super::super::judging_forms::pointwise;
use super::super::scores::judgement::{JudgeRequest, JudgeTask};
use super::super::scores::score::{Scores, Verdicts};
use super::super::suite_data_file::DataError;
use super::super::suite_options::{BUILT_IN_SUITES, SuiteError, SuiteOptions};
use super::super::{JudgeMode, Suite};
use crate::benchmark::judging_forms::logprob_weighted::LOGPROB_WEIGHTED;
use crate::judging::judge_prompt::{JudgePrompt, JudgePromptFields};
use crate::judging::prompt_file::{PromptFile, PromptText};
use crate::judging::verdict::pairwise::VerdictScale;
use crate::judging::verdict::{Verdict, VerdictError, bracketed_score, dimension_scores};
use crate::language::Language;

const PROMPT: &str = include_str!("../../prompts/custom.toml");

const REFERENCE_FIELDS: JudgePromptFields =
    JudgePromptFields { required: &["question", "reference", "answer"], optional: &["category"] };
const DIMENSION_FIELDS: JudgePromptFields =
    JudgePromptFields { required: &["dimensions", "question", "reference", "answer"], optional: &["category"] };
const TURN_FIELDS: JudgePromptFields =
    JudgePromptFields { required: &["history", "answer"], optional: &["reference", "category"] };

/// Contents of a suite file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteDeclaration {
    name: String,
    title: Option<String>,
    mode: ModeName,
    language: Language,
    #[serde(default)]
    categories: Vec<String>,
    #[serde(default)]
    overall: Overall,
    #[serde(default)]
    dimensions: Vec<String>,
    #[serde(default)]
    context: Context,
    #[serde(default)]
    dialogue: Dialogue,
    verdicts: Option<VerdictLevels>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    #[serde(default)]
    prompt: PromptFile,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModeName {
    PairwiseBaseline,
    PointwiseRefMultidim,
    PointwiseRef,
    PointwiseTurn,
    MultipleChoice,
}

/// Unit of the overall mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Overall {
    #[default]
    Items,
    Categories,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Context {
    #[default]
    Own,
    Golden,
}

/// Aggregation of a dialogue's turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Dialogue {
    #[default]
    Lowest,
    Mean,
}

/// Verdicts of `pairwise_baseline`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum VerdictLevels {
    Three,
    FiveLevels,
}

/// Custom suite with its options.
pub struct CustomSuite {
    declaration: SuiteDeclaration,
    variant: String,
    levels: VerdictScale,
    judge: JudgeForm,
}

/// Judge prompt and reply format of the mode.
enum JudgeForm {
    Pair(Box<PairPrompts>),
    Dimensions(PromptText, JudgePrompt),
    Reference(JudgePrompt),
    Turn(JudgePrompt),
    Choice(ChoicePrompt),
}

impl CustomSuite {
    /// Parses a suite file.
    ///
    /// # Errors
    /// [`SuiteError`] if it is not a suite file, has the name of a built-in suite or an invalid one, a category that would be mistaken for
    /// another part, or a prompt that lacks a field.
    pub fn new(toml: &str, options: &SuiteOptions) -> Result<Self, SuiteError> {
        let declaration: SuiteDeclaration =
            toml::from_str(toml).map_err(|error| SuiteError::File(error.to_string()))?;
        if BUILT_IN_SUITES.contains(&declaration.name.as_str()) {
            return Err(SuiteError::File(format!(
                "{:?} is the name of a built-in suite: choose another",
                declaration.name
            )));
        }
        names::check(&declaration.name).map_err(SuiteError::File)?;
        declaration.categories.iter().try_for_each(|name| names::check_category(name)).map_err(SuiteError::File)?;
        let levels = levels(&declaration, options)?;
        let own = options.prompt.as_deref().map_or_else(|| declaration.prompt.clone(), PromptFile::parse);
        let judge = judge(&declaration, levels, &own.or(&PromptFile::parse(PROMPT)))?;
        Ok(Self { variant: options.variant(), declaration, levels, judge })
    }

    fn turns(&self) -> TurnLinks {
        TurnLinks { first: 1, own_context: self.declaration.context == Context::Own }
    }

    fn dimensions(&self) -> Vec<&str> {
        self.declaration.dimensions.iter().map(String::as_str).collect()
    }

    /// Returns the sampling settings of the evaluated models.
    fn sampling(&self) -> ItemSampling {
        let SuiteDeclaration { temperature, max_tokens, .. } = self.declaration;
        ItemSampling { temperature, max_tokens, seed: None, logprobs: false }
    }

    fn language(&self) -> Language {
        self.declaration.language
    }
}

/// Returns the verdict levels of the file, or of the ablation.
fn levels(declaration: &SuiteDeclaration, options: &SuiteOptions) -> Result<VerdictScale, SuiteError> {
    let is_pairwise = matches!(declaration.mode, ModeName::PairwiseBaseline);
    let declared = declaration.verdicts;
    if declared.is_some() && !is_pairwise {
        return Err(SuiteError::File("only mode = \"pairwise_baseline\" has verdicts: leave the key out".to_owned()));
    }
    let ablations: &[&str] = match declaration.mode {
        ModeName::PairwiseBaseline if declared != Some(VerdictLevels::FiveLevels) => &[FIVE_LEVELS],
        ModeName::PairwiseBaseline | ModeName::MultipleChoice => &[],
        ModeName::PointwiseRef | ModeName::PointwiseRefMultidim | ModeName::PointwiseTurn => &[LOGPROB_WEIGHTED],
    };
    options.check(&declaration.name, ablations, &[])?;
    let are_five = declared == Some(VerdictLevels::FiveLevels) || options.ablation.is_some();
    Ok(if are_five { VerdictScale::Five } else { VerdictScale::Three })
}

/// Prepares the prompts of the mode.
fn judge(declaration: &SuiteDeclaration, levels: VerdictScale, file: &PromptFile) -> Result<JudgeForm, SuiteError> {
    let judge_prompt = |name: &str, fields| JudgePrompt::new(name, &file.variant(name), fields);
    Ok(match declaration.mode {
        ModeName::PairwiseBaseline => JudgeForm::Pair(Box::new(PairPrompts::new(file, levels)?)),
        ModeName::PointwiseRef => JudgeForm::Reference(judge_prompt("pointwise_ref", REFERENCE_FIELDS)?),
        ModeName::PointwiseTurn => JudgeForm::Turn(judge_prompt("pointwise_turn", TURN_FIELDS)?),
        ModeName::MultipleChoice => JudgeForm::Choice(ChoicePrompt::new(file)?),
        ModeName::PointwiseRefMultidim if declaration.dimensions.is_empty() => {
            return Err(SuiteError::File("this mode needs dimensions = [\"…\"]: name at least one".to_owned()));
        }
        ModeName::PointwiseRefMultidim => {
            let name = "pointwise_ref_multidim";
            JudgeForm::Dimensions(file.variant(name), judge_prompt(name, DIMENSION_FIELDS)?)
        }
    })
}

/// Builds a judge request about one answer.
fn pointwise_request(judge_prompt: &JudgePrompt, item: &Item, dimensions: &str, answer: &str) -> JudgeRequest {
    let (question, reference) = pointwise::question_and_reference(item);
    let values = [
        ("category", item.category.as_str()),
        ("dimensions", dimensions),
        ("question", question),
        ("reference", reference),
        ("answer", answer),
    ];
    JudgeRequest { messages: judge_prompt.messages(&values), sampling: JUDGE_SAMPLING }
}

const JUDGE_SAMPLING: ItemSampling =
    ItemSampling { temperature: Some(0.0), max_tokens: None, seed: None, logprobs: false };

impl Suite for CustomSuite {
    fn name(&self) -> &str {
        &self.declaration.name
    }

    fn title(&self) -> &str {
        self.declaration.title.as_ref().unwrap_or(&self.declaration.name)
    }

    fn mode(&self) -> JudgeMode {
        match self.declaration.mode {
            ModeName::PairwiseBaseline => JudgeMode::PairwiseBaseline,
            ModeName::PointwiseRefMultidim => JudgeMode::PointwiseRefMultidim,
            ModeName::PointwiseRef => JudgeMode::PointwiseRef,
            ModeName::PointwiseTurn => JudgeMode::PointwiseTurn,
            ModeName::MultipleChoice => JudgeMode::MultipleChoice,
        }
    }

    fn variant(&self) -> &str {
        &self.variant
    }

    fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError> {
        let rules = ItemRules {
            mode: self.mode(),
            language: self.declaration.language,
            categories: &self.declaration.categories,
            golden_context: self.declaration.context == Context::Golden,
        };
        rules.read(bytes)
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        match &self.judge {
            JudgeForm::Choice(prompt) => prompt.ask(item, answers),
            JudgeForm::Turn(_) | JudgeForm::Pair(_) => self.turns().asks(item, answers, self.sampling()),
            JudgeForm::Dimensions(..) | JudgeForm::Reference(_) => pointwise::ask(item, answers, self.sampling()),
        }
    }

    fn judgings(&self, item: &Item, answers: &[Answer], baseline: &[Answer]) -> Vec<JudgeTask> {
        match &self.judge {
            JudgeForm::Pair(judge_prompts) => judge_prompts.judgings(item, answers, baseline, ReferenceUse::Shown),
            JudgeForm::Choice(_) => multiple_choice::judgings(item, answers),
            JudgeForm::Reference(judge_prompt) => {
                pointwise::judging(answers, |answer| pointwise_request(judge_prompt, item, "", answer))
            }
            JudgeForm::Dimensions(text, judge_prompt) => {
                let dimensions = pointwise::numbered(&self.dimensions(), text);
                pointwise::judging(answers, |answer| pointwise_request(judge_prompt, item, &dimensions, answer))
            }
            JudgeForm::Turn(judge_prompt) => self.turns().judgings(item, answers, |turn, answer| {
                let history = self.turns().history(item, answers, turn)?;
                let reference = item.turn(turn)?.reference.as_deref().unwrap_or_default();
                let values = [
                    ("category", item.category.as_str()),
                    ("history", &history),
                    ("reference", reference),
                    ("answer", answer),
                ];
                Some(JudgeRequest { messages: judge_prompt.messages(&values), sampling: JUDGE_SAMPLING })
            }),
        }
    }

    fn parse(&self, item: &Item, reply: &str) -> Result<Verdict, VerdictError> {
        match &self.judge {
            JudgeForm::Pair(_) => self.levels.parse(reply),
            JudgeForm::Choice(_) => Ok(multiple_choice::read(item, reply)),
            JudgeForm::Dimensions(..) => dimension_scores::parse(reply, &self.dimensions()).map(Verdict::Rating),
            JudgeForm::Reference(_) | JudgeForm::Turn(_) => bracketed_score::parse(reply).map(Verdict::Rating),
        }
    }

    fn reminder(&self, _item: &Item) -> String {
        let (english, chinese) = match &self.judge {
            JudgeForm::Pair(_) => return pairwise::reminder(self.language(), self.levels).to_owned(),
            JudgeForm::Choice(_) => {
                ("Reply with one letter from A to D and nothing else.", "请只回答A、B、C、D中的一个字母。")
            }
            JudgeForm::Dimensions(..) => {
                let overall = match self.language() {
                    Language::English => "Final Score",
                    Language::Chinese => "综合得分",
                };
                return pointwise::dictionary_reminder(&self.dimensions(), overall, self.language());
            }
            JudgeForm::Reference(_) | JudgeForm::Turn(_) => (
                "End your reply with the rating in exactly this form, from 1 to 10: 'Rating: [[6]]'.",
                "请在回答的最后严格按照这个格式给出1到10的分数：“评级：[[6]]”。",
            ),
        };
        match self.language() {
            Language::English => english.to_owned(),
            Language::Chinese => chinese.to_owned(),
        }
    }

    fn item_score(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
        scoring::item_score(self, item, verdicts)
    }

    fn score_verdicts(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Scores {
        scoring::score(self, items, verdicts)
    }
}
