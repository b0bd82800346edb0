//! Shared code of suites with multi-turn items: order and context of the questions, and the dialogue shown to a judge.

use super::super::item::{Answer, AnswerRequest, Item, ItemSampling, answer_of};
use super::super::scores::judgement::{Game, JudgeRequest, JudgeStep, JudgeTask, Status};
use crate::battle::message::Message;

/// Dependencies between the turns of an item.
#[derive(Debug, Clone, Copy)]
pub(in crate::benchmark) struct TurnLinks {
    /// First turn that is asked and judged; earlier ones only provide context, with their references as replies.
    pub(in crate::benchmark) first: u32,
    /// Whether later turns follow the model's own answers or the references.
    pub(in crate::benchmark) own_context: bool,
}

impl TurnLinks {
    /// Returns the judged turns.
    pub(in crate::benchmark) fn judged(self, item: &Item) -> impl Iterator<Item = u32> + use<> {
        item.turn_numbers().skip_while(move |turn| *turn < self.first)
    }

    /// Returns the questions and replies before a turn; `None` if one of the model's replies is missing or empty.
    pub(in crate::benchmark) fn before<'t>(
        self,
        item: &'t Item,
        answers: &'t [Answer],
        turn: u32,
    ) -> Option<Vec<(&'t str, &'t str)>> {
        let exchange = |number: u32| {
            let question = item.turn(number)?;
            let own = || answer_of(answers, number).filter(|text| !text.trim().is_empty());
            let reply = match self.own_context && number >= self.first {
                true => own()?,
                false => question.reference.as_deref()?,
            };
            Some((question.question.as_str(), reply))
        };
        (1..turn).map(exchange).collect()
    }

    /// Returns the requests that are possible now: with references as context all missing turns, with the model's own answers the next one.
    pub(in crate::benchmark) fn asks(
        self,
        item: &Item,
        answers: &[Answer],
        sampling: ItemSampling,
    ) -> Vec<AnswerRequest> {
        let open = self.judged(item).filter(|turn| answer_of(answers, *turn).is_none());
        let ask = |turn| {
            let mut messages = Vec::new();
            for (user, assistant) in self.before(item, answers, turn)? {
                messages.extend([Message::user(user), Message::assistant(assistant)]);
            }
            messages.push(Message::user(&item.turn(turn)?.question));
            Some(AnswerRequest { turn, messages, sampling })
        };
        open.filter_map(ask).collect()
    }

    /// Returns the judgements of the answered turns.
    pub(in crate::benchmark) fn judgings(
        self,
        item: &Item,
        answers: &[Answer],
        request: impl Fn(u32, &str) -> Option<JudgeRequest>,
    ) -> Vec<JudgeTask> {
        let judging = |turn| {
            let answer = answer_of(answers, turn)?;
            let step = match answer.trim() {
                "" => JudgeStep::Failed(Status::EmptyAnswer),
                _ => JudgeStep::Ask(request(turn, answer)?),
            };
            Some(JudgeTask { turn, game: Game::First, step })
        };
        self.judged(item).filter_map(judging).collect()
    }

    /// Formats the dialogue up to the answer of a turn for a judge.
    pub(in crate::benchmark) fn history(self, item: &Item, answers: &[Answer], turn: u32) -> Option<String> {
        let question = &item.turn(turn)?.question;
        Some(dialogue(&self.before(item, answers, turn)?) + &format!("\n\n Human: {question}\n\nAssistant: "))
    }
}

/// Formats a dialogue for a judge.
pub(in crate::benchmark) fn dialogue(turns: &[(&str, &str)]) -> String {
    turns.iter().map(|(user, assistant)| format!("\n\n Human: {user}\n\nAssistant: {assistant}")).collect()
}
