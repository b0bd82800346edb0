//! AlignBench: 683 Chinese questions, each scored with a reference on the dimensions of its answer type.
//!
//! The subcategory determines the answer type, and so the dimensions; the category determines the group and the temperature. The overall
//! score is the mean of reasoning and language, which are means of their categories. Sources: the paper and its `judge.py`,
//! `show_result.py` and `config/`.

mod questions;

use serde::Deserialize;

use crate::benchmark::item::{Answer, AnswerRequest, Item, ItemSampling, Question};
use crate::benchmark::judging_forms::logprob_weighted::LOGPROB_WEIGHTED;
use crate::benchmark::judging_forms::pointwise;
use crate::benchmark::scores::judgement::{Game, JudgeRequest, JudgeTask, Status};
use crate::benchmark::scores::score::{Part, PartKind, Score, Scores, Verdicts, macro_mean, to_two_decimals};
use crate::benchmark::suite_data_file::{DataError, DataProblem, json_items};
use crate::benchmark::suite_options::{SuiteError, SuiteOptions};
use crate::benchmark::{JudgeMode, Suite};
use crate::judging::judge_prompt::{JudgePrompt, JudgePromptFields};
use crate::judging::prompt_file::{PromptFile, PromptText};
use crate::judging::verdict::{Rating, Verdict, VerdictError, bracketed_score, dimension_scores, original_parsers};
use crate::language::Language;
use questions::dimensions_of_subcategory;
pub use questions::{
    CATEGORIES, Category, DIMENSIONS, LANGUAGE, REASONING, category_of, dimensions_about, dimensions_of, subcategories,
};

const OVERALL: &str = "综合得分";
/// Ablation: the judge gives one score by rules, without dimensions.
const RULES_ABLATION: &str = "rules";
/// Ablation: the judge gives one score without rules.
const GENERAL_ABLATION: &str = "general";
/// Switch: an unreadable reply counts as -1, as in `show_result.py`.
const FAILED_AS_MINUS_1: &str = "alignbench.include_failed_as_minus1";
/// Switch: replies are parsed like in `judge.py`.
const OFFICIAL_PARSER: &str = "alignbench.official_parser";
/// Switch: scores are rounded to two decimals at every stage, as in OpenCompass.
const ROUND_EACH_STAGE: &str = "alignbench.round_each_stage";

const PROMPT: &str = include_str!("../../prompts/alignbench.toml");
const FIELDS: JudgePromptFields =
    JudgePromptFields { required: &["dimensions", "question", "reference", "answer"], optional: &["category"] };
const FIELDS_OF_ONE_SCORE: JudgePromptFields =
    JudgePromptFields { required: &["question", "reference", "answer"], optional: &["category"] };

/// AlignBench with its options.
pub struct AlignBench {
    variant: String,
    text: PromptText,
    judge_prompt: JudgePrompt,
    by_dimension: bool,
    failed_as_minus_1: bool,
    official_parser: bool,
    round_each_stage: bool,
}

/// Line of the data file.
#[derive(Deserialize)]
struct AlignBenchRecord {
    question_id: u64,
    category: String,
    subcategory: String,
    question: String,
    reference: String,
}

impl AlignBench {
    /// Creates the suite with its options.
    ///
    /// # Errors
    /// [`SuiteError`] if an option is unknown or the prompt lacks a field.
    pub fn new(options: &SuiteOptions) -> Result<Self, SuiteError> {
        options.check(
            "alignbench",
            &[GENERAL_ABLATION, RULES_ABLATION, LOGPROB_WEIGHTED],
            &[FAILED_AS_MINUS_1, OFFICIAL_PARSER, ROUND_EACH_STAGE],
        )?;
        let variant = options.ablation.as_deref().unwrap_or("alignbench");
        let text = PromptFile::parse(options.prompt.as_deref().unwrap_or(PROMPT)).variant(variant);
        let fields = if options.ablation.is_some() { FIELDS_OF_ONE_SCORE } else { FIELDS };
        Ok(Self {
            variant: options.variant(),
            judge_prompt: JudgePrompt::new(variant, &text, fields)?,
            text,
            by_dimension: options.ablation.is_none(),
            failed_as_minus_1: options.has(FAILED_AS_MINUS_1),
            official_parser: options.has(OFFICIAL_PARSER),
            round_each_stage: options.has(ROUND_EACH_STAGE),
        })
    }

    fn request(&self, item: &Item, answer: &str) -> JudgeRequest {
        let (question, reference) = pointwise::question_and_reference(item);
        let dimensions = pointwise::numbered(dimensions_of(item), &self.text);
        let values = [
            ("category", item.category.as_str()),
            ("dimensions", &dimensions),
            ("question", question),
            ("reference", reference),
            ("answer", answer),
        ];
        let sampling = ItemSampling { temperature: Some(0.0), ..ItemSampling::default() };
        JudgeRequest { messages: self.judge_prompt.messages(&values), sampling }
    }

    fn category_score(&self, name: &str, items: &[Item], verdicts: &Verdicts<'_>) -> Option<Score> {
        let mut mean = verdicts.no_mean();
        for item in items.iter().filter(|item| item.category == name) {
            match self.item_score(item, verdicts) {
                None if self.failed_as_minus_1 && was_judged(item, verdicts) => {
                    verdicts.add_failed(&mut mean, item, -1.0);
                }
                score => verdicts.add(&mut mean, item, score),
            }
        }
        self.rounded(mean.score(Part::new(PartKind::Category, name)))
    }

    fn rounded(&self, score: Option<Score>) -> Option<Score> {
        let score = score?;
        if !self.round_each_stage {
            return Some(score);
        }
        let samples = score.samples.iter().map(|sample| sample.map(to_two_decimals)).collect();
        Some(Score { value: score.value.map(to_two_decimals), samples, ..score })
    }
}

impl Suite for AlignBench {
    fn name(&self) -> &'static str {
        "alignbench"
    }

    fn title(&self) -> &'static str {
        "AlignBench"
    }

    fn mode(&self) -> JudgeMode {
        if self.by_dimension { JudgeMode::PointwiseRefMultidim } else { JudgeMode::PointwiseRef }
    }

    fn variant(&self) -> &str {
        &self.variant
    }

    fn category_title<'n>(&'n self, category: &'n str) -> &'n str {
        category_of(category).map_or(category, |known| known.title)
    }

    fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError> {
        json_items(bytes, item)
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        let temperature = category_of(&item.category).map(|category| category.temperature);
        pointwise::ask(item, answers, ItemSampling { temperature, ..ItemSampling::default() })
    }

    fn judgings(&self, item: &Item, answers: &[Answer], _baseline: &[Answer]) -> Vec<JudgeTask> {
        pointwise::judging(answers, |answer| self.request(item, answer))
    }

    fn parse(&self, item: &Item, reply: &str) -> Result<Verdict, VerdictError> {
        let read: Result<Rating, VerdictError> = match (self.by_dimension, self.official_parser) {
            (false, _) => bracketed_score::parse(reply),
            (true, false) => dimension_scores::parse(reply, dimensions_of(item)),
            (true, true) => original_parsers::alignbench(reply),
        };
        read.map(Verdict::Rating)
    }

    fn reminder(&self, item: &Item) -> String {
        match self.by_dimension {
            true => pointwise::dictionary_reminder(dimensions_of(item), OVERALL, Language::Chinese),
            false => "请在回答的最后严格按照这个格式给出1到10的分数：“评级：[[5]]”。".to_owned(),
        }
    }

    fn item_score(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
        verdicts.rating(&item.id, 1).map(|rating| rating.score)
    }

    fn score_verdicts(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Scores {
        let mut categories: Vec<Score> =
            CATEGORIES.iter().filter_map(|category| self.category_score(category.name, items, verdicts)).collect();
        let group = |name: &str| {
            let own = categories.iter().filter(|score| group_of(score) == Some(name));
            self.rounded(macro_mean(Part::new(PartKind::Group, name), own))
        };
        let groups: Vec<Score> = [REASONING, LANGUAGE].into_iter().filter_map(group).collect();
        let mut scores: Vec<Score> = self.rounded(macro_mean(Part::overall(), &groups)).into_iter().collect();
        for group in groups {
            let (own, others) = categories.into_iter().partition(|score| group_of(score) == Some(&group.part.name));
            categories = others;
            scores.push(group);
            scores.extend::<Vec<Score>>(own);
        }
        scores.extend(DIMENSIONS.iter().filter_map(|dimension| dimension_score(dimension, items, verdicts)));
        Scores(scores)
    }
}

/// Returns the meaning of a dimension in the Chinese judge prompt; `None` for any other word.
#[must_use]
pub fn meaning_of(dimension: &str) -> Option<String> {
    PromptFile::parse(PROMPT).variant("").texts.remove(dimension)
}

fn item(line: AlignBenchRecord) -> Result<Item, DataProblem> {
    if category_of(&line.category).is_none() {
        let known = CATEGORIES.iter().map(|category| category.name);
        return Err(DataProblem::unknown("category", &line.category, known));
    }
    if dimensions_of_subcategory(&line.subcategory).is_none() {
        let known = subcategories();
        return Err(DataProblem::unknown("subcategory", &line.subcategory, known));
    }
    if line.reference.trim().is_empty() {
        return Err(DataProblem::Empty("the reference"));
    }
    Ok(Item {
        id: line.question_id.to_string(),
        category: line.category,
        subcategory: Some(line.subcategory),
        language: Language::Chinese,
        turns: vec![Question { question: line.question, reference: Some(line.reference) }],
        choices: None,
    })
}

/// Returns the group of a category's score.
fn group_of(score: &Score) -> Option<&'static str> {
    category_of(&score.part.name).map(|category| category.group)
}

/// Whether a judge replied, but unreadably.
fn was_judged(item: &Item, verdicts: &Verdicts<'_>) -> bool {
    let status = verdicts.status(&item.id, 1, Game::First);
    matches!(status, Some(Status::ParseFailed | Status::OutOfRange | Status::Refused))
}

/// Computes the mean of a dimension over the items that are judged on it.
fn dimension_score(dimension: &str, items: &[Item], verdicts: &Verdicts<'_>) -> Option<Score> {
    let having = items.iter().filter(|item| dimensions_of(item).contains(&dimension));
    let score = |item: &Item| verdicts.rating(&item.id, 1)?.dimensions.get(dimension).copied();
    verdicts.mean(having, score).score(Part::new(PartKind::Dimension, dimension))
}
