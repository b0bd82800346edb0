//! Asks models for the answers that are missing and stores each as soon as it is complete.
//!
//! Items of one model are asked side by side, as many as its limit lets; the turns of an item one after the other, for a
//! later one may hold the answer to an earlier one.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::try_join_all;
use futures_util::{StreamExt, stream, try_join};
use parking_lot::Mutex;

use super::loading::answers_of;
use super::{OnProgress, RunContext, RunProgress};
use crate::domain::benchmark::answer_index::{AnswerIndex, ask_sha256};
use crate::domain::benchmark::item::{Answer, Ask, Item};
use crate::domain::benchmark::run_report::{RequestPlan, RunOutcome};
use crate::domain::judging::budget::{Tokens, estimate_all};
use crate::infra::batch_writer::{BatchSender, keeper};
use crate::infra::llm::model_client::{AskError, ModelClient, RunLimits};
use crate::infra::storage::{BenchAnswerRow, StoreError};

/// Estimated length of an answer in tokens.
const USUAL_ANSWER: u64 = 500;
/// Number of requests before an empty reply is stored as the answer.
const SILENCES: u32 = 3;

/// The requests for each model.
///
/// # Errors
/// [`StoreError`].
pub async fn plan(bench: RunContext<'_>, models: &[ModelClient]) -> Result<Vec<RequestPlan>, StoreError> {
    let mut plans = Vec::with_capacity(models.len());
    for model in models {
        let given = answers_of(bench.store, &bench.set(), &model.id).await?;
        let (mut calls, mut done, mut tokens) = (0, 0, Tokens::default());
        for item in &bench.data.items {
            done += given.to(bench.suite, item).len() as u64;
            for ask in given.open(bench.suite, item) {
                calls += 1;
                tokens.input += estimate_all(&ask.messages);
                tokens.output += USUAL_ANSWER.min(ask.sampling.max_tokens.map_or(u64::MAX, u64::from));
            }
        }
        let cost = model.prices.map(|prices| prices.cost(tokens));
        plans.push(RequestPlan { model: model.id.clone(), calls, done, tokens, cost });
    }
    Ok(plans)
}

/// Asks models until all of their answers are kept, the budget is used up, or the run is stopped; then what is under way
/// is waited for.
///
/// # Errors
/// [`StoreError`]: an answer could not be stored, so no further requests were sent.
pub async fn answer(
    bench: RunContext<'_>,
    models: &[ModelClient],
    limits: &RunLimits,
    on_progress: OnProgress<'_>,
) -> Result<Vec<RunOutcome>, StoreError> {
    let (batch, keeper) = keeper();
    let set = bench.set();
    let counter = Counter { done: AtomicU64::new(0), total: AtomicU64::new(0), on_progress };
    let counter = &counter;
    let asking = async move {
        let runs = models.iter().map(|model| ModelRun::begin(bench, model, limits, counter));
        let runs = try_join_all(runs).await?;
        let outcomes = runs.iter().map(|run| run.answer_all(&batch));
        Ok(futures_util::future::join_all(outcomes).await)
    };
    let keeping = keeper.run(async |rows: Vec<_>| bench.store.insert_answers(&set, &rows).await);
    let (outcomes, ()) = try_join!(asking, keeping)?;
    Ok(outcomes)
}

/// Counts what is done over all models.
struct Counter<'c> {
    done: AtomicU64,
    total: AtomicU64,
    on_progress: OnProgress<'c>,
}

impl Counter<'_> {
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
    counter: &'r Counter<'r>,
    given: AnswerIndex,
    outcome: Mutex<RunOutcome>,
}

impl<'r> ModelRun<'r> {
    async fn begin(
        bench: RunContext<'r>,
        model: &'r ModelClient,
        limits: &'r RunLimits,
        counter: &'r Counter<'r>,
    ) -> Result<Self, StoreError> {
        let given = answers_of(bench.store, &bench.set(), &model.id).await?;
        let mut outcome = RunOutcome::new(model.id.clone());
        for item in &bench.data.items {
            outcome.before += given.to(bench.suite, item).len() as u64;
            outcome.total += given.open(bench.suite, item).len() as u64;
        }
        outcome.total += outcome.before;
        counter.add(outcome.before, outcome.total);
        Ok(Self { bench, model, limits, counter, given, outcome: Mutex::new(outcome) })
    }

    async fn answer_all(&self, batch: &BatchSender<BenchAnswerRow>) -> RunOutcome {
        stream::iter(&self.bench.data.items)
            .map(|item| self.answer_item(item, batch))
            .buffer_unordered(self.model.max_concurrent)
            .for_each(|()| std::future::ready(()))
            .await;
        self.outcome.lock().clone()
    }

    /// Requests the missing answers to the turns of an item. A failed turn does not stop the others.
    async fn answer_item(&self, item: &Item, batch: &BatchSender<BenchAnswerRow>) {
        if self.limits.are_reached() || self.model.is_exhausted() {
            return;
        }
        let (mut answers, mut failed) = (self.given.to(self.bench.suite, item), Vec::new());
        loop {
            let asks = self.bench.suite.asks(item, &answers);
            let Some(ask) = asks.into_iter().find(|ask| !failed.contains(&ask.turn)) else { return };
            match self.answer_turn(item, &ask).await {
                Ok(row) => {
                    let answer = Answer { turn: row.turn, text: row.text.clone() };
                    if !batch.keep(vec![row]).await {
                        return;
                    }
                    answers.push(answer);
                    self.count(|outcome| outcome.kept += 1);
                    self.counter.add(1, 0);
                }
                Err(error) => {
                    failed.push(ask.turn);
                    self.count(|outcome| error.count_in(outcome));
                }
            }
        }
    }

    /// An empty reply is requested a few times more; then it is the answer.
    async fn answer_turn(&self, item: &Item, ask: &Ask) -> Result<BenchAnswerRow, AskError> {
        let (mut silences, mut attempts) = (0, 0);
        loop {
            let reply = self.model.ask(&ask.messages, ask.sampling.into(), self.limits).await?;
            attempts += reply.attempts;
            silences += 1;
            if reply.text.trim().is_empty() && silences < SILENCES {
                continue;
            }
            return Ok(BenchAnswerRow {
                id: self.bench.rng.id(self.bench.clock),
                item: item.id.clone(),
                turn: ask.turn,
                model: self.model.id.to_string(),
                ask_sha256: ask_sha256(ask),
                source: String::new(),
                params: serde_json::to_string(&ask.sampling).expect("plain numbers"),
                text: reply.text,
                attempts,
                latency_ms: u64::try_from(reply.latency.as_millis()).unwrap_or(u64::MAX),
                input_tokens: reply.usage.input,
                output_tokens: reply.usage.output,
                created_at: self.bench.clock.now(),
            });
        }
    }

    fn count(&self, change: impl FnOnce(&mut RunOutcome)) {
        // Plain numbers, valid after each statement.
        change(&mut self.outcome.lock());
    }
}
