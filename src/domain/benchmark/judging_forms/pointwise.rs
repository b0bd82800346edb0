//! Shared code of suites that score one answer to one question with a reference.

use super::super::item::{Answer, AnswerRequest, Item, ItemSampling, answer_of};
use super::super::scores::judgement::{Game, JudgeRequest, JudgeStep, JudgeTask, Status};
use crate::battle::message::Message;
use crate::judging::prompt_file::PromptText;
use crate::language::Language;

/// Returns the question and the reference of a single-turn item.
pub(in crate::benchmark) fn question_and_reference(item: &Item) -> (&str, &str) {
    let turn = item.turns.first();
    (turn.map_or("", |turn| &turn.question), turn.and_then(|turn| turn.reference.as_deref()).unwrap_or_default())
}

/// Returns the question of a single-turn item, unless it is answered.
pub(in crate::benchmark) fn ask(item: &Item, answers: &[Answer], sampling: ItemSampling) -> Vec<AnswerRequest> {
    let question = item.turns.first().filter(|_| answer_of(answers, 1).is_none());
    let ask = |question: &str| AnswerRequest { turn: 1, messages: vec![Message::user(question)], sampling };
    question.map(|turn| ask(&turn.question)).into_iter().collect()
}

/// Returns the judgement of a single-turn item, once it is answered.
pub(in crate::benchmark) fn judging(answers: &[Answer], request: impl FnOnce(&str) -> JudgeRequest) -> Vec<JudgeTask> {
    let step = |answer: &str| match answer.trim() {
        "" => JudgeStep::Failed(Status::EmptyAnswer),
        _ => JudgeStep::Ask(request(answer)),
    };
    let judging = answer_of(answers, 1).map(|answer| JudgeTask { turn: 1, game: Game::First, step: step(answer) });
    judging.into_iter().collect()
}

/// Formats the dimensions as a numbered list, with their meanings in the prompt file.
pub(in crate::benchmark) fn numbered(dimensions: &[&str], text: &PromptText) -> String {
    let line = |(number, dimension): (usize, &&str)| match text.texts.get(*dimension) {
        Some(meaning) if dimension.is_ascii() => format!("{number}. {dimension}: {meaning}"),
        Some(meaning) => format!("{number}. {dimension}：{meaning}"),
        None => format!("{number}. {dimension}"),
    };
    (1..).zip(dimensions).map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a one-line reminder of the reply format with scores by dimension.
pub(in crate::benchmark) fn dictionary_reminder(dimensions: &[&str], overall: &str, language: Language) -> String {
    let scores: String = dimensions.iter().map(|dimension| format!("'{dimension}': 7, ")).collect();
    if language == Language::Chinese {
        format!("请在回答的最后一行严格按照这个格式给出1到10的整数分数：{{{scores}'{overall}': 7}}")
    } else {
        format!("End your reply with whole numbers from 1 to 10 in exactly this form: {{{scores}'{overall}': 7}}")
    }
}
