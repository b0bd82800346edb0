//! Collects the requests of a model's workers, and hands replies back.

use std::collections::{HashMap, HashSet};

use futures_util::future::BoxFuture;
use futures_util::stream::{self, FuturesUnordered};
use futures_util::{FutureExt, StreamExt};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use super::batch_runner::{BatchOutcome, BatchRunner};
use crate::domain::battle::ModelId;
use crate::infra::clock::{Clock as _, SystemClock};
use crate::infra::llm::batch::queue::RequestQueue;
use crate::infra::llm::batch::{BatchEnd, MOST_BYTES, MOST_REQUESTS};
use crate::infra::llm::{ChatError, ReplyPart, ReplyStream};
use crate::infra::storage::{BatchRowState, BenchBatchRow, StoreError};

type QueuedReply = Result<Vec<ReplyPart>, ChatError>;

/// The queue of a model.
pub(super) struct ModelQueue {
    runner: BatchRunner,
    sends: bool,
    state: Mutex<QueueState>,
    /// Wakes the loop: there may be a batch to run.
    changed: Notify,
}

#[derive(Default)]
struct QueueState {
    /// Workers that do not wait.
    active: usize,
    /// Requests that are in no batch yet.
    queued: Vec<Queued>,
    /// Who waits for which request.
    waiting: HashMap<String, Vec<oneshot::Sender<QueuedReply>>>,
    /// Batches of earlier runs, and those that this run has ended.
    batches: Vec<OpenBatch>,
    /// Which batches of earlier runs may have the reply to a request.
    holders: HashMap<String, HashSet<usize>>,
    /// Replies of earlier batches for which nobody has asked yet.
    replies: HashMap<String, Vec<ReplyPart>>,
    given_up: Option<ChatError>,
    stopped: bool,
}

struct Queued {
    key: String,
    request: String,
}

/// A batch whose replies are not all known to be kept.
struct OpenBatch {
    row: BenchBatchRow,
    phase: BatchPhase,
    /// Replies that nobody has taken.
    left: HashSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchPhase {
    /// Nobody has asked for it.
    Idle,
    Wanted,
    Running,
    Ended,
    /// It may go on at the provider.
    Open,
}

/// The batch that runs next.
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

    /// Takes the batches of earlier runs.
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

    /// Notes the batches of which every reply was taken, and is kept by now.
    pub(super) async fn all_are_kept(&self) -> Result<(), StoreError> {
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

    /// The batch that can run now, if any.
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
        let is_full = state.queued.len() >= MOST_REQUESTS || bytes >= MOST_BYTES;
        if state.queued.is_empty() || !(state.active == 0 || is_full) {
            return None;
        }
        let mut bytes = 0;
        let fits = |queued: &&Queued| {
            bytes += queued.request.len();
            bytes <= MOST_BYTES
        };
        // One that is larger by itself goes by itself, and the provider says what it thinks of it.
        let count = state.queued.iter().take(MOST_REQUESTS).take_while(fits).count().max(1);
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
                    state.give_up(error.clone());
                }
                let at = state.batches.len();
                state.batches.push(OpenBatch { row, phase: BatchPhase::Running, left: HashSet::new() });
                state.end(at, outcome);
            }
        }
        self.changed.notify_one();
    }

    /// Ends all waits: nothing more is sent.
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
    /// Takes how a batch ended.
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
                // About all of them together: none of them is refused by itself.
                let end = match error {
                    ChatError::Unanswered(end) => end,
                    error => BatchEnd::Failed(error.kind().to_owned()),
                };
                keys.into_iter().for_each(|key| self.take(at, key, Err(ChatError::Unanswered(end.clone()))));
            }
            BatchOutcome::LeftOpen(error) => {
                if let Some(error) = error {
                    self.give_up(error);
                }
                keys.iter().for_each(|key| self.answer(key, &goes_on()));
            }
        }
    }

    /// Hands a reply over, or keeps it for who asks later. A failure counts only where no other batch may have a reply.
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

    /// Lets who waits for a request go on.
    fn answer(&mut self, key: &str, reply: &QueuedReply) {
        for waiting in self.waiting.remove(key).into_iter().flatten() {
            self.active += 1;
            if waiting.send(reply.clone()).is_err() {
                self.active -= 1;
            }
        }
    }

    fn give_up(&mut self, error: ChatError) {
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
        // A worker that is dropped while it waits has left already.
        state.active = state.active.saturating_sub(1);
        drop(state);
        self.changed.notify_one();
    }
}

/// A reply as a stream, for who reads the replies to single requests.
fn parts_of(reply: QueuedReply) -> ReplyStream {
    let parts: Vec<Result<ReplyPart, ChatError>> = match reply {
        Ok(parts) => parts.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    };
    stream::iter(parts).boxed()
}
