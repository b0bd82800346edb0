//! A model under judgement: what judges have said of its answers, and what they have yet to say.

use std::collections::HashSet;

use super::Suite;
use super::answer_index::AnswerIndex;
use super::item::{Answer, Item};
use super::judgement::{Game, JudgeStep, JudgeTask, Judgement, Status};
use crate::battle::ModelId;

/// Which answers a plan is made over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedOver {
    /// Those that are kept.
    KeptAnswers,
    /// All that there will be; something as long stands for those that are yet to be given.
    AllAnswers,
}

/// A model under judgement, with its answers and what has been said of them.
pub struct EvaluatedModel<'c> {
    /// The model.
    pub model: &'c ModelId,
    /// Its answers.
    pub answers: AnswerIndex,
    /// The baseline's answers, for suites that compare with one.
    pub baseline: Option<AnswerIndex>,
    /// What is judged already.
    pub judged: HashSet<JudgementKey>,
    /// Which answers are judged.
    pub over: PlannedOver,
}

/// What distinguishes one judgement from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JudgementKey {
    judge: String,
    item: String,
    turn: u32,
    game: Game,
    prompt_sha256: String,
}

/// A judgement of one item, and whether there is one already.
pub struct PendingJudgement {
    /// What is to be judged.
    pub judging: JudgeTask,
    /// SHA-256 of the judge's prompt; empty where no judge is asked.
    pub prompt_sha256: String,
    /// Whether there is one.
    pub done: bool,
}

/// The judgements that need not be made again; with `retry_failed`, those that came to nothing are.
#[must_use]
pub fn judged(judgements: impl IntoIterator<Item = Judgement>, retry_failed: bool) -> HashSet<JudgementKey> {
    let counts = |status| match status {
        Status::Ok | Status::EmptyAnswer => true,
        Status::TransportFailed => false,
        Status::ParseFailed | Status::OutOfRange | Status::Refused => !retry_failed,
    };
    let kept = judgements.into_iter().filter(|judgement| counts(judgement.status));
    let key = |judgement: Judgement| JudgementKey {
        judge: judgement.judge_model,
        item: judgement.item_id,
        turn: judgement.turn,
        game: judgement.game,
        prompt_sha256: judgement.judge_prompt_sha256,
    };
    kept.map(key).collect()
}

impl EvaluatedModel<'_> {
    /// The judgements that an item's answers allow, by this judge.
    #[must_use]
    pub fn open(&self, suite: &dyn Suite, item: &Item, judge: Option<&ModelId>) -> Vec<PendingJudgement> {
        self.open_over(self.over, suite, item, judge)
    }

    /// The same over other answers.
    #[must_use]
    pub fn open_over(
        &self,
        over: PlannedOver,
        suite: &dyn Suite,
        item: &Item,
        judge: Option<&ModelId>,
    ) -> Vec<PendingJudgement> {
        let of = |given: &AnswerIndex| match over {
            PlannedOver::KeptAnswers => given.to(suite, item),
            PlannedOver::AllAnswers => given.with_stand_ins(suite, item),
        };
        let answers = of(&self.answers);
        let baseline: Vec<Answer> = self.baseline.as_ref().map(of).unwrap_or_default();
        let open = |judging: JudgeTask| {
            let prompt_sha256 = match &judging.step {
                JudgeStep::Ask(request) => request.sha256(),
                JudgeStep::Read(_) | JudgeStep::Failed(_) => String::new(),
            };
            let key = JudgementKey {
                judge: judge.map(ToString::to_string).unwrap_or_default(),
                item: item.id.clone(),
                turn: judging.turn,
                game: judging.game,
                prompt_sha256,
            };
            PendingJudgement { done: self.judged.contains(&key), prompt_sha256: key.prompt_sha256, judging }
        };
        suite.judgings(item, &answers, &baseline).into_iter().map(open).collect()
    }
}
