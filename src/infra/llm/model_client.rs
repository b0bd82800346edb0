//! Client for one benchmarked model: retries transient failures and stops after `give_up_after` in a row.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use parking_lot::Mutex;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;
use crate::config::{BenchSettings, Settings};
use crate::domain::battle::ModelId;
use crate::domain::benchmark::run_report::RunOutcome;
use crate::domain::judging::budget::{BudgetTracker, Prices, Tokens, estimate, estimate_all};
use crate::domain::judging::token_probabilities::{MOST_NUMBERS, NumberToken};
use crate::llm::roster::entries;
use crate::llm::{ChatError, ChatModel, Message, ReplyPart, Sampling, Usage};

/// Longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// What a reply is taken to be long until one has been seen, in tokens.
const FIRST_GUESS: u64 = 500;
/// Bytes of the reasoning that are kept of a reply.
const MOST_REASONING: usize = 64 << 10;

/// A model under test, or a judge.
pub struct ModelClient {
    /// Its key.
    pub id: ModelId,
    /// Requests under way at the same time.
    pub max_concurrent: usize,
    /// What its tokens cost, where that is set.
    pub prices: Option<Prices>,
    model: Arc<dyn ChatModel>,
    settings: BenchSettings,
    rng: Mutex<ChaCha8Rng>,
    failures_in_a_row: AtomicU32,
    last_failure: Mutex<Option<ChatError>>,
    /// Tokens of all replies so far, and how many there were.
    replied: Mutex<(u64, u64)>,
}

/// Limits that all requests of a run share.
#[derive(Debug, Default)]
pub struct RunLimits {
    /// Fires when nothing new may begin.
    pub stop: CancellationToken,
    /// What is spent.
    pub budget: BudgetTracker,
}

impl RunLimits {
    /// Whether nothing more is to begin.
    #[must_use]
    pub fn are_reached(&self) -> bool {
        self.stop.is_cancelled() || self.budget.is_exhausted()
    }
}

/// A reply to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeReply {
    /// Its text, without NUL characters; may be empty.
    pub text: String,
    /// The reasoning that the provider sent apart from it, the beginning of it where it is long.
    pub reasoning: String,
    /// Requests that it took.
    pub attempts: u32,
    /// From the first request to the end of the reply, with waits between tries.
    pub latency: Duration,
    /// What the provider counted.
    pub usage: Usage,
    /// Its last numbers with what could have stood in their place, where the provider was asked and tells.
    pub numbers: Vec<NumberToken>,
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// All tries failed.
    #[error("{error}")]
    Failed {
        /// The last failure.
        error: ChatError,
        /// Requests that were sent.
        attempts: u32,
        /// How long all of it took.
        latency: Duration,
    },
    /// The provider found this request unfit: too long, or filtered.
    #[error("the provider refuses the request: {error}")]
    Refused {
        /// What it said.
        error: ChatError,
        /// How long that took.
        latency: Duration,
    },
    /// Too many consecutive requests failed, so the model gets no more of them.
    #[error("the model does not answer and is asked no more in this run")]
    GivenUp,
    /// The run is to end.
    #[error("the run was stopped")]
    Stopped,
    /// The budget is used up.
    #[error("the budget is used up")]
    OverBudget,
}

impl AskError {
    /// Counts the failure in the outcome of a run. The end of a run is no failure: its open requests stay open.
    pub fn count_in(&self, outcome: &mut RunOutcome) {
        if !matches!(self, Self::Stopped | Self::OverBudget | Self::GivenUp) {
            outcome.fail(self.to_string());
        }
    }
}

impl ModelClient {
    /// Takes a model whose own guard has no retries and no circuit breaker: this client does both.
    #[must_use]
    pub fn new(id: ModelId, model: Arc<dyn ChatModel>, settings: BenchSettings, rng: ChaCha8Rng) -> Self {
        Self {
            id,
            max_concurrent: 1,
            prices: None,
            model,
            settings,
            rng: Mutex::new(rng),
            failures_in_a_row: AtomicU32::new(0),
            last_failure: Mutex::default(),
            replied: Mutex::default(),
        }
    }

    /// The same with the limits and prices of these settings.
    #[must_use]
    pub fn configured(id: ModelId, model: Arc<dyn ChatModel>, settings: &Settings, rng: ChaCha8Rng) -> Self {
        let mut asked = Self::new(id, model, settings.bench.clone(), rng);
        if let Some(entry) = entries(settings).iter().find(|entry| entry.id == asked.id.as_str()) {
            asked.max_concurrent = entry.max_concurrent as usize;
            asked.prices = entry.prices();
        }
        asked
    }

    /// Whether too many consecutive requests failed, so that it gets no more of them.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.failures_in_a_row.load(Ordering::Relaxed) >= self.settings.give_up_after
    }

    /// How often a request is sent at the most until there is a reply.
    #[must_use]
    pub fn tries(&self) -> u64 {
        self.settings.attempts.into()
    }

    /// How many requests failed in a row, and the last failure, where it gets no more of them.
    #[must_use]
    pub fn given_up(&self) -> Option<(u32, ChatError)> {
        let failures = self.failures_in_a_row.load(Ordering::Relaxed);
        self.last_failure.lock().clone().filter(|_| self.is_exhausted()).map(|error| (failures, error))
    }

    /// Asks until there is a reply, or all tries have failed. A reply without text is a reply.
    ///
    /// # Errors
    /// [`AskError`].
    pub async fn ask(
        &self,
        messages: &[Message],
        sampling: Sampling,
        limits: &RunLimits,
    ) -> Result<WholeReply, AskError> {
        let began = Instant::now();
        let sampling = Sampling { with_usage: true, ..sampling };
        let mut attempts = 0;
        loop {
            if self.is_exhausted() {
                return Err(AskError::GivenUp);
            }
            let error = match self.ask_once(messages, &sampling, limits).await? {
                Ok(PartialReply { text, reasoning, usage, numbers, .. }) => {
                    self.failures_in_a_row.store(0, Ordering::Relaxed);
                    let latency = began.elapsed();
                    return Ok(WholeReply { text, reasoning, attempts: attempts + 1, latency, usage, numbers });
                }
                Err(error) => error,
            };
            attempts += 1;
            tracing::debug!(model.id = %self.id, %error, attempts, "a benchmark's request failed");
            if error.is_request_error() {
                return Err(AskError::Refused { error, latency: began.elapsed() });
            }
            if attempts >= self.settings.attempts || !may_pass(&error) {
                *self.last_failure.lock() = Some(error.clone());
                self.failures_in_a_row.fetch_add(1, Ordering::Relaxed);
                return Err(AskError::Failed { error, attempts, latency: began.elapsed() });
            }
            self.wait(&error, attempts, limits).await?;
        }
    }

    /// One request. The outer error ends all of them.
    async fn ask_once(
        &self,
        messages: &[Message],
        sampling: &Sampling,
        limits: &RunLimits,
    ) -> Result<Result<PartialReply, ChatError>, AskError> {
        if limits.stop.is_cancelled() {
            return Err(AskError::Stopped);
        }
        let expected = Tokens { input: estimate_all(messages), output: self.usual_length() };
        let cost = |tokens| self.prices.map_or(0.0, |prices| prices.cost(tokens));
        let reserved = limits.budget.reserve(cost(expected)).ok_or(AskError::OverBudget)?;
        let mut heard = PartialReply::default();
        let ended = heard.listen(self.model.as_ref(), messages, sampling).await;
        let output = heard.usage.output.or_else(|| Some(estimate(&heard.text) + heard.reasoning_tokens));
        let tokens = Tokens::counted(heard.usage.input, output, messages, &heard.text);
        if ended.as_ref().err().is_none_or(|error| heard.begun || error.may_be_billed()) {
            reserved.settle(tokens, cost(tokens));
        }
        if ended.is_ok() {
            let mut replied = self.replied.lock();
            *replied = (replied.0.saturating_add(tokens.output), replied.1 + 1);
        }
        Ok(ended.map(|()| heard))
    }

    /// Tokens of a reply, as far as can be told from those before it.
    fn usual_length(&self) -> u64 {
        let (tokens, replies) = *self.replied.lock();
        tokens.checked_div(replies).unwrap_or(FIRST_GUESS)
    }

    /// Waits before the next attempt: exponential backoff with full jitter, but at least the `Retry-After` of the provider.
    async fn wait(&self, error: &ChatError, attempts: u32, limits: &RunLimits) -> Result<(), AskError> {
        let backoff = Backoff { first: Duration::from_millis(self.settings.backoff_ms), longest: LONGEST_WAIT };
        let share = self.rng.lock().random_range(0.0..=1.0);
        let pause = error.retry_after().saturating_add(backoff.with_jitter(attempts, share)).min(LONGEST_WAIT);
        tokio::select! {
            () = sleep(pause) => Ok(()),
            () = limits.stop.cancelled() => Err(AskError::Stopped),
        }
    }
}

/// A reply that broke off, or that nobody understands, may come whole the next time; a wrong key stays wrong.
fn may_pass(error: &ChatError) -> bool {
    !matches!(error, ChatError::Status { .. }) || error.is_retryable()
}

/// The part of a reply that has arrived.
#[derive(Default)]
struct PartialReply {
    text: String,
    /// Its first [`MOST_REASONING`] bytes.
    reasoning: String,
    /// Estimated tokens of all of it.
    reasoning_tokens: u64,
    usage: Usage,
    /// Its last [`MOST_NUMBERS`] numbers.
    numbers: Vec<NumberToken>,
    /// Whether the provider has begun to answer.
    begun: bool,
}

impl PartialReply {
    /// Reads a reply to its end. PostgreSQL keeps no NUL character, so none is let in.
    async fn listen(
        &mut self,
        model: &dyn ChatModel,
        messages: &[Message],
        sampling: &Sampling,
    ) -> Result<(), ChatError> {
        let mut reply = model.ask(messages, sampling);
        while let Some(part) = reply.next().await {
            self.begun |= part.is_ok();
            match part {
                Ok(ReplyPart::Text(part)) => self.text.extend(part.chars().filter(|c| *c != '\0')),
                Ok(ReplyPart::Reasoning(part)) => self.think(&part),
                Ok(ReplyPart::Numbers(numbers)) => self.count_numbers(numbers),
                Ok(ReplyPart::Usage(counted)) => self.usage = self.usage.updated(counted),
                Err(ChatError::Empty) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Numbers come before the text that they stand in.
    fn count_numbers(&mut self, numbers: Vec<NumberToken>) {
        let begin = self.text.len();
        self.numbers.extend(numbers.into_iter().map(|number| NumberToken { at: begin + number.at, ..number }));
        let surplus = self.numbers.len().saturating_sub(MOST_NUMBERS);
        self.numbers.drain(..surplus);
    }

    /// Keeps the beginning of the reasoning, and counts all of it: it is billed as part of the reply.
    fn think(&mut self, part: &str) {
        self.reasoning_tokens += estimate(part);
        let left = MOST_REASONING.saturating_sub(self.reasoning.len());
        let end = part.floor_char_boundary(left);
        self.reasoning.extend(part[..end].chars().filter(|c| *c != '\0'));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use futures_util::stream;
    use rand::SeedableRng;

    use super::*;
    use crate::domain::judging::budget::Budget;
    use crate::llm::ReplyStream;

    /// Plays one answer a request; then it says "again".
    #[derive(Default)]
    struct Scripted {
        answers: Mutex<VecDeque<Result<&'static str, ChatError>>>,
        asked: Mutex<Vec<Instant>>,
    }

    impl ChatModel for Scripted {
        fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
            self.asked.lock().push(Instant::now());
            let answer = self.answers.lock().pop_front().unwrap_or(Ok("again"));
            stream::iter([answer.map(|text| ReplyPart::Text(text.to_owned()))]).boxed()
        }
    }

    fn asked<const N: usize>(answers: [Result<&'static str, ChatError>; N]) -> (ModelClient, Arc<Scripted>) {
        let scripted = Arc::new(Scripted { answers: Mutex::new(answers.into()), ..Scripted::default() });
        let settings = BenchSettings { attempts: 3, backoff_ms: 1_000, give_up_after: 2 };
        let rng = ChaCha8Rng::seed_from_u64(7);
        (ModelClient::new(ModelId::new("m"), scripted.clone(), settings, rng), scripted)
    }

    fn status(status: u16, seconds: u64) -> ChatError {
        ChatError::Status { status, retry_after: Some(Duration::from_secs(seconds)) }
    }

    async fn ask(model: &ModelClient) -> Result<WholeReply, AskError> {
        model.ask(&[], Sampling::default(), &RunLimits::default()).await
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_tried_again_after_a_growing_wait() {
        let cut = ChatError::Connection("it broke off".into());
        let (model, scripted) = asked([Err(cut), Err(status(429, 7)), Ok("yes\0")]);
        let reply = ask(&model).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.attempts), ("yes", 3));
        let times = scripted.asked.lock().clone();
        assert!(times[1] - times[0] <= Duration::from_secs(1), "up to the first span");
        let second = times[2] - times[1];
        assert!(second >= Duration::from_secs(7) && second <= Duration::from_secs(9), "as asked, then the next span");
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_pass_is_asked_once() {
        let (model, scripted) = asked([Err(status(401, 0)), Err(status(400, 0))]);
        assert!(matches!(ask(&model).await, Err(AskError::Failed { attempts: 1, .. })), "a wrong key stays wrong");
        assert!(matches!(ask(&model).await, Err(AskError::Refused { .. })), "the request is unfit");
        assert_eq!(scripted.asked.lock().len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_fails_again_and_again_is_given_up_and_one_reply_forgets_failures() {
        let down = || Err(status(503, 0));
        let (model, scripted) =
            asked([down(), down(), down(), Ok("up"), down(), down(), down(), down(), down(), down()]);
        assert!(matches!(ask(&model).await, Err(AskError::Failed { attempts: 3, .. })));
        assert_eq!(ask(&model).await.unwrap().text, "up");
        for _ in 0..2 {
            assert!(matches!(ask(&model).await, Err(AskError::Failed { .. })));
        }
        assert_eq!(ask(&model).await, Err(AskError::GivenUp));
        assert_eq!(scripted.asked.lock().len(), 10, "a model that was given up is not asked");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_ends_the_wait_and_a_budget_counts_every_try() {
        let (model, scripted) = asked([Err(status(503, 50))]);
        let limits = RunLimits::default();
        let stop = async {
            sleep(Duration::from_secs(1)).await;
            limits.stop.cancel();
        };
        let (stopped, ()) = tokio::join!(model.ask(&[], Sampling::default(), &limits), stop);
        assert_eq!((stopped, scripted.asked.lock().len()), (Err(AskError::Stopped), 1));
        let (model, _) = asked([Err(status(503, 0)), Err(status(503, 0))]);
        let budget = BudgetTracker::new(Budget { max_calls: Some(2), max_cost: None });
        let limits = RunLimits { budget, ..RunLimits::default() };
        assert_eq!(model.ask(&[], Sampling::default(), &limits).await, Err(AskError::OverBudget));
        assert_eq!(limits.budget.spent().calls, 2);
    }

    /// Replies with these parts to every request.
    struct Breaking(Vec<Result<ReplyPart, ChatError>>);

    impl ChatModel for Breaking {
        fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
            stream::iter(self.0.clone()).boxed()
        }
    }

    /// What a request costs that ends like this, with a money of one for a token; the prompt has 12 characters.
    async fn cost_of(parts: Vec<Result<ReplyPart, ChatError>>) -> f64 {
        let settings = BenchSettings { attempts: 1, backoff_ms: 1, give_up_after: 2 };
        let model = Arc::new(Breaking(parts));
        let mut model = ModelClient::new(ModelId::new("m"), model, settings, ChaCha8Rng::seed_from_u64(7));
        model.prices = Some(Prices { input: 1e6, output: 1e6 });
        let limits = RunLimits::default();
        model.ask(&[Message::user("twelve signs")], Sampling::default(), &limits).await.unwrap_err();
        limits.budget.spent().cost
    }

    #[tokio::test]
    async fn a_failure_that_may_be_billed_costs_its_prompt_and_what_was_heard() {
        let text = || Ok(ReplyPart::Text("four".to_owned()));
        let broken = || Err(ChatError::Connection("it broke off".into()));
        let late = || Err(ChatError::Timeout { awaited: "first token", after: Duration::from_secs(1) });
        for (parts, tokens) in [
            (vec![text(), text(), broken()], 9.0),
            (vec![text(), Err(status(503, 0))], 8.0),
            (vec![late()], 7.0),
            (vec![Err(ChatError::Malformed("no event".into()))], 7.0),
            (vec![broken()], 7.0),
            (vec![Err(status(503, 0))], 0.0),
            (vec![Err(ChatError::Unreached("refused".into()))], 0.0),
        ] {
            let cost = cost_of(parts.clone()).await;
            assert!((cost - tokens).abs() < 1e-9, "{cost} instead of {tokens}: {parts:?}");
        }
    }
}
