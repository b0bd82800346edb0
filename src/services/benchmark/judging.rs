//! Queries judges about answers and stores each judgement with the raw reply. An identical prompt is sent to the same judge once.
//!
//! An unparsable reply is requested again, at most twice. A permanent failure is stored as such and never becomes a score; a request that
//! never succeeded is repeated by the next run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::join_all;
use futures_util::try_join;
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};

use super::attempts::{AttemptLog, RunRow, reading, reads};
use super::loading::answers_of;
use super::{OnProgress, RunContext, RunProgress};
use crate::domain::battle::ModelId;
use crate::domain::benchmark::item::{Item, ItemSampling};
use crate::domain::benchmark::runs::run_report::{PlannedRequests, RequestPlan, RunOutcome};
use crate::domain::benchmark::scores::evaluated_model::{AnswerScope, EvaluatedModel, PendingJudgement, judged};
use crate::domain::benchmark::scores::judgement::JudgeTokens;
use crate::domain::benchmark::scores::judgement::{Game, JudgeRequest, JudgeStep, Judgement, Status};
use crate::domain::judging::budget::estimate_all;
use crate::infra::batch_writer::{BatchSender, batch_writer};
use crate::infra::llm::Usage;
use crate::infra::llm::batch::queue::Worker;
use crate::infra::llm::model_client::{AskError, ModelClient, RunLimits};
use crate::infra::llm::query_judge::{Attempts, JudgeReply, ReplyFormat, effort, query_judge};
use crate::infra::storage::{AttemptStatus, BenchFilter, BenchJudgementRow, IncludeText, StoreError};

/// Number of answers scored concurrently without a judge, so that many are stored in one commit.
const MAX_CONCURRENT_SCORINGS: usize = 64;

/// Models to judge, and options.
#[derive(Debug, Clone, Copy)]
pub struct JudgingPlan<'c> {
    /// Evaluated models.
    pub models: &'c [ModelId],
    /// The baseline, for suites that compare with one.
    pub baseline: Option<&'c ModelId>,
    /// Whether to repeat judgements that were unparsable, refused or out of range.
    pub retry_failed: bool,
    /// Scope of due judgements: of stored answers, or also of expected ones.
    pub over: AnswerScope,
}

/// Plans the requests for each judge.
///
/// # Errors
/// [`StoreError`].
pub async fn plan(
    bench: RunContext<'_>,
    judges: &[ModelClient],
    plan: JudgingPlan<'_>,
) -> Result<Vec<RequestPlan>, StoreError> {
    let mut evaluated_models = Vec::with_capacity(plan.models.len());
    for model in plan.models {
        evaluated_models.push(EvaluatedModel { over: plan.over, ..evaluated_model(bench, plan, model).await? });
    }
    let mut plans = Vec::with_capacity(judges.len());
    for judge in judges {
        let planned = planned(bench, judge, plan, &evaluated_models).await?;
        let past = bench.store.past_judgements(&judge.id, &bench.set().suite).await?;
        plans.push(planned.plan(judge.id.clone(), past, effort(judge), judge.prices));
    }
    Ok(plans)
}

/// Plans the requests for a judge. Prompts that it has answered before are not repeated, and identical prompts are sent once.
async fn planned(
    bench: RunContext<'_>,
    judge: &ModelClient,
    plan: JudgingPlan<'_>,
    evaluated_models: &[EvaluatedModel<'_>],
) -> Result<PlannedRequests, StoreError> {
    let (mut planned, mut prompts) = (PlannedRequests::default(), HashSet::new());
    for evaluated_model in evaluated_models {
        let open =
            |item| evaluated_model.open(bench.suite, item, Some(&judge.id)).into_iter().map(move |open| (item, open));
        for (item, pending) in bench.data.items.iter().flat_map(open) {
            if pending.done {
                planned.done += 1;
                continue;
            }
            let JudgeStep::Ask(request) = &pending.judging.step else { continue };
            let sha256 = &pending.prompt_sha256;
            // Placeholders of expected answers are identical, and the answers will not be.
            let is_again = plan.over == AnswerScope::KeptAnswers && !prompts.insert(sha256.clone());
            if is_again || known(bench, plan, &judge.id, item, request, sha256).await?.is_some() {
                planned.reused += 1;
            } else {
                let most = judge.max_tokens(request.sampling.max_tokens);
                planned.add(estimate_all(&request.messages), most, effort(judge));
            }
        }
    }
    Ok(planned)
}

/// Returns a judge's stored reply to the same prompt, parsed again: the parsing rules may differ.
pub(super) async fn known(
    bench: RunContext<'_>,
    plan: JudgingPlan<'_>,
    judge: &ModelId,
    item: &Item,
    request: &JudgeRequest,
    prompt_sha256: &str,
) -> Result<Option<JudgeReply>, StoreError> {
    let known = bench.store.known_judgement(judge.as_str(), prompt_sha256, &request.sampling).await?;
    let Some(row) = known else { return Ok(None) };
    let BenchJudgementRow { reasoning, earlier, number_tokens: numbers, judgement, .. } = row;
    let mut judge_reply =
        JudgeReply { raw_text: judgement.raw_text, reasoning, earlier, numbers, ..JudgeReply::default() };
    if judgement.status == Status::Refused && judge_reply.raw_text.is_empty() {
        judge_reply.status = Some(Status::Refused);
    } else {
        let parse = |reply: &str| bench.suite.parse(item, reply);
        judge_reply.read_as(parse);
        // It may have been cut at its limit, which is not stored.
        if judgement.status == Status::ParseFailed {
            judge_reply.reject_open_end(parse);
        }
    }
    Ok(Some(judge_reply).filter(|judge_reply| judge_reply.status.is_none() || !plan.retry_failed))
}

/// Runs every judge on the stored answers, until all is judged, the budget is used up, or the run is stopped. For a suite without judges,
/// scores the answers directly.
///
/// # Errors
/// [`StoreError`]: a judgement could not be stored, so no further requests were sent.
pub async fn judge(
    bench: RunContext<'_>,
    judges: &[ModelClient],
    plan: JudgingPlan<'_>,
    limits: &RunLimits,
    on_progress: OnProgress<'_>,
) -> Result<Vec<RunOutcome>, StoreError> {
    let mut evaluated_models = Vec::with_capacity(plan.models.len());
    for model in plan.models {
        evaluated_models.push(evaluated_model(bench, plan, model).await?);
    }
    let (batch, writer) = batch_writer();
    let benches: Vec<Option<&ModelClient>> =
        if judges.is_empty() { vec![None] } else { judges.iter().map(Some).collect() };
    let runs: Vec<JudgeRun<'_>> = benches
        .into_iter()
        .map(|judge| JudgeRun {
            bench,
            judge,
            plan,
            limits,
            evaluated_models: &evaluated_models,
            outcome: Mutex::new(RunOutcome::new(judge.map_or_else(|| ModelId::new(""), |judge| judge.id.clone()))),
            under_way: Mutex::default(),
            reads: reads(),
        })
        .collect();
    let total: u64 = runs.iter().map(JudgeRun::count_open).sum();
    let done = AtomicU64::new(runs.iter().map(|run| run.outcome().before).sum());
    let step = || on_progress(RunProgress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
    on_progress(RunProgress { done: done.load(Ordering::Relaxed), total });
    let judging = async move {
        let all = runs.iter().map(|run| run.judge_all(&batch, &step));
        Ok(join_all(all).await)
    };
    let writing = writer.run(|rows: Vec<RunRow<BenchJudgementRow>>| async move {
        let rows = AttemptLog::from(bench).insert_attempts(rows).await?;
        bench.store.insert_judgements(&rows).await
    });
    let (outcomes, ()) = try_join!(judging, writing)?;
    Ok(outcomes)
}

/// Loads the answers and judgements of a model.
pub(super) async fn evaluated_model<'c>(
    bench: RunContext<'_>,
    plan: JudgingPlan<'c>,
    model: &'c ModelId,
) -> Result<EvaluatedModel<'c>, StoreError> {
    let set = bench.set();
    let rows = bench.store.bench_judgements(&set, BenchFilter::of_model(model), IncludeText::No).await?;
    let against = plan.baseline.map_or("", ModelId::as_str);
    let ours = rows.into_iter().filter(|row| row.variant == bench.suite.variant() && row.baseline == against);
    let judged = judged(ours.map(|row| row.judgement), plan.retry_failed);
    let baseline = match plan.baseline {
        Some(baseline) => Some(answers_of(bench.store, &set, baseline).await?),
        None => None,
    };
    let answers = answers_of(bench.store, &set, model).await?;
    Ok(EvaluatedModel { model, answers, baseline, judged, over: AnswerScope::KeptAnswers })
}

/// Pending judgement with its model and item.
type OpenJudgement<'o> = (&'o EvaluatedModel<'o>, &'o Item, PendingJudgement);
/// Lazy queue of pending judgements.
type OpenJudgements<'o> = Mutex<Box<dyn Iterator<Item = OpenJudgement<'o>> + Send + 'o>>;

/// One judge's part of a run.
struct JudgeRun<'r> {
    bench: RunContext<'r>,
    judge: Option<&'r ModelClient>,
    plan: JudgingPlan<'r>,
    limits: &'r RunLimits,
    evaluated_models: &'r [EvaluatedModel<'r>],
    outcome: Mutex<RunOutcome>,
    /// Judge prompts in flight: an identical prompt waits for the reply instead of being sent again.
    under_way: Mutex<HashMap<String, Arc<AsyncMutex<()>>>>,
    reads: Semaphore,
}

impl JudgeRun<'_> {
    /// Counts finished and total judgements; returns the total.
    fn count_open(&self) -> u64 {
        let mut outcome = self.outcome.lock();
        for evaluated_model in self.evaluated_models {
            for item in &self.bench.data.items {
                let judge = self.judge.map(|judge| &judge.id);
                for judging in evaluated_model.open_over(self.plan.over, self.bench.suite, item, judge) {
                    outcome.total += 1;
                    outcome.before += u64::from(judging.done);
                }
            }
        }
        outcome.total
    }

    async fn judge_all(&self, batch: &JudgementSender, step: &(dyn Fn() + Sync)) -> RunOutcome {
        let items = self
            .evaluated_models
            .iter()
            .flat_map(|evaluated_model| self.bench.data.items.iter().map(move |item| (evaluated_model, item)));
        let open = items.flat_map(|(evaluated_model, item)| {
            let open = if self.is_over() {
                Vec::new()
            } else {
                evaluated_model.open(self.bench.suite, item, self.judge.map(|judge| &judge.id))
            };
            open.into_iter().filter(|open| !open.done).map(move |open| (evaluated_model, item, open))
        });
        let open: OpenJudgements<'_> = Mutex::new(Box::new(open));
        let at_once = self.judge.map_or(MAX_CONCURRENT_SCORINGS, ModelClient::max_concurrent_requests);
        let worker = || self.judge.map(ModelClient::worker);
        let work = join_all((0..at_once).map(|_| self.judge_answers(&open, batch, step, worker())));
        match self.judge {
            Some(judge) => judge.serve(self.limits, work).await,
            None => work.await,
        };
        self.outcome()
    }

    /// Judges one answer after another, until none is left.
    async fn judge_answers(
        &self,
        open: &OpenJudgements<'_>,
        batch: &JudgementSender,
        step: &(dyn Fn() + Sync),
        _worker: Option<Worker>,
    ) {
        loop {
            // A separate statement, so that the lock is free while the judge is queried.
            let next = open.lock().next();
            let Some(next) = next else { return };
            self.judge_open(next, batch, step).await;
        }
    }

    async fn judge_open(
        &self,
        (evaluated_model, item, open): OpenJudgement<'_>,
        batch: &JudgementSender,
        step: &(dyn Fn() + Sync),
    ) {
        // Held until the row is stored, so that an identical request finds it.
        let turn = self.turn_of(&open.prompt_sha256);
        let _turn = match self.judge {
            Some(judge) => judge.wait_for(turn.lock()).await,
            None => turn.lock().await,
        };
        if let Some(row) = self.judge_one(evaluated_model, item, open, batch).await
            && batch.keep(vec![RunRow::Result(row)]).await
        {
            step();
        }
    }

    /// Admits one request per prompt at a time. Without a prompt there is no wait.
    fn turn_of(&self, prompt_sha256: &str) -> Arc<AsyncMutex<()>> {
        if prompt_sha256.is_empty() {
            return Arc::default();
        }
        let mut under_way = self.under_way.lock();
        Arc::clone(under_way.entry(prompt_sha256.to_owned()).or_default())
    }

    fn is_over(&self) -> bool {
        self.limits.are_reached() || self.judge.is_some_and(ModelClient::is_exhausted)
    }

    fn outcome(&self) -> RunOutcome {
        self.outcome.lock().clone()
    }

    fn count(&self, change: impl FnOnce(&mut RunOutcome)) {
        // Plain counters, valid after each statement.
        change(&mut self.outcome.lock());
    }

    /// Makes one judgement; `None` if the run ends first.
    async fn judge_one(
        &self,
        evaluated_model: &EvaluatedModel<'_>,
        item: &Item,
        open: PendingJudgement,
        batch: &JudgementSender,
    ) -> Option<BenchJudgementRow> {
        let PendingJudgement { judging, prompt_sha256, .. } = open;
        let without_judge = |judge_reply| (self.new_id(), judge_reply, ItemSampling::default());
        let (id, judge_reply, params) = match judging.step {
            JudgeStep::Read(verdict) => without_judge(JudgeReply::read(verdict)),
            JudgeStep::Failed(status) => without_judge(JudgeReply::failed(status)),
            JudgeStep::Ask(request) => {
                let (id, judge_reply) = self.query_judge(item, &request, &prompt_sha256, batch).await?;
                (id, judge_reply, request.sampling)
            }
        };
        let of = JudgementOf {
            model: evaluated_model.model,
            judge: self.judge.map(|judge| &judge.id),
            baseline: self.plan.baseline,
            item,
            turn: judging.turn,
            game: judging.game,
            prompt_sha256,
        };
        let row = of.row(self.bench, id, judge_reply, params);
        self.count(|outcome| outcome.ended(row.judgement.status));
        Some(row)
    }

    /// Returns the judge's reply to a prompt; an earlier reply to an identical prompt is reused. `None` if the run ends first.
    async fn query_judge(
        &self,
        item: &Item,
        request: &JudgeRequest,
        prompt_sha256: &str,
        batch: &JudgementSender,
    ) -> Option<(String, JudgeReply)> {
        let judge = self.judge?;
        let known = known(self.bench, self.plan, &judge.id, item, request, prompt_sha256);
        match reading(&self.reads, known).await {
            Ok(Some(judge_reply)) => {
                self.count(|outcome| outcome.reused += 1);
                return Some((self.new_id(), judge_reply));
            }
            Ok(None) => {}
            // A failed read means that the judgement cannot be stored either; the writer reports why.
            Err(error) => tracing::warn!(error = %error, "earlier judgements cannot be parsed"),
        }
        self.ask(judge, item, request, prompt_sha256, batch).await
    }

    /// Returns the id of the judgement that is repeated; empty if there is none. Its batch reply does not answer the new request.
    async fn retried(&self, judge: &ModelClient, request: &JudgeRequest, prompt_sha256: &str) -> String {
        if !self.plan.retry_failed {
            return String::new();
        }
        let known = self.bench.store.known_judgement(judge.id.as_str(), prompt_sha256, &request.sampling);
        match reading(&self.reads, known).await {
            Ok(row) => row.map(|row| row.id).unwrap_or_default(),
            // If it cannot be read, storing the reply will fail and report the error.
            Err(_) => String::new(),
        }
    }

    /// Queries the judge and counts failures. The reply has the id of its judgement: that of its attempts, unless they are to be continued.
    async fn ask(
        &self,
        judge: &ModelClient,
        item: &Item,
        request: &JudgeRequest,
        prompt_sha256: &str,
        batch: &JudgementSender,
    ) -> Option<(String, JudgeReply)> {
        let form = ReplyFormat {
            parse: &|reply| self.bench.suite.parse(item, reply),
            reminder: &self.bench.suite.reminder(item),
        };
        let request_sha256 = request.request_sha256();
        let name = format!("{request_sha256} {}", self.retried(judge, request, prompt_sha256).await);
        let resumed = AttemptLog::from(self.bench).resume(&judge.id, request_sha256);
        let attempts = reading(&self.reads, resumed).await?;
        let earlier = attempts.earlier.clone();
        let keep = |reply| batch.keep(attempts.row(AttemptStatus::Unsettled, reply));
        let attempts_so_far = Attempts { name: &name, earlier, keep };
        let (judge_reply, error) = query_judge(judge, request, &form, attempts_so_far, self.limits).await;
        if let Some(error) = &error {
            self.count(|outcome| error.count_in(outcome));
        }
        // Spending is stored with the run, so nothing is stored of a request that the run did not finish.
        let judge_reply = judge_reply.filter(|_| !matches!(error, Some(AskError::Ended { .. })))?;
        let is_open = judge_reply.status == Some(Status::TransportFailed);
        Some((if is_open { self.new_id() } else { attempts.result }, judge_reply))
    }

    fn new_id(&self) -> String {
        self.bench.rng.id(self.bench.clock)
    }
}

type JudgementSender = BatchSender<RunRow<BenchJudgementRow>>;

/// Subject of a judgement.
pub(super) struct JudgementOf<'r> {
    /// Id of the model.
    pub(super) model: &'r ModelId,
    /// The judge; `None` for answers scored without one.
    pub(super) judge: Option<&'r ModelId>,
    /// The baseline, for suites that compare with one.
    pub(super) baseline: Option<&'r ModelId>,
    /// The item.
    pub(super) item: &'r Item,
    /// Its turn, from 1.
    pub(super) turn: u32,
    /// Order of the answers.
    pub(super) game: Game,
    /// SHA-256 of the judge's prompt; empty without a judge.
    pub(super) prompt_sha256: String,
}

impl JudgementOf<'_> {
    /// Creates the database row of the judgement.
    pub(super) fn row(
        self,
        bench: RunContext<'_>,
        id: String,
        judge_reply: JudgeReply,
        params: ItemSampling,
    ) -> BenchJudgementRow {
        BenchJudgementRow {
            id,
            sample: bench.sample,
            variant: bench.suite.variant().to_owned(),
            baseline: self.baseline.map(ToString::to_string).unwrap_or_default(),
            source: String::new(),
            earlier: judge_reply.earlier,
            reasoning: judge_reply.reasoning,
            number_tokens: judge_reply.numbers,
            judgement: Judgement {
                suite: bench.suite.name().to_owned(),
                suite_version: bench.data.sha256.clone(),
                item_id: self.item.id.clone(),
                turn: self.turn,
                model: self.model.to_string(),
                judge_model: self.judge.map(ToString::to_string).unwrap_or_default(),
                judge_prompt_sha256: self.prompt_sha256,
                params,
                game: self.game,
                raw_text: judge_reply.raw_text,
                parsed: judge_reply.verdict,
                status: judge_reply.status.unwrap_or(Status::Ok),
                attempts: judge_reply.attempts,
                latency_ms: Some(u64::try_from(judge_reply.latency.as_millis()).unwrap_or(u64::MAX)),
                tokens: judge_tokens(judge_reply.usage),
                ts: bench.clock.now().0,
            },
        }
    }
}

fn judge_tokens(usage: Usage) -> Option<JudgeTokens> {
    Some(JudgeTokens { prompt: usage.input?, reply: usage.output? })
}
