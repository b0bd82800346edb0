//! MT-Bench-101: 1,388 English dialogues in 13 tasks; every turn is judged, and the lowest turn counts.
//!
//! The model answers each turn in the golden context, so turns are independent of one another. Six tasks judge from the second turn on.
//! Sources: the paper and OpenCompass's `datasets/subjective/mtbench101.py`.

mod tasks;

use serde::Deserialize;

use crate::benchmark::item::{Answer, AnswerRequest, Item, ItemSampling, Question};
use crate::benchmark::judging_forms::conversation::{TurnLinks, dialogue};
use crate::benchmark::judging_forms::logprob_weighted::LOGPROB_WEIGHTED;
use crate::benchmark::scores::judgement::{JudgeRequest, JudgeTask};
use crate::benchmark::suite_data_file::{DataError, DataProblem, json_items};
use crate::language::Language;

use crate::benchmark::scores::score::{Part, PartKind, Score, Scores, Verdicts, macro_mean, mean};
use crate::benchmark::suite_options::{SuiteError, SuiteOptions};
use crate::benchmark::{JudgeMode, Suite};
use crate::judging::judge_prompt::{JudgePrompt, JudgePromptFields};
use crate::judging::prompt_file::PromptFile;
use crate::judging::verdict::{Verdict, VerdictError, bracketed_score, original_parsers};
use tasks::first_judged;
pub use tasks::{ABILITIES, DialogueTask, TASKS, TIERS, judged_turns, task_of};

/// Ablation: the model's own earlier answers are the context, instead of the golden ones.
const SELF_CONTEXT: &str = "self_context";
/// Prompt text for that context if the first round is given.
const SELF_CONTEXT_AFTER_FIRST: &str = "self_context_after_first";
/// Switch: the reference is the whole golden dialogue, as in OpenCompass.
const WHOLE_DIALOGUE: &str = "mtbench101.whole_dialogue_reference";
/// Switch: a dialogue with failed turns has the lowest score of the others, as in OpenCompass.
const MIN_OVER_PARSED_TURNS: &str = "mtbench101.min_over_parsed_turns";
/// Switch: the first number in brackets is the rating, as in OpenCompass.
const FIRST_BRACKET: &str = "mtbench101.first_bracket";

/// Rule that scores a dialogue by the mean of its turns instead of the lowest one.
pub const MEAN_OVER_TURNS: &str = "mean over turns";

const PROMPT: &str = include_str!("../../prompts/mtbench101.toml");
const FIELDS: JudgePromptFields = JudgePromptFields { required: &["history", "answer"], optional: &["reference"] };
const FIELDS_WITH_REFERENCE: JudgePromptFields =
    JudgePromptFields { required: &["history", "answer", "reference"], optional: &[] };

/// MT-Bench-101 with its options.
pub struct MtBench101 {
    variant: String,
    judge_prompts: Vec<JudgePrompt>,
    own_context: bool,
    whole_dialogue: bool,
    parsed_turns: bool,
    first_bracket: bool,
}

/// Line of the data file.
#[derive(Deserialize)]
struct DialogueRecord {
    task: String,
    id: u64,
    history: Vec<DialogueExchange>,
}

#[derive(Deserialize)]
struct DialogueExchange {
    user: String,
    bot: String,
}

impl MtBench101 {
    /// Creates the suite with its options.
    ///
    /// # Errors
    /// [`SuiteError`] if an option is unknown or the prompt lacks a field.
    pub fn new(options: &SuiteOptions) -> Result<Self, SuiteError> {
        options.check(
            "mtbench101",
            &[SELF_CONTEXT, LOGPROB_WEIGHTED],
            &[WHOLE_DIALOGUE, MIN_OVER_PARSED_TURNS, FIRST_BRACKET],
        )?;
        let file = PromptFile::parse(options.prompt.as_deref().unwrap_or(PROMPT));
        let own_context = options.ablation.is_some();
        let judge_prompt = |task: &DialogueTask| {
            let fields = if task.has_reference { FIELDS_WITH_REFERENCE } else { FIELDS };
            let mut text = file.variant(task.code);
            let own = if task.skips_first { SELF_CONTEXT_AFTER_FIRST } else { SELF_CONTEXT };
            if own_context && let Some(own) = text.texts.get(own).cloned() {
                text.texts.insert("context".to_owned(), own);
            }
            JudgePrompt::new(task.code, &text, fields)
        };
        Ok(Self {
            variant: options.variant(),
            judge_prompts: TASKS.iter().map(judge_prompt).collect::<Result<_, _>>()?,
            own_context,
            whole_dialogue: options.has(WHOLE_DIALOGUE),
            parsed_turns: options.has(MIN_OVER_PARSED_TURNS),
            first_bracket: options.has(FIRST_BRACKET),
        })
    }

    fn turns_of(&self, item: &Item) -> TurnLinks {
        TurnLinks { first: first_judged(item), own_context: self.own_context }
    }

    /// Builds the judge request about one turn.
    fn request(&self, item: &Item, answers: &[Answer], turn: u32, answer: &str) -> Option<JudgeRequest> {
        let place = TASKS.iter().position(|task| task.code == item.category)?;
        let history = self.turns_of(item).history(item, answers, turn)?;
        let golden = item.turn(turn)?.reference.as_deref().unwrap_or_default();
        let reference = match self.whole_dialogue {
            true => dialogue(&golden_turns(item, turn)),
            false => golden.to_owned(),
        };
        let values = [("history", history.as_str()), ("answer", answer), ("reference", &reference)];
        let sampling = ItemSampling { temperature: Some(0.0), ..ItemSampling::default() };
        Some(JudgeRequest { messages: self.judge_prompts[place].messages(&values), sampling })
    }

    /// Returns the scores of a dialogue's judged turns; `None` if one is missing.
    fn turns(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<Vec<f64>> {
        let turns: Vec<Option<f64>> = judged_turns(item).map(|turn| score_of(item, verdicts, turn)).collect();
        let complete = !turns.contains(&None);
        (complete || self.parsed_turns).then(|| turns.into_iter().flatten().collect())
    }

    /// Computes the scores of the paper's ablation "without minimum": a dialogue has the mean of its turns.
    fn by_mean(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Vec<Score> {
        let rule = Part::new(PartKind::Rule, MEAN_OVER_TURNS);
        let dialogue = |item: &Item| mean(&self.turns(item, verdicts)?);
        let tasks: Vec<Score> = TASKS.iter().filter_map(|task| task_score(task, items, verdicts, dialogue)).collect();
        let overall = macro_mean(rule.clone(), &tasks);
        let within = |score: Score| Score { part: rule.clone().within(score.part.name), ..score };
        overall.into_iter().chain(tasks.into_iter().map(within)).collect()
    }
}

impl Suite for MtBench101 {
    fn name(&self) -> &'static str {
        "mtbench101"
    }

    fn title(&self) -> &'static str {
        "MT-Bench-101"
    }

    fn mode(&self) -> JudgeMode {
        JudgeMode::PointwiseTurn
    }

    fn variant(&self) -> &str {
        &self.variant
    }

    fn category_title<'n>(&'n self, category: &'n str) -> &'n str {
        task_of(category).map_or(category, |task| task.title)
    }

    fn read(&self, bytes: &[u8]) -> Result<Vec<Item>, DataError> {
        json_items(bytes, item)
    }

    fn asks(&self, item: &Item, answers: &[Answer]) -> Vec<AnswerRequest> {
        let sampling = ItemSampling { temperature: Some(0.0), ..ItemSampling::default() };
        self.turns_of(item).asks(item, answers, sampling)
    }

    fn judgings(&self, item: &Item, answers: &[Answer], _baseline: &[Answer]) -> Vec<JudgeTask> {
        let request = |turn, answer: &str| self.request(item, answers, turn, answer);
        self.turns_of(item).judgings(item, answers, request)
    }

    fn parse(&self, _item: &Item, reply: &str) -> Result<Verdict, VerdictError> {
        let parse = if self.first_bracket { original_parsers::mtbench101 } else { bracketed_score::parse };
        parse(reply).map(Verdict::Rating)
    }

    fn reminder(&self, _item: &Item) -> String {
        "End your reply with the rating in exactly this form, a whole number from 1 to 10: 'Rating: [[6]]'.".to_owned()
    }

    fn item_score(&self, item: &Item, verdicts: &Verdicts<'_>) -> Option<f64> {
        self.turns(item, verdicts)?.into_iter().reduce(f64::min)
    }

    fn score_verdicts(&self, items: &[Item], verdicts: &Verdicts<'_>) -> Scores {
        let worth = |item: &Item| self.item_score(item, verdicts);
        let tasks: Vec<Score> = TASKS.iter().filter_map(|task| task_score(task, items, verdicts, worth)).collect();
        let mut scores: Vec<Score> = macro_mean(Part::overall(), &tasks).into_iter().collect();
        scores.extend(groups(&tasks, &TIERS, |task| task.tier));
        scores.extend(groups(&tasks, &ABILITIES, |task| task.ability));
        scores.extend(tasks);
        scores.extend(self.by_mean(items, verdicts));
        scores.extend(TASKS.iter().flat_map(|task| turn_scores(task, items, verdicts)));
        Scores(scores)
    }
}

fn item(line: DialogueRecord) -> Result<Item, DataProblem> {
    let task = task_of(&line.task);
    let task = task.ok_or_else(|| DataProblem::unknown("task", &line.task, TASKS.iter().map(|task| task.code)))?;
    if line.history.iter().any(|exchange| exchange.bot.trim().is_empty()) {
        return Err(DataProblem::Empty("a bot's text"));
    }
    if task.skips_first && line.history.len() == 1 {
        let reason = format!("it has one turn, and the task {} judges from the second turn on", task.code);
        return Err(DataProblem::Record(reason));
    }
    let turn = |exchange: DialogueExchange| Question { question: exchange.user, reference: Some(exchange.bot) };
    Ok(Item {
        id: line.id.to_string(),
        category: task.code.to_owned(),
        subcategory: None,
        language: Language::English,
        turns: line.history.into_iter().map(turn).collect(),
        choices: None,
    })
}

/// Returns the golden dialogue up to and including a turn.
fn golden_turns(item: &Item, last: u32) -> Vec<(&str, &str)> {
    let turns = (1..=last).filter_map(|turn| item.turn(turn));
    turns.map(|turn| (turn.question.as_str(), turn.reference.as_deref().unwrap_or_default())).collect()
}

fn score_of(item: &Item, verdicts: &Verdicts<'_>, turn: u32) -> Option<f64> {
    verdicts.rating(&item.id, turn).map(|rating| rating.score)
}

/// Computes the score of a task: the mean over its dialogues.
fn task_score(
    task: &DialogueTask,
    items: &[Item],
    verdicts: &Verdicts<'_>,
    dialogue: impl Fn(&Item) -> Option<f64>,
) -> Option<Score> {
    let dialogues = items.iter().filter(|item| item.category == task.code);
    verdicts.mean(dialogues, dialogue).score(Part::new(PartKind::Category, task.code))
}

/// Computes the scores of abilities or tiers: unweighted means of their tasks.
fn groups<'s>(
    tasks: &'s [Score],
    names: &'s [&'static str],
    group_of: impl Fn(&DialogueTask) -> &'static str + 's,
) -> impl Iterator<Item = Score> + 's {
    names.iter().filter_map(move |name| {
        let belongs = |score: &&Score| task_of(&score.part.name).is_some_and(|task| group_of(task) == *name);
        macro_mean(Part::new(PartKind::Group, *name), tasks.iter().filter(belongs))
    })
}

/// Computes the scores of a task by turn: means over the dialogues that have the turn.
fn turn_scores(task: &DialogueTask, items: &[Item], verdicts: &Verdicts<'_>) -> Vec<Score> {
    let dialogues: Vec<&Item> = items.iter().filter(|item| item.category == task.code).collect();
    let longest = dialogues.iter().flat_map(|item| judged_turns(item)).max().unwrap_or_default();
    let turn_score = |turn: u32| {
        let having = dialogues.iter().copied().filter(|item| judged_turns(item).any(|judged| judged == turn));
        let mean = verdicts.mean(having, |item| score_of(item, verdicts, turn));
        mean.score(Part::new(PartKind::Turn, turn.to_string()).within(task.code))
    };
    (1..=longest).filter_map(turn_score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judge instruction for the second turn of a task, with this ablation.
    fn instruction(task: &str, ablation: Option<&str>) -> String {
        let suite = MtBench101::new(&SuiteOptions { ablation: ablation.map(str::to_owned), ..SuiteOptions::default() });
        let line =
            r#"{"task": "TASK", "id": 1, "history": [{"user": "q1", "bot": "g1"}, {"user": "q2", "bot": "g2"}]}"#;
        let item = item(serde_json::from_str(&line.replace("TASK", task)).unwrap()).unwrap();
        let answers = [1, 2].map(|turn| Answer { turn, text: format!("own {turn}") });
        let request = suite.unwrap().request(&item, &answers, 2, "own 2").unwrap();
        request.messages[0].content.clone()
    }

    #[test]
    fn the_judge_learns_whose_the_earlier_replies_are() {
        for (task, earlier) in
            [("TS", "Its earlier replies are its own too"), ("SA", "FIRST ROUND is given. All of its replies")]
        {
            let golden = instruction(task, None);
            assert!(
                golden.contains("Everything before it is given history, which is correct and is not to be judged.\n\n")
            );
            let own = instruction(task, Some(SELF_CONTEXT));
            assert!(!own.contains("given history") && !own.contains("history, which is correct"), "{own}");
            assert!(own.contains(earlier) && own.contains("are its own too and may be wrong."), "{own}");
            assert!([golden, own].iter().all(|text| !text.contains("context}") && text.contains("The task tests")));
        }
    }
}
