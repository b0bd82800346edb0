//! Client for one benchmarked model: retries transient failures and stops after `give_up_after` in a row.

mod expected_cost;
mod partial_reply;
mod run_limits;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};
use tokio::sync::MutexGuard;
use tokio::time::{Instant, sleep};

use self::expected_cost::AverageTokens;
use self::partial_reply::PartialReply;
use self::run_limits::BudgetShare;
pub use self::run_limits::RunLimits;
use crate::backoff::Backoff;
use crate::config::{BenchSettings, Settings};
use crate::domain::battle::ModelId;
use crate::domain::benchmark::runs::run_report::RunOutcome;
use crate::domain::judging::budget::{Prices, Tokens, estimate_all};
use crate::domain::judging::token_probabilities::NumberToken;
use crate::domain::sha256::sha256;
use crate::llm::batch::queue::{Pause, RequestQueue, Worker};
use crate::llm::batch::{BatchApi, BatchEnd, MAX_REQUESTS};
use crate::llm::reply_limit::ReplyLimit;
use crate::llm::roster::entries;
use crate::llm::{ChatError, ChatModel, Message, ReplyStream, Sampling, Usage};

/// Maximum wait between two attempts.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);
/// Assumed length of a reply in tokens until the first one arrives.
const INITIAL_REPLY_TOKENS: u64 = 500;

/// Client of a model under test, or a judge.
pub struct ModelClient {
    /// Id of the model.
    pub id: ModelId,
    /// Maximum number of concurrent requests.
    pub max_concurrent: usize,
    /// Token prices, if set.
    pub prices: Option<Prices>,
    /// Token prices in batches.
    pub batch_prices: Option<Prices>,
    /// Maximum length of a reply in tokens, unless a request sets it.
    longest_reply: u64,
    reply_limit: ReplyLimit,
    /// Queue that sends requests in batches, or fetches the replies of earlier ones.
    queue: Option<Arc<dyn RequestQueue>>,
    model: Arc<dyn ChatModel>,
    settings: BenchSettings,
    rng: Mutex<ChaCha8Rng>,
    failures_in_a_row: AtomicU32,
    last_failure: Mutex<Option<ChatError>>,
    usual: Mutex<AverageTokens>,
}

/// A complete reply.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeReply {
    /// Its text, without NUL characters; may be empty.
    pub text: String,
    /// Reasoning that the provider sent separately; truncated if it is long.
    pub reasoning: String,
    /// Number of requests sent for it.
    pub attempts: u32,
    /// Time from the first request to the end of the reply, with waits between attempts.
    pub latency: Duration,
    /// Token counts of the provider.
    pub usage: Usage,
    /// Its last numbers with their alternatives, if requested and returned.
    pub numbers: Vec<NumberToken>,
    /// Tokens of its failed attempts that may be billed, such as those that timed out.
    pub lost: Tokens,
}

/// Reason why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// All attempts failed.
    #[error("{error}")]
    Failed {
        /// The last failure.
        error: ChatError,
        /// Number of requests sent.
        attempts: u32,
        /// Total duration.
        latency: Duration,
        /// Their tokens, if they may be billed.
        lost: Tokens,
    },
    /// The provider rejected the request: too long, or filtered.
    #[error("the provider refuses the request: {error}")]
    Refused {
        /// The rejection.
        error: ChatError,
        /// Number of requests sent, this one included.
        attempts: u32,
        /// Total duration.
        latency: Duration,
        /// Tokens of earlier failed attempts that may be billed.
        lost: Tokens,
    },
    /// The run ended before there was a reply.
    #[error("{reason}")]
    Ended {
        /// Reason for the end.
        reason: RunEnd,
        /// Number of requests sent until then, all failed.
        attempts: u32,
        /// Total duration.
        latency: Duration,
        /// Their tokens, if they may be billed.
        lost: Tokens,
    },
}

/// Reason why a run sends no more requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RunEnd {
    /// Too many consecutive requests failed.
    #[error("the model does not answer and gets no more requests in this run")]
    GivenUp,
    /// The run was stopped.
    #[error("the run was stopped")]
    Stopped,
    /// The budget is used up.
    #[error("the budget is used up")]
    OverBudget,
}

impl AskError {
    /// Counts the failure in the outcome of a run. The end of a run is not a failure: its open requests stay open.
    pub fn count_in(&self, outcome: &mut RunOutcome) {
        if !matches!(self, Self::Ended { .. }) {
            outcome.fail(self.to_string());
        }
    }
}

impl ModelClient {
    /// Creates a client for a model without retries and circuit breaker: this client has both.
    #[must_use]
    pub fn new(id: ModelId, model: Arc<dyn ChatModel>, settings: BenchSettings, rng: ChaCha8Rng) -> Self {
        Self {
            id,
            max_concurrent: 1,
            prices: None,
            batch_prices: None,
            longest_reply: INITIAL_REPLY_TOKENS,
            reply_limit: ReplyLimit::default(),
            queue: None,
            model,
            settings,
            rng: Mutex::new(rng),
            failures_in_a_row: AtomicU32::new(0),
            last_failure: Mutex::default(),
            usual: Mutex::default(),
        }
    }

    /// Creates a client with the limits and prices of these settings.
    #[must_use]
    pub fn configured(id: ModelId, model: Arc<dyn ChatModel>, settings: &Settings, rng: ChaCha8Rng) -> Self {
        let mut asked = Self::new(id, model, settings.bench.clone(), rng);
        if let Some(entry) = entries(settings).iter().find(|entry| entry.id == asked.id.as_str()) {
            asked.max_concurrent = entry.max_concurrent as usize;
            asked.prices = entry.prices();
            asked.batch_prices = entry.batch_prices();
            asked.longest_reply = entry.max_tokens.into();
            asked.reply_limit = ReplyLimit::new(entry);
        }
        asked
    }

    /// Adds a queue for batches.
    #[must_use]
    pub fn with_queue(self, queue: Arc<dyn RequestQueue>) -> Self {
        let prices = if queue.sends() { self.batch_prices } else { self.prices };
        Self { prices, queue: Some(queue), ..self }
    }

    /// Returns the provider's batch API; `None` if it has none.
    #[must_use]
    pub fn batches(&self) -> Option<Arc<dyn BatchApi>> {
        self.model.batches()
    }

    /// Whether its requests are sent in batches.
    #[must_use]
    pub fn sends_batches(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.sends())
    }

    /// Returns the maximum number of concurrent requests: the size of a batch, or the model's limit.
    #[must_use]
    pub fn max_concurrent_requests(&self) -> usize {
        if self.sends_batches() { MAX_REQUESTS } else { self.max_concurrent }
    }

    /// Registers a worker for the lifetime of the guard.
    #[must_use]
    pub fn worker(&self) -> Worker {
        Worker::begin(self.queue.clone())
    }

    /// Waits for another worker; batches do not wait for this one meanwhile.
    pub async fn wait_for<T>(&self, other: impl Future<Output = T>) -> T {
        let _pause = self.queue.as_deref().map(Pause::begin);
        other.await
    }

    /// Runs the work of all workers, and sends their batches meanwhile.
    pub async fn serve<T>(&self, limits: &RunLimits, work: impl Future<Output = T>) -> T {
        let Some(queue) = &self.queue else { return work.await };
        tokio::select! {
            biased;
            done = work => done,
            () = queue.run(&limits.stop) => std::future::pending().await,
        }
    }

    /// Whether too many consecutive requests failed, so that no more are sent.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.failures_in_a_row.load(Ordering::Relaxed) >= self.settings.give_up_after
            || self.queue.as_ref().is_some_and(|queue| queue.given_up().is_some())
    }

    /// Returns the maximum number of attempts of one request.
    #[must_use]
    pub fn tries(&self) -> u64 {
        self.settings.attempts.into()
    }

    /// Returns the maximum length of a reply in tokens for a request with this limit; `None` if no limit is sent.
    #[must_use]
    pub fn max_tokens(&self, request: Option<u32>) -> Option<u32> {
        self.reply_limit.of(request)
    }

    /// Returns the number of consecutive failures and the last one if no more requests are sent.
    #[must_use]
    pub fn given_up(&self) -> Option<(u32, ChatError)> {
        if let Some(error) = self.queue.as_ref().and_then(|queue| queue.given_up()) {
            return Some((1, error));
        }
        let failures = self.failures_in_a_row.load(Ordering::Relaxed);
        self.last_failure.lock().clone().filter(|_| self.is_exhausted()).map(|error| (failures, error))
    }

    /// Sends a request until there is a reply, or all attempts have failed. A reply without text is a reply.
    ///
    /// # Errors
    /// [`AskError`].
    pub async fn ask(
        &self,
        messages: &[Message],
        sampling: Sampling,
        limits: &RunLimits,
    ) -> Result<WholeReply, AskError> {
        self.ask_for("", messages, sampling, limits).await
    }

    /// Sends a request for the purpose that `request` names: an earlier run's batch with the same name is checked for its reply first.
    ///
    /// # Errors
    /// [`AskError`].
    pub async fn ask_for(
        &self,
        request: &str,
        messages: &[Message],
        sampling: Sampling,
        limits: &RunLimits,
    ) -> Result<WholeReply, AskError> {
        let began = Instant::now();
        let sampling = Sampling { with_usage: true, ..sampling };
        let (mut attempts, mut lost) = (0, Tokens::default());
        let ended = |reason, attempts, lost| AskError::Ended { reason, attempts, latency: began.elapsed(), lost };
        loop {
            if self.is_exhausted() {
                return Err(ended(RunEnd::GivenUp, attempts, lost));
            }
            let asked = ClientRequest { request, messages, sampling: &sampling };
            let replied = self.ask_once(asked, limits, &mut lost).await;
            let error = match replied.map_err(|reason| ended(reason, attempts, lost))? {
                Ok(PartialReply { text, reasoning, usage, numbers, .. }) => {
                    self.failures_in_a_row.store(0, Ordering::Relaxed);
                    let latency = began.elapsed();
                    return Ok(WholeReply { text, reasoning, attempts: attempts + 1, latency, usage, numbers, lost });
                }
                Err(error) => error,
            };
            attempts += 1;
            tracing::debug!(model.id = %self.id, %error, attempts, "a benchmark's request failed");
            if error.is_request_error() {
                return Err(AskError::Refused { error, attempts, latency: began.elapsed(), lost });
            }
            if attempts >= self.settings.attempts || !may_be_transient(&error) {
                self.count_failure(&error);
                return Err(AskError::Failed { error, attempts, latency: began.elapsed(), lost });
            }
            let waited = self.wait(&error, attempts, limits).await;
            waited.map_err(|reason| ended(reason, attempts, lost))?;
        }
    }

    /// Counts a failure unless it came from a batch: many requests of one batch may fail, which does not predict the next one.
    fn count_failure(&self, error: &ChatError) {
        if !self.sends_batches() {
            *self.last_failure.lock() = Some(error.clone());
            self.failures_in_a_row.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends one request. The outer error ends all attempts. Adds its tokens to `lost` if it fails and may be billed.
    async fn ask_once(
        &self,
        asked: ClientRequest<'_>,
        limits: &RunLimits,
        lost: &mut Tokens,
    ) -> Result<Result<PartialReply, ChatError>, RunEnd> {
        loop {
            if limits.stop.is_cancelled() {
                return Err(RunEnd::Stopped);
            }
            let ReservedRequest { way, reserved, prices, alone: _alone } = self.begin(asked, limits).await?;
            let mut heard = PartialReply::default();
            let was_sent_before = matches!(way, RequestRoute::Earlier(_));
            let ended = heard.listen(self.reply(asked, way)).await;
            match &ended {
                Err(ChatError::Unanswered(BatchEnd::GoesOn)) => {
                    return Err(if limits.stop.is_cancelled() { RunEnd::Stopped } else { RunEnd::GivenUp });
                }
                // The earlier batch had no reply: the request is sent as if there had been no batch.
                Err(error) if was_sent_before && !error.is_request_error() => continue,
                _ => {}
            }
            let output = heard.output_tokens(ended.is_ok());
            let tokens = Tokens::counted(heard.usage.input, Some(output), asked.messages, &heard.text);
            if ended.as_ref().err().is_none_or(|error| heard.begun || error.may_be_billed()) {
                reserved.settle(tokens, cost_of(tokens, prices));
                if ended.is_err() {
                    *lost = lost.plus(tokens);
                }
            }
            if ended.is_ok() {
                self.usual.lock().add(tokens, estimate_all(asked.messages));
            }
            return Ok(ended.map(|()| heard));
        }
    }

    /// Chooses the route of a request and reserves its expected cost. The cost of an earlier batch was counted when it was sent.
    async fn begin<'l>(&self, asked: ClientRequest<'_>, limits: &'l RunLimits) -> Result<ReservedRequest<'l>, RunEnd> {
        let Some(queue) = &self.queue else { return self.single(asked, limits).await };
        let body = self.model.batch_body(asked.messages, asked.sampling);
        let key = sha256(format!("{} {} {}", self.id, asked.request, Value::Object(body.clone())).as_bytes());
        let prices = self.batch_prices;
        if queue.holds(&key) {
            let reserved = limits.sent_before();
            return Ok(ReservedRequest { way: RequestRoute::Earlier(key), reserved, prices, alone: None });
        }
        if !queue.sends() {
            return self.single(asked, limits).await;
        }
        loop {
            let settled = limits.settlement();
            if let Some(reserved) = limits.reserve(self.cost_to_expect(asked, prices))? {
                return Ok(ReservedRequest { way: RequestRoute::Batch(key, body), reserved, prices, alone: None });
            }
            self.wait_for(limits.unless_stopped(settled)).await?;
        }
    }

    /// Prepares a request outside batches. Before this model's first reply, a reply is expected to reach its limit. If that costs more
    /// than the rest of the budget, the request reserves the cost of [`INITIAL_REPLY_TOKENS`], but not concurrently with another such
    /// request of the run.
    async fn single<'l>(&self, asked: ClientRequest<'_>, limits: &'l RunLimits) -> Result<ReservedRequest<'l>, RunEnd> {
        let mut alone = None;
        loop {
            let settled = limits.settlement();
            let mut cost = self.cost_to_expect(asked, self.prices);
            if self.has_replied() || !limits.budget.is_exceeded_by(cost) {
                alone = None;
            } else if alone.is_some() {
                cost = self.cost_with_reply(asked, INITIAL_REPLY_TOKENS, self.prices);
            } else {
                alone = Some(limits.unknown_cost().await?);
                continue;
            }
            if let Some(reserved) = limits.reserve(cost)? {
                return Ok(ReservedRequest { way: RequestRoute::Single, reserved, prices: self.prices, alone });
            }
            self.wait_for(limits.unless_stopped(settled)).await?;
        }
    }

    fn reply(&self, asked: ClientRequest<'_>, way: RequestRoute) -> ReplyStream {
        match (way, &self.queue, self.model.batches()) {
            (RequestRoute::Earlier(key), Some(queue), _) => queue.ask(key, None),
            (RequestRoute::Batch(key, body), Some(queue), Some(api)) => {
                let request = api.encode(&key, body);
                queue.ask(key, Some(request))
            }
            _ => self.model.ask(asked.messages, asked.sampling),
        }
    }

    /// Waits before the next attempt: the provider's `Retry-After` and an exponential backoff with full jitter, at most
    /// [`MAX_RETRY_DELAY`] in all.
    async fn wait(&self, error: &ChatError, attempts: u32, limits: &RunLimits) -> Result<(), RunEnd> {
        let backoff = Backoff { first: Duration::from_millis(self.settings.backoff_ms), longest: MAX_RETRY_DELAY };
        let share = self.rng.lock().random_range(0.0..=1.0);
        let pause = error.retry_after().saturating_add(backoff.with_jitter(attempts, share)).min(MAX_RETRY_DELAY);
        limits.unless_stopped(sleep(pause)).await
    }
}

/// A request of the client.
#[derive(Clone, Copy)]
struct ClientRequest<'a> {
    /// Name of its purpose.
    request: &'a str,
    messages: &'a [Message],
    sampling: &'a Sampling,
}

/// A request that may be sent.
struct ReservedRequest<'l> {
    way: RequestRoute,
    reserved: BudgetShare<'l>,
    prices: Option<Prices>,
    /// Held until the end of a request that may cost more than the rest of the budget.
    alone: Option<MutexGuard<'l, ()>>,
}

/// Route of a request.
enum RequestRoute {
    /// Single request.
    Single,
    /// Batch of an earlier run, in which it was sent.
    Earlier(String),
    /// In the next batch.
    Batch(String, Map<String, Value>),
}

/// Computes the cost of tokens; zero without prices.
fn cost_of(tokens: Tokens, prices: Option<Prices>) -> f64 {
    prices.map_or(0.0, |prices| prices.cost(tokens))
}

/// Whether an error may be transient. A broken or unreadable reply may succeed the next time; a wrong key stays wrong. Unanswered batch
/// requests are left to another run.
fn may_be_transient(error: &ChatError) -> bool {
    !matches!(error, ChatError::Status { .. } | ChatError::Unanswered(_)) || error.is_retryable()
}

#[cfg(test)]
mod tests;
