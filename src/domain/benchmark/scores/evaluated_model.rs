//! Evaluated model with its judgements, made and pending.

use std::collections::HashSet;

use super::super::Suite;
use super::super::item::{Answer, Item};
use super::answer_index::AnswerIndex;
use super::judgement::{Game, JudgeStep, JudgeTask, Judgement, Status};
use crate::battle::ModelId;

/// Answers that a plan covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerScope {
    /// Stored answers.
    KeptAnswers,
    /// All answers, with placeholders of typical length for the missing ones.
    AllAnswers,
}

/// Evaluated model with its answers and judgements.
pub struct EvaluatedModel<'c> {
    /// Id of the model.
    pub model: &'c ModelId,
    /// Answers of the model.
    pub answers: AnswerIndex,
    /// Answers of the baseline, for comparisons.
    pub baseline: Option<AnswerIndex>,
    /// Keys of the judgements that exist.
    pub judged: HashSet<JudgementKey>,
    /// Answers that are judged.
    pub over: AnswerScope,
}

/// Key that identifies a judgement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JudgementKey {
    judge: String,
    item: String,
    turn: u32,
    game: Game,
    prompt_sha256: String,
}

/// Judgement of one item, with whether it exists already.
pub struct PendingJudgement {
    /// Judgement to be made.
    pub judging: JudgeTask,
    /// SHA-256 of the judge's prompt; empty without a judge.
    pub prompt_sha256: String,
    /// Whether the judgement exists.
    pub done: bool,
}

/// Returns the keys of judgements that need not be repeated; with `retry_failed`, failed ones are repeated.
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
    /// Returns the judgements that an item's answers allow, by this judge.
    #[must_use]
    pub fn open(&self, suite: &dyn Suite, item: &Item, judge: Option<&ModelId>) -> Vec<PendingJudgement> {
        self.open_over(self.over, suite, item, judge)
    }

    /// Returns the same judgements for other answers.
    #[must_use]
    pub fn open_over(
        &self,
        over: AnswerScope,
        suite: &dyn Suite,
        item: &Item,
        judge: Option<&ModelId>,
    ) -> Vec<PendingJudgement> {
        let of = |given: &AnswerIndex| match over {
            AnswerScope::KeptAnswers => given.to(suite, item),
            AnswerScope::AllAnswers => given.with_placeholders(suite, item),
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
