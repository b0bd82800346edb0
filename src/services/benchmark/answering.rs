//! Requests the missing answers from models and stores each as soon as it is complete.
//!
//! Items of one model are requested concurrently, within its limit; the turns of an item sequentially, for a later one may contain the
//! answer to an earlier one.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures_util::future::join_all;
use futures_util::try_join;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::attempts::{AttemptLog, ResultAttempts, RunRow, reading, reads};
use super::loading::answers_of;
use super::{OnProgress, RunContext, RunProgress};
use crate::domain::battle::ModelId;
use crate::domain::benchmark::item::{Answer, AnswerRequest, Item};
use crate::domain::benchmark::runs::run_report::{PlannedRequests, RequestPlan, RequestPlanOptions, RunOutcome};
use crate::domain::benchmark::scores::answer_index::{AnswerIndex, answer_request_sha256, ask_sha256, open_after};
use crate::domain::judging::budget::estimate_all;
use crate::domain::judging::reasoning::SplitReply;
use crate::infra::batch_writer::{BatchSender, batch_writer};
use crate::infra::llm::Usage;
use crate::infra::llm::batch::queue::Worker;
use crate::infra::llm::model_client::{AskError, ModelClient, RunLimits, WholeReply};
use crate::infra::storage::{AttemptStatus, BenchAnswerRow, StoreError};

/// Estimated length of an answer in tokens.
const TYPICAL_ANSWER_TOKENS: u64 = 500;
/// Number of requests before an empty reply is stored as the answer.
const MAX_EMPTY_REPLIES: usize = 3;

/// Models to query, and options.
#[derive(Clone, Copy)]
pub struct AnswerPlan<'a> {
    /// The models.
    pub models: &'a [ModelClient],
    /// Whether to repeat requests that providers refused.
    pub retry_failed: bool,
    /// Limits of the run.
    pub limits: &'a RunLimits,
}

/// Reads a model's answers; refused ones count as missing if `retry_failed` is set.
async fn read_answers(bench: RunContext<'_>, model: &ModelId, retry_failed: bool) -> Result<AnswerIndex, StoreError> {
    let given = answers_of(bench.store, &bench.set(), model).await?;
    Ok(if retry_failed { given.without_refused() } else { given })
}

/// Plans the requests for each model.
///
/// # Errors
/// [`StoreError`].
pub async fn plan(
    bench: RunContext<'_>,
    models: &[ModelClient],
    retry_failed: bool,
) -> Result<Vec<RequestPlan>, StoreError> {
    let mut plans = Vec::with_capacity(models.len());
    for model in models {
        let given = read_answers(bench, &model.id, retry_failed).await?;
        let effort = RequestPlanOptions {
            replies: MAX_EMPTY_REPLIES as u64,
            tries: model.tries(),
            usual_reply: TYPICAL_ANSWER_TOKENS,
        };
        let mut planned = PlannedRequests::default();
        for item in &bench.data.items {
            planned.done += given.to(bench.suite, item).len() as u64;
            for ask in given.open(bench.suite, item) {
                planned.add(estimate_all(&ask.messages), model.max_tokens(ask.sampling.max_tokens), effort);
            }
        }
        let past = bench.store.past_answers(&model.id, &bench.set().suite).await?;
        plans.push(planned.plan(model.id.clone(), past, effort, model.prices));
    }
    Ok(plans)
}

/// Queries models until all answers are stored, the budget is used up, or the run is stopped; then waits for requests in flight.
///
/// # Errors
/// [`StoreError`]: an answer could not be stored, so no further requests were sent.
pub async fn answer(
    bench: RunContext<'_>,
    work: AnswerPlan<'_>,
    on_progress: OnProgress<'_>,
) -> Result<Vec<RunOutcome>, StoreError> {
    let (batch, writer) = batch_writer();
    let (set, work) = (bench.set(), &work);
    let counter = ProgressCounter { done: AtomicU64::new(0), total: AtomicU64::new(0), on_progress };
    let counter = &counter;
    let asking = async move {
        let mut runs = Vec::with_capacity(work.models.len());
        for model in work.models {
            runs.push(ModelRun::begin(bench, work, model, counter).await?);
        }
        let outcomes = runs.iter().map(|run| run.answer_all(&batch));
        Ok(join_all(outcomes).await)
    };
    let set = &set;
    let writing = writer.run(|rows: Vec<RunRow<BenchAnswerRow>>| async move {
        let rows = AttemptLog::from(bench).insert_attempts(rows).await?;
        bench.store.insert_answers(set, &rows).await
    });
    let (outcomes, ()) = try_join!(asking, writing)?;
    Ok(outcomes)
}

/// Progress over all models.
struct ProgressCounter<'c> {
    done: AtomicU64,
    total: AtomicU64,
    on_progress: OnProgress<'c>,
}

impl ProgressCounter<'_> {
    fn add(&self, done: u64, total: u64) {
        let done = self.done.fetch_add(done, Ordering::Relaxed) + done;
        let total = self.total.fetch_add(total, Ordering::Relaxed) + total;
        (self.on_progress)(RunProgress { done, total });
    }
}

/// One model's part of a run.
struct ModelRun<'r> {
    bench: RunContext<'r>,
    model: &'r ModelClient,
    limits: &'r RunLimits,
    counter: &'r ProgressCounter<'r>,
    given: AnswerIndex,
    outcome: Mutex<RunOutcome>,
    reads: Semaphore,
}

/// Result of one turn of an item.
enum ItemTurnEnd {
    /// The answer is stored.
    Answered(Answer),
    /// The provider refuses the request permanently.
    Refused,
    /// Another run may repeat the request.
    Open,
    /// The answer cannot be stored, so no further requests are sent.
    Unkept,
}

type AnswerSender = BatchSender<RunRow<BenchAnswerRow>>;

impl<'r> ModelRun<'r> {
    async fn begin(
        bench: RunContext<'r>,
        work: &AnswerPlan<'r>,
        model: &'r ModelClient,
        counter: &'r ProgressCounter<'r>,
    ) -> Result<Self, StoreError> {
        let given = read_answers(bench, &model.id, work.retry_failed).await?;
        let mut outcome = RunOutcome::new(model.id.clone());
        for item in &bench.data.items {
            outcome.before += given.to(bench.suite, item).len() as u64;
            outcome.total += given.open(bench.suite, item).len() as u64;
            outcome.refused += given.refused_count(bench.suite, item) as u64;
        }
        outcome.total += outcome.before + outcome.refused;
        counter.add(outcome.before, outcome.total - outcome.refused);
        Ok(Self { bench, model, limits: work.limits, counter, given, outcome: Mutex::new(outcome), reads: reads() })
    }

    async fn answer_all(&self, batch: &AnswerSender) -> RunOutcome {
        let next = AtomicUsize::new(0);
        let at_once = self.model.max_concurrent_requests().min(self.bench.data.items.len());
        let work = join_all((0..at_once).map(|_| self.answer_items(&next, batch, self.model.worker())));
        self.model.serve(self.limits, work).await;
        self.outcome.lock().clone()
    }

    /// Requests the answers of one item after another, until none is left.
    async fn answer_items(&self, next: &AtomicUsize, batch: &AnswerSender, _worker: Worker) {
        while let Some(item) = self.bench.data.items.get(next.fetch_add(1, Ordering::Relaxed)) {
            self.answer_item(item, batch).await;
        }
    }

    /// Requests the missing answers to the turns of an item. A failed turn does not stop the others.
    async fn answer_item(&self, item: &Item, batch: &AnswerSender) {
        if self.limits.are_reached() || self.model.is_exhausted() {
            return;
        }
        let suite = self.bench.suite;
        let (mut answers, mut failed, mut refused) = (self.given.to(suite, item), Vec::new(), Vec::new());
        loop {
            let is_open = |ask: &AnswerRequest| {
                !failed.contains(&ask.turn) && !refused.contains(&ask.turn) && !self.given.is_refused(item, ask)
            };
            // A batch takes all turns together that depend on no other answer.
            let at_once = if self.model.sends_batches() { usize::MAX } else { 1 };
            let asks: Vec<AnswerRequest> =
                suite.asks(item, &answers).into_iter().filter(is_open).take(at_once).collect();
            if asks.is_empty() {
                break;
            }
            let turns = join_all(asks.iter().map(|ask| self.answer_turn(item, ask, batch, self.model.worker())));
            for (ask, end) in asks.iter().zip(self.model.wait_for(turns).await) {
                match end {
                    ItemTurnEnd::Answered(answer) => answers.push(answer),
                    ItemTurnEnd::Refused => refused.push(ask.turn),
                    ItemTurnEnd::Open => failed.push(ask.turn),
                    ItemTurnEnd::Unkept => return,
                }
            }
        }
        self.count_refused(item, &answers, &refused);
    }

    /// Counts the refused turns, with those that depend on them.
    fn count_refused(&self, item: &Item, answers: &[Answer], refused: &[u32]) {
        if refused.is_empty() {
            return;
        }
        let open = |is_closed: &dyn Fn(&AnswerRequest) -> bool| {
            open_after(self.bench.suite, item, answers.to_vec(), is_closed).len() as u64
        };
        let before = |ask: &AnswerRequest| self.given.is_refused(item, ask);
        let never = open(&before) - open(&|ask| before(ask) || refused.contains(&ask.turn));
        self.count(|outcome| outcome.refused += never);
    }

    /// Requests the answer to a turn. An empty reply is requested again, `MAX_EMPTY_REPLIES` times in total; then it is the answer.
    async fn answer_turn(
        &self,
        item: &Item,
        ask: &AnswerRequest,
        batch: &AnswerSender,
        _worker: Worker,
    ) -> ItemTurnEnd {
        let request = answer_request_sha256(&self.bench.set().round(), item, ask);
        let resumed = reading(&self.reads, AttemptLog::from(self.bench).resume(&self.model.id, request.clone())).await;
        let Some(attempts) = resumed else { return ItemTurnEnd::Open };
        let mut silences = attempts.earlier.len();
        let mut requests: u32 = attempts.earlier.iter().map(|reply| reply.attempts).sum();
        loop {
            let name = format!("{request} {silences}");
            let reply = match self.model.ask_for(&name, &ask.messages, ask.sampling.into(), self.limits).await {
                Ok(reply) => reply,
                Err(error) => return self.fail(&error, &attempts, batch).await,
            };
            requests += reply.attempts;
            silences += 1;
            let reply = WholeReply { text: SplitReply::split_answer(&reply.text).reply.to_owned(), ..reply };
            if !reply.text.trim().is_empty() || silences >= MAX_EMPTY_REPLIES {
                let reply = WholeReply { attempts: requests, ..reply };
                return self.keep(self.row(item, ask, attempts.result, reply), batch).await;
            }
            if !batch.keep(attempts.row(AttemptStatus::Unsettled, reply)).await {
                return ItemTurnEnd::Open;
            }
        }
    }

    async fn keep(&self, row: BenchAnswerRow, batch: &AnswerSender) -> ItemTurnEnd {
        let answer = Answer { turn: row.turn, text: row.text.clone() };
        if !batch.keep(vec![RunRow::Result(row)]).await {
            return ItemTurnEnd::Unkept;
        }
        self.count(|outcome| outcome.kept += 1);
        self.counter.add(1, 0);
        ItemTurnEnd::Answered(answer)
    }

    /// Counts a failure, and stores a refusal.
    async fn fail(&self, error: &AskError, attempts: &ResultAttempts<'_>, batch: &AnswerSender) -> ItemTurnEnd {
        self.count(|outcome| error.count_in(outcome));
        let AskError::Refused { error, attempts: requests, latency, .. } = error else { return ItemTurnEnd::Open };
        let reply = WholeReply {
            text: error.to_string(),
            reasoning: String::new(),
            attempts: *requests,
            latency: *latency,
            usage: Usage::default(),
            numbers: Vec::new(),
            lost: Default::default(),
        };
        match batch.keep(attempts.row(AttemptStatus::Refused, reply)).await {
            true => ItemTurnEnd::Refused,
            false => ItemTurnEnd::Open,
        }
    }

    fn row(&self, item: &Item, ask: &AnswerRequest, id: String, reply: WholeReply) -> BenchAnswerRow {
        BenchAnswerRow {
            id,
            item: item.id.clone(),
            turn: ask.turn,
            model: self.model.id.to_string(),
            ask_sha256: ask_sha256(ask),
            source: String::new(),
            params: serde_json::to_string(&ask.sampling).expect("plain numbers"),
            text: reply.text,
            attempts: reply.attempts,
            latency_ms: u64::try_from(reply.latency.as_millis()).unwrap_or(u64::MAX),
            input_tokens: reply.usage.input,
            output_tokens: reply.usage.output,
            created_at: self.bench.clock.now(),
        }
    }

    fn count(&self, change: impl FnOnce(&mut RunOutcome)) {
        // Plain counters, valid after each statement.
        change(&mut self.outcome.lock());
    }
}
