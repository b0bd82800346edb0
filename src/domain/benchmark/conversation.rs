//! What suites share whose items have turns: which are asked when, in which context, and what a judge is shown of it.

use super::item::{Answer, Ask, Item, ItemSampling, answer_of};
use super::judgement::{Game, JudgeRequest, JudgeStep, JudgeTask, Status};
use crate::battle::message::Message;

/// How the turns of an item hang together.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnLinks {
    /// The first that is asked and judged; those before it only set the scene, with their references as replies.
    pub(super) first: u32,
    /// Whether the model's own answers are the context of later turns, or the references.
    pub(super) own_context: bool,
}

impl TurnLinks {
    /// The turns that are judged.
    pub(super) fn judged(self, item: &Item) -> impl Iterator<Item = u32> + use<> {
        item.turn_numbers().skip_while(move |turn| *turn < self.first)
    }

    /// Questions and replies before a turn; none where the model has yet to give one of them, or gave an empty one.
    pub(super) fn before<'t>(
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

    /// The turns that can be asked now: all that are open in a given context, the next one in the model's own.
    pub(super) fn asks(self, item: &Item, answers: &[Answer], sampling: ItemSampling) -> Vec<Ask> {
        let open = self.judged(item).filter(|turn| answer_of(answers, *turn).is_none());
        let ask = |turn| {
            let mut messages = Vec::new();
            for (user, assistant) in self.before(item, answers, turn)? {
                messages.extend([Message::user(user), Message::assistant(assistant)]);
            }
            messages.push(Message::user(&item.turn(turn)?.question));
            Some(Ask { turn, messages, sampling })
        };
        open.filter_map(ask).collect()
    }

    /// The judgements of the turns that are answered.
    pub(super) fn judgings(
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

    /// The dialogue up to the answer of a turn, as a judge is shown it.
    pub(super) fn history(self, item: &Item, answers: &[Answer], turn: u32) -> Option<String> {
        let question = &item.turn(turn)?.question;
        Some(dialogue(&self.before(item, answers, turn)?) + &format!("\n\n Human: {question}\n\nAssistant: "))
    }
}

/// A dialogue as a judge is shown it.
pub(super) fn dialogue(turns: &[(&str, &str)]) -> String {
    turns.iter().map(|(user, assistant)| format!("\n\n Human: {user}\n\nAssistant: {assistant}")).collect()
}
