//! Queries judges about battles, or pairs of a campaign's answers, and stores each verdict with the raw reply before the next request
//! begins.
//!
//! A permanent failure is stored as such and never becomes a verdict; a request that never succeeded is repeated by the next run.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures_util::future::try_join_all;
use futures_util::try_join;
use parking_lot::Mutex;

use super::{BattleJudging, conversation};
use crate::benchmark::attempts::RunRow;
use crate::benchmark::{OnProgress, RunProgress};
use crate::domain::battle_judging::pending::{OpenPair, PendingWork};
use crate::domain::benchmark::item::ItemSampling;
use crate::domain::benchmark::judging_forms::pairwise::reminder;
use crate::domain::benchmark::runs::run_report::RunOutcome;
use crate::domain::benchmark::scores::judgement::{Game, JudgeRequest, JudgeStep, JudgeTokens, Status};
use crate::domain::judging::budget::{estimate, estimate_all};
use crate::domain::judging::verdict::Verdict;
use crate::domain::judging::verdict::pairwise::VerdictScale;
use crate::domain::language::Language;
use crate::infra::batch_writer::{BatchSender, batch_writer};
use crate::infra::llm::model_client::{ModelClient, RunLimits};
use crate::infra::llm::query_judge::{Attempts, JudgeReply, ReplyFormat, query_judge};
use crate::infra::storage::{AttemptStatus, StoreError, VerdictRow};

/// Runs every judge on its pending work, until all is judged, the budget is used up, or the run is stopped.
///
/// # Errors
/// [`StoreError`]: a row could not be read or stored, so no further requests were sent.
pub async fn judge(
    battle_judging: BattleJudging<'_>,
    pending_work: &PendingWork,
    judges: &[ModelClient],
    limits: &RunLimits,
    on_progress: OnProgress<'_>,
) -> Result<Vec<RunOutcome>, StoreError> {
    let runs: Vec<BattleJudgeRun<'_>> = judges
        .iter()
        .enumerate()
        .map(|(at, judge)| BattleJudgeRun::new(battle_judging, pending_work, at, judge, limits))
        .collect();
    let count = |number: fn(&RunOutcome) -> u64| runs.iter().map(|run| number(&run.outcome())).sum::<u64>();
    let (total, done) = (count(|outcome| outcome.total), AtomicU64::new(count(|outcome| outcome.before)));
    let step = || on_progress(RunProgress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
    on_progress(RunProgress { done: done.load(Ordering::Relaxed), total });
    let (batch, writer) = batch_writer();
    let judging = async move {
        try_join_all(runs.iter().map(|run| run.judge_all(&batch, &step))).await?;
        Ok(runs.iter().map(BattleJudgeRun::outcome).collect())
    };
    let writing = writer.run(|rows: Vec<RunRow<VerdictRow>>| async move {
        let rows = battle_judging.log().insert_attempts(rows).await?;
        battle_judging.store.insert_verdicts(&rows).await
    });
    let (outcomes, ()) = try_join!(judging, writing)?;
    Ok(outcomes)
}

type VerdictSender = BatchSender<RunRow<VerdictRow>>;

/// One judge's part of a run.
struct BattleJudgeRun<'r> {
    battle_judging: BattleJudging<'r>,
    judge: &'r ModelClient,
    limits: &'r RunLimits,
    open: Vec<(&'r OpenPair, Game)>,
    outcome: Mutex<RunOutcome>,
}

impl<'r> BattleJudgeRun<'r> {
    fn new(
        battle_judging: BattleJudging<'r>,
        pending_work: &'r PendingWork,
        at: usize,
        judge: &'r ModelClient,
        limits: &'r RunLimits,
    ) -> Self {
        let open = pending_work.open.iter().flat_map(|pair| pair.games[at].iter().map(move |game| (pair, *game)));
        let (open, before): (Vec<_>, u64) = (open.collect(), pending_work.settled[at]);
        let outcome = RunOutcome { total: before + open.len() as u64, before, ..RunOutcome::new(judge.id.clone()) };
        Self { battle_judging, judge, limits, open, outcome: Mutex::new(outcome) }
    }

    async fn judge_all(&self, batch: &VerdictSender, step: &(dyn Fn() + Sync)) -> Result<(), StoreError> {
        let next = AtomicUsize::new(0);
        let at_once = self.judge.max_concurrent.min(self.open.len());
        let workers = (0..at_once).map(|_| self.judge_games(&next, batch, step));
        try_join_all(workers).await.map(drop)
    }

    /// Judges one game after another, until none is left or the run ends.
    async fn judge_games(
        &self,
        next: &AtomicUsize,
        batch: &VerdictSender,
        step: &(dyn Fn() + Sync),
    ) -> Result<(), StoreError> {
        while let Some((pair, game)) = self.open.get(next.fetch_add(1, Ordering::Relaxed)) {
            if self.limits.are_reached() || self.judge.is_exhausted() {
                break;
            }
            if let Some(row) = self.judge_one(pair, *game, batch).await?
                && batch.keep(vec![RunRow::Result(row)]).await
            {
                step();
            }
        }
        Ok(())
    }

    fn outcome(&self) -> RunOutcome {
        self.outcome.lock().clone()
    }

    fn count(&self, change: impl FnOnce(&mut RunOutcome)) {
        // Plain counters, valid after each statement.
        change(&mut self.outcome.lock());
    }

    /// Judges one game to its end; `None` if the run ends before the judge is queried.
    async fn judge_one(
        &self,
        open: &OpenPair,
        game: Game,
        batch: &VerdictSender,
    ) -> Result<Option<VerdictRow>, StoreError> {
        let turns = conversation(self.battle_judging.store, &open.subject).await?;
        let row = match self.battle_judging.prompt.step(open.language, &turns, game) {
            JudgeStep::Ask(request) => {
                let Some((id, judge_reply)) = self.ask(open.language, &request, batch).await else { return Ok(None) };
                let tokens = tokens(&judge_reply, &request);
                VerdictRow { id, ..self.row(open, game, judge_reply, request.sampling, tokens) }
            }
            JudgeStep::Read(verdict) => {
                self.row(open, game, JudgeReply::read(verdict), ItemSampling::default(), JudgeTokens::default())
            }
            JudgeStep::Failed(status) => {
                self.row(open, game, JudgeReply::failed(status), ItemSampling::default(), JudgeTokens::default())
            }
        };
        self.count(|outcome| outcome.ended(row.status));
        Ok(Some(row))
    }

    /// Queries the judge and counts failures. The reply has the id of its verdict: that of its attempts, unless they are to be continued.
    async fn ask(
        &self,
        language: Language,
        request: &JudgeRequest,
        batch: &VerdictSender,
    ) -> Option<(String, JudgeReply)> {
        let levels = VerdictScale::Three;
        let form = ReplyFormat { parse: &|reply| levels.parse(reply), reminder: reminder(language, levels) };
        let BattleJudging { clock, rng, .. } = self.battle_judging;
        let attempts = self.battle_judging.log().resume(&self.judge.id, request.request_sha256()).await?;
        let earlier = attempts.earlier.clone();
        let keep = |reply| batch.keep(attempts.row(AttemptStatus::Unsettled, reply));
        let (judge_reply, error) =
            query_judge(self.judge, request, &form, Attempts { name: "", earlier, keep }, self.limits).await;
        if let Some(error) = error {
            self.count(|outcome| error.count_in(outcome));
        }
        let judge_reply = judge_reply?;
        let is_open = judge_reply.status == Some(Status::TransportFailed);
        Some((if is_open { rng.id(clock) } else { attempts.result }, judge_reply))
    }

    fn row(
        &self,
        open: &OpenPair,
        game: Game,
        judge_reply: JudgeReply,
        params: ItemSampling,
        tokens: JudgeTokens,
    ) -> VerdictRow {
        let BattleJudging { clock, rng, prompt, .. } = self.battle_judging;
        let parsed = match judge_reply.verdict {
            Some(Verdict::Pair { winner, .. }) => Some(winner),
            _ => None,
        };
        VerdictRow {
            id: rng.id(clock),
            subject: open.subject.clone(),
            judge: self.judge.id.to_string(),
            game,
            prompt_sha256: prompt.sha256().to_owned(),
            params,
            raw_text: judge_reply.raw_text,
            earlier: judge_reply.earlier,
            parsed,
            status: judge_reply.status.unwrap_or(Status::Ok),
            attempts: judge_reply.attempts,
            latency_ms: u64::try_from(judge_reply.latency.as_millis()).unwrap_or(u64::MAX),
            tokens,
            created_at: clock.now(),
        }
    }
}

/// Returns the tokens of all replies, as counted by the provider or else estimated, with those of failed requests that may be billed: the
/// daily budget is computed from them.
fn tokens(judge_reply: &JudgeReply, request: &JudgeRequest) -> JudgeTokens {
    // An empty reply is unreadable, but the provider bills its prompt.
    let is_answered = !judge_reply.raw_text.is_empty() || judge_reply.status == Some(Status::ParseFailed);
    let replies = if is_answered { 1 + judge_reply.earlier.len() as u64 } else { 0 };
    let words = judge_reply
        .earlier
        .iter()
        .chain([&judge_reply.raw_text, &judge_reply.reasoning])
        .map(|text| estimate(text))
        .sum();
    JudgeTokens {
        prompt: judge_reply.usage.input.unwrap_or_else(|| replies * estimate_all(&request.messages))
            + judge_reply.lost.input,
        reply: judge_reply.usage.output.unwrap_or(words) + judge_reply.lost.output,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::message::Message;
    use crate::domain::judging::budget::Tokens;

    #[test]
    fn an_empty_reply_costs_its_prompt_and_a_request_that_never_came_through_costs_nothing() {
        let request = JudgeRequest { messages: vec![Message::user("twelve signs")], sampling: ItemSampling::default() };
        let of = |status, earlier: usize| {
            let earlier = vec![String::new(); earlier];
            tokens(&JudgeReply { status: Some(status), earlier, ..JudgeReply::default() }, &request).prompt
        };
        assert_eq!([of(Status::ParseFailed, 0), of(Status::ParseFailed, 2)], [7, 21]);
        assert_eq!([of(Status::TransportFailed, 0), of(Status::Refused, 0)], [0, 0]);
        let lost = Tokens { input: 14, output: 3 };
        let timed_out = JudgeReply { status: Some(Status::TransportFailed), lost, ..JudgeReply::default() };
        let JudgeTokens { prompt, reply } = tokens(&timed_out, &request);
        assert_eq!((prompt, reply), (14, 3), "a request that timed out may be billed");
    }
}
