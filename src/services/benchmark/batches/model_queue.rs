//! Collects the requests of a model's workers, and returns their replies.

use std::collections::{HashMap, HashSet};

use futures_util::future::BoxFuture;
use futures_util::stream::{self, FuturesUnordered};
use futures_util::{FutureExt, StreamExt};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use super::batch_runner::{BatchOutcome, BatchRunner};
use crate::domain::battle::ModelId;
use crate::infra::llm::batch::queue::RequestQueue;
use crate::infra::llm::batch::{BatchEnd, MAX_BYTES, MAX_REQUESTS};
use crate::infra::llm::{ChatError, ReplyPart, ReplyStream};
use crate::infra::storage::{BatchRowState, BenchBatchRow, StoreError};
use crate::infra::time::clock::{Clock as _, SystemClock};

type QueuedReply = Result<Vec<ReplyPart>, ChatError>;

/// Batch queue of a model.
pub(super) struct ModelQueue {
    runner: BatchRunner,
    sends: bool,
    state: Mutex<QueueState>,
    /// Wakes the loop when a batch may be ready.
    changed: Notify,
}

#[derive(Default)]
struct QueueState {
    /// Number of workers that are not waiting.
    active: usize,
    /// Requests not yet in a batch.
    queued: Vec<Queued>,
    /// Reply channels of waiting workers, by request key.
    waiting: HashMap<String, Vec<oneshot::Sender<QueuedReply>>>,
    /// Batches of earlier runs, and ended batches of this one.
    batches: Vec<OpenBatch>,
    /// Batches of earlier runs that may have the reply to a request, by request key.
    holders: HashMap<String, HashSet<usize>>,
    /// Unclaimed replies of earlier batches.
    replies: HashMap<String, Vec<ReplyPart>>,
    given_up: Option<ChatError>,
    stopped: bool,
}

struct Queued {
    key: String,
    request: String,
}

/// Batch whose replies are not all known to be stored.
struct OpenBatch {
    row: BenchBatchRow,
    phase: BatchPhase,
    /// Keys of unclaimed replies.
    left: HashSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchPhase {
    /// Not polled yet.
    Idle,
    Wanted,
    Running,
    Ended,
    /// Possibly still running at the provider.
    Open,
}

/// Next batch to run.
enum NextBatch {
    Earlier(usize),
    New(Vec<Queued>),
}

impl ModelQueue {
    pub(super) fn new(runner: BatchRunner, sends: bool) -> Self {
        Self { runner, sends, state: Mutex::default(), changed: Notify::new() }
    }

    pub(super) fn model(&self) -> &ModelId {
        &self.runner.model
    }

    /// Loads the batches of earlier runs.
    pub(super) fn load(&self, rows: Vec<BenchBatchRow>) {
        let mut state = self.state.lock();
        (state.batches, state.holders) = (Vec::new(), HashMap::new());
        for (at, row) in rows.into_iter().enumerate() {
            for key in &row.requests {
                state.holders.entry(key.clone()).or_default().insert(at);
            }
            state.batches.push(OpenBatch { row, phase: BatchPhase::Idle, left: HashSet::new() });
        }
    }

    /// Records the batches whose replies are all claimed, and thus stored by now.
    pub(super) async fn mark_all_stored(&self) -> Result<(), StoreError> {
        let taken: Vec<String> = {
            let mut state = self.state.lock();
            let is_taken = |batch: &OpenBatch| batch.phase == BatchPhase::Ended && batch.left.is_empty();
            let ids = state.batches.iter().filter(|batch| is_taken(batch)).map(|batch| batch.row.id.clone()).collect();
            for batch in state.batches.iter_mut().filter(|batch| is_taken(batch)) {
                batch.phase = BatchPhase::Open;
            }
            ids
        };
        for id in taken {
            self.runner.store.update_bench_batch(&id, BatchRowState::Taken, None, SystemClock.now()).await?;
        }
        Ok(())
    }

    /// Returns the batch that can run now, if any.
    fn next_work(&self) -> Option<NextBatch> {
        let mut state = self.state.lock();
        if state.stopped {
            return None;
        }
        if let Some(at) = state.batches.iter().position(|batch| batch.phase == BatchPhase::Wanted) {
            state.batches[at].phase = BatchPhase::Running;
            return Some(NextBatch::Earlier(at));
        }
        let bytes: usize = state.queued.iter().map(|queued| queued.request.len()).sum();
        let is_full = state.queued.len() >= MAX_REQUESTS || bytes >= MAX_BYTES;
        if state.queued.is_empty() || !(state.active == 0 || is_full) {
            return None;
        }
        let mut bytes = 0;
        let fits = |queued: &&Queued| {
            bytes += queued.request.len();
            bytes <= MAX_BYTES
        };
        // An oversized request is sent alone, for the provider to accept or reject.
        let count = state.queued.iter().take(MAX_REQUESTS).take_while(fits).count().max(1);
        Some(NextBatch::New(state.queued.drain(..count).collect()))
    }

    async fn run_batch(&self, work: NextBatch, stop: &CancellationToken) {
        match work {
            NextBatch::Earlier(at) => {
                let row = self.state.lock().batches[at].row.clone();
                let outcome = self.runner.resume(&row, stop).await;
                self.state.lock().end(at, outcome);
            }
            NextBatch::New(queued) => {
                let (keys, requests): (Vec<String>, Vec<String>) =
                    queued.into_iter().map(|queued| (queued.key, queued.request)).unzip();
                let row = self.runner.row(keys);
                let outcome = self.runner.send(&row, &requests, stop).await;
                let mut state = self.state.lock();
                if let BatchOutcome::Failed(error) = &outcome {
                    state.fail_queued(error.clone());
                }
                let at = state.batches.len();
                state.batches.push(OpenBatch { row, phase: BatchPhase::Running, left: HashSet::new() });
                state.end(at, outcome);
            }
        }
        self.changed.notify_one();
    }

    /// Ends all waits: no further batches are sent.
    fn stop(&self) {
        let mut state = self.state.lock();
        state.stopped = true;
        let mut ended: Vec<String> = std::mem::take(&mut state.queued).into_iter().map(|queued| queued.key).collect();
        for batch in state.batches.iter_mut().filter(|batch| batch.phase == BatchPhase::Wanted) {
            batch.phase = BatchPhase::Open;
            ended.extend(batch.row.requests.iter().cloned());
        }
        for key in ended {
            state.answer(&key, &Err(ChatError::Unanswered(BatchEnd::GoesOn)));
        }
    }
}

impl QueueState {
    /// Records the outcome of a batch.
    fn end(&mut self, at: usize, outcome: BatchOutcome) {
        let keys = std::mem::take(&mut self.batches[at].row.requests);
        let goes_on = || Err(ChatError::Unanswered(BatchEnd::GoesOn));
        self.batches[at].phase =
            if matches!(outcome, BatchOutcome::Ended(..)) { BatchPhase::Ended } else { BatchPhase::Open };
        match outcome {
            BatchOutcome::Ended(mut replies, gap) => {
                for key in keys {
                    let reply = replies.remove(&key).unwrap_or_else(|| Err(ChatError::Unanswered(gap.clone())));
                    self.take(at, key, reply);
                }
            }
            BatchOutcome::Failed(error) => {
                // The error concerns the whole batch: no single request is refused.
                let end = match error {
                    ChatError::Unanswered(end) => end,
                    error => BatchEnd::Failed(error.kind().to_owned()),
                };
                keys.into_iter().for_each(|key| self.take(at, key, Err(ChatError::Unanswered(end.clone()))));
            }
            BatchOutcome::LeftOpen(error) => {
                if let Some(error) = error {
                    self.fail_queued(error);
                }
                keys.iter().for_each(|key| self.answer(key, &goes_on()));
            }
        }
    }

    /// Delivers a reply, or holds it for a later worker. A failure counts only if no other batch may have a reply.
    fn take(&mut self, at: usize, key: String, reply: QueuedReply) {
        let is_held = self.holders.get_mut(&key).is_some_and(|holders| {
            holders.remove(&at);
            !holders.is_empty()
        });
        if !is_held {
            self.holders.remove(&key);
        }
        match reply {
            Err(_) if is_held => {}
            Ok(parts) if !self.waiting.contains_key(&key) => {
                self.batches[at].left.insert(key.clone());
                self.replies.insert(key, parts);
            }
            reply => self.answer(&key, &reply),
        }
    }

    /// Wakes the workers that wait for a request.
    fn answer(&mut self, key: &str, reply: &QueuedReply) {
        for waiting in self.waiting.remove(key).into_iter().flatten() {
            self.active += 1;
            if waiting.send(reply.clone()).is_err() {
                self.active -= 1;
            }
        }
    }

    fn fail_queued(&mut self, error: ChatError) {
        self.given_up.get_or_insert(error);
        for Queued { key, .. } in std::mem::take(&mut self.queued) {
            self.answer(&key, &Err(ChatError::Unanswered(BatchEnd::GoesOn)));
        }
    }
}

impl RequestQueue for ModelQueue {
    fn sends(&self) -> bool {
        self.sends
    }

    fn holds(&self, key: &str) -> bool {
        let state = self.state.lock();
        state.replies.contains_key(key) || state.holders.contains_key(key)
    }

    fn ask(&self, key: String, request: Option<String>) -> ReplyStream {
        let mut state = self.state.lock();
        if let Some(parts) = state.replies.remove(&key) {
            state.batches.iter_mut().for_each(|batch| _ = batch.left.remove(&key));
            return parts_of(Ok(parts));
        }
        if state.stopped || state.given_up.is_some() {
            return parts_of(Err(ChatError::Unanswered(BatchEnd::GoesOn)));
        }
        match request {
            Some(request) if !state.waiting.contains_key(&key) => {
                state.queued.push(Queued { key: key.clone(), request })
            }
            Some(_) => {}
            None => {
                let holders: Vec<usize> = state.holders.get(&key).into_iter().flatten().copied().collect();
                if holders.is_empty() {
                    return parts_of(Err(ChatError::Unanswered(BatchEnd::Missing)));
                }
                let is_open = |at: &usize| state.batches[*at].phase == BatchPhase::Open;
                if holders.iter().all(is_open) {
                    return parts_of(Err(ChatError::Unanswered(BatchEnd::GoesOn)));
                }
                for at in holders {
                    let batch = &mut state.batches[at];
                    if batch.phase == BatchPhase::Idle {
                        batch.phase = BatchPhase::Wanted;
                    }
                }
            }
        }
        let (sender, reply) = oneshot::channel();
        state.waiting.entry(key).or_default().push(sender);
        drop(state);
        self.pause();
        let parts = reply.map(|reply| reply.unwrap_or(Err(ChatError::Unanswered(BatchEnd::GoesOn))));
        stream::once(parts).flat_map(parts_of).boxed()
    }

    fn given_up(&self) -> Option<ChatError> {
        self.state.lock().given_up.clone()
    }

    fn run<'q>(&'q self, stop: &'q CancellationToken) -> BoxFuture<'q, ()> {
        async move {
            let mut running = FuturesUnordered::new();
            loop {
                while let Some(work) = self.next_work() {
                    running.push(self.run_batch(work, stop));
                }
                tokio::select! {
                    () = self.changed.notified() => {}
                    Some(()) = running.next() => {}
                    () = stop.cancelled(), if !self.state.lock().stopped => self.stop(),
                }
            }
        }
        .boxed()
    }

    fn resume(&self) {
        self.state.lock().active += 1;
    }

    fn pause(&self) {
        let mut state = self.state.lock();
        // A worker that is dropped while it waits is no longer counted.
        state.active = state.active.saturating_sub(1);
        drop(state);
        self.changed.notify_one();
    }
}

/// Converts a reply to a stream, as for single requests.
fn parts_of(reply: QueuedReply) -> ReplyStream {
    let parts: Vec<Result<ReplyPart, ChatError>> = match reply {
        Ok(parts) => parts.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    };
    stream::iter(parts).boxed()
}
