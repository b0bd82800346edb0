//! Wraps a model with timeouts, retries before the first token, and a circuit breaker.
//!
//! A reply's result is counted once, at its end or where the arena cuts it. A reply that the visitor abandons says nothing about the model
//! and is not counted; neither is a request that the provider rejected, which may be the prompt's fault, nor one refused for lack of
//! capacity while it answered others of ours, which is our own load. Other failures that a prompt may cause are counted once for each
//! visitor and conversation, and decide nothing: if there are enough of them, the arena sends a probe of its own
//! ([`ResilientModel::probe_if_suspected`]). If this model fails on the questions of most of several visitors and another one answers them,
//! that is enough ([`ResilientModel::failed_alone`]).

mod breaker_changes;
mod permit;
mod reply_waits;
mod visitor_question;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use metrics::Histogram;
use parking_lot::{Mutex, MutexGuard};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::batch::BatchApi;
use super::breaker::{Breaker, BreakerPolicy, BreakerState};
use super::failures_by_visitor::FailuresByVisitor;
use super::lazy_timer::LazyTimer;
use super::{ChatError, ChatModel, Message, ModelCard, ReplyPart, ReplyStream, Sampling, Usage};
use crate::backoff::{Backoff, later};
use crate::config::{ProviderSettings, Timeouts};
use crate::domain::battle::{RunId, VisitorId};
use crate::domain::visible_text::has_visible_text;
use crate::metrics::{first_token, first_token_histogram, model_error};
use breaker_changes::OpeningReason;
use permit::{ArrivingReplyGuard, BreakerPermit, ReplyOutcome};
pub use visitor_question::VisitorQuestion;

/// Maximum number of invisible bytes at the start of a reply, before its first visible character.
const MAX_BLANK_BYTES: usize = 16 << 10;
/// Maximum wait for the end of a visitor reply's body once its text has ended. The visitor sees when the reply ends: a longer wait would
/// reveal providers that send the rest late.
const VISITOR_CLOSING_TIMEOUT: Duration = Duration::from_millis(50);
/// Probe prompt that tests whether a model answers.
pub const PROBE_PROMPT: &str = "In one short sentence: what is the capital of France?";

/// Timeouts and retry limits of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyLimits {
    /// Timeouts. That of the connection is enforced by the HTTP client.
    pub timeouts: Timeouts,
    /// Retries before the first token.
    pub retries: u32,
    /// Maximum wait before the first retry; doubled for each one after it.
    pub backoff: Duration,
    /// Thresholds of the circuit breaker.
    pub breaker: BreakerPolicy,
}

impl From<&ProviderSettings> for ReplyLimits {
    fn from(settings: &ProviderSettings) -> Self {
        Self {
            timeouts: settings.timeouts(),
            retries: settings.retries,
            backoff: Duration::from_millis(settings.retry_backoff_ms),
            breaker: BreakerPolicy {
                failures: settings.breaker_failures,
                open_for: Duration::from_millis(settings.breaker_open_ms),
            },
        }
    }
}

/// A model with timeouts, retries and a circuit breaker.
pub struct ResilientModel {
    /// Public model card, shown once the model's name may be revealed.
    pub card: ModelCard,
    /// Pairing weight; 0 pauses.
    pub weight: f64,
    shared: Arc<Shared>,
}

struct Shared {
    card: ModelCard,
    model: Arc<dyn ChatModel>,
    limits: ReplyLimits,
    breaker: Mutex<Breaker>,
    visitors: Mutex<FailuresByVisitor>,
    state: watch::Sender<BreakerState>,
    rng: Mutex<ChaCha8Rng>,
    first_token: Histogram,
    /// Number of replies that are currently arriving.
    arriving: AtomicUsize,
}

impl ResilientModel {
    /// Wraps a model; `rng` randomises the waits between attempts.
    #[must_use]
    pub fn new(card: ModelCard, weight: f64, model: Arc<dyn ChatModel>, limits: ReplyLimits, rng: ChaCha8Rng) -> Self {
        let breaker = Breaker::new(limits.breaker);
        let state = watch::Sender::new(breaker.state());
        let shared = Shared {
            card: card.clone(),
            model,
            limits,
            breaker: Mutex::new(breaker),
            visitors: Mutex::default(),
            state,
            rng: Mutex::new(rng),
            first_token: first_token_histogram(&card.id),
            arriving: AtomicUsize::new(0),
        };
        Self { card, weight, shared: Arc::new(shared) }
    }

    /// Returns the same model with another card and weight: breaker, limits and running replies are shared.
    #[must_use]
    pub fn with(&self, card: ModelCard, weight: f64) -> Self {
        Self { card, weight, shared: Arc::clone(&self.shared) }
    }

    /// Whether both are the same model, regardless of card and weight.
    #[must_use]
    pub fn is_same_model(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns the same model in a separate wrapper without retries and breaker, for a caller that does both.
    #[must_use]
    pub fn without_retries(&self, rng: ChaCha8Rng) -> Self {
        let Shared { model, limits, .. } = &*self.shared;
        let breaker = BreakerPolicy { failures: 0, ..limits.breaker };
        let limits = ReplyLimits { retries: 0, breaker, ..*limits };
        Self::new(self.card.clone(), self.weight, Arc::clone(model), limits, rng)
    }

    /// Whether the model may be drawn for a pair.
    #[must_use]
    pub fn healthy(&self) -> bool {
        lock(&self.shared.breaker).may_be_drawn(Instant::now())
    }

    /// Probes the model if so many visitors' questions have failed that it may be down: the result opens or closes the circuit breaker.
    /// `None` if there is no suspicion, and while another probe is running.
    #[must_use]
    pub fn probe_if_suspected(&self) -> Option<BoxFuture<'static, ()>> {
        let permit = BreakerPermit::take_probe_ticket(&self.shared)?;
        let question = vec![Message::user(PROBE_PROMPT)];
        let mut reply = GuardedReply::new(Arc::clone(&self.shared), None, question, Sampling::default(), permit);
        reply.is_own_question = true;
        Some(async move { while reply.next().await.is_some() {} }.boxed())
    }

    /// Records that another model answered a visitor's question on which this one has just failed; no effect if the failure was not this
    /// model's, such as one of our own load. If the model has failed most of its latest visitors like that (`failures_by_visitor`), the
    /// circuit breaker opens, even if it might pass a probe.
    pub fn failed_alone(&self, visitor: &VisitorId, run: &RunId) {
        if !lock(&self.shared.visitors).failed_alone(visitor, run) {
            return;
        }
        let BreakerPolicy { failures, open_for } = self.shared.limits.breaker;
        self.shared.change_breaker(OpeningReason::FailedAlone, |breaker| {
            let now = Instant::now();
            if failures > 0 && breaker.remaining_open(now).is_none() {
                breaker.open_until(later(now, open_for));
            }
        });
    }

    /// Opens the circuit breaker until then, because the model failed on another instance.
    pub fn open_breaker_until(&self, until: Instant) {
        self.shared.change_breaker(OpeningReason::OtherInstance, |breaker| breaker.open_until(until));
    }

    /// Returns the remaining time for which the circuit breaker is open; `None` if it is not open.
    #[must_use]
    pub fn breaker_remaining(&self) -> Option<Duration> {
        lock(&self.shared.breaker).remaining_open(Instant::now())
    }

    /// Returns the breaker's state.
    #[must_use]
    pub fn state(&self) -> BreakerState {
        *self.shared.state.borrow()
    }

    /// Returns a receiver of every change of the breaker's state.
    #[must_use]
    pub fn watch_state(&self) -> watch::Receiver<BreakerState> {
        self.shared.state.subscribe()
    }

    /// Starts a reply to a visitor. If a failure may be caused by the question, the same question of another visitor counts too: many
    /// visitors ask the same, and a model that fails on it for all of them is not paired for a while.
    pub fn reply_to(&self, question: VisitorQuestion, messages: &[Message]) -> ReplyStream {
        self.guarded_reply(Some(question), messages, &Sampling::default())
    }

    fn guarded_reply(
        &self,
        question: Option<VisitorQuestion>,
        messages: &[Message],
        sampling: &Sampling,
    ) -> ReplyStream {
        let Some(permit) = BreakerPermit::take(&self.shared) else {
            return stream::iter([Err(ChatError::BreakerOpen)]).boxed();
        };
        let reply = GuardedReply::new(Arc::clone(&self.shared), question, messages.to_vec(), *sampling, permit);
        stream::unfold(reply, |mut reply| async move { reply.next().await.map(|item| (item, reply)) }).fuse().boxed()
    }
}

impl ChatModel for ResilientModel {
    /// Starts a reply like the wrapped model's, with these additional errors: [`ChatError::BreakerOpen`], [`ChatError::Timeout`], and
    /// [`ChatError::Empty`] for a reply that ends without visible text. The provider's token counts come once, after the text and before an
    /// error.
    fn ask(&self, messages: &[Message], sampling: &Sampling) -> ReplyStream {
        self.guarded_reply(None, messages, sampling)
    }

    /// Timeouts apply to single replies: a batch has a duration of its own.
    fn batches(&self) -> Option<Arc<dyn BatchApi>> {
        self.shared.model.batches()
    }

    fn batch_body(&self, messages: &[Message], sampling: &Sampling) -> Map<String, Value> {
        self.shared.model.batch_body(messages, sampling)
    }
}

/// A reply in progress.
struct GuardedReply {
    shared: Arc<Shared>,
    /// Set for a visitor's question.
    question: Option<VisitorQuestion>,
    /// Whether the request is a probe, so that its question cannot be the reason of a failure.
    is_own_question: bool,
    messages: Vec<Message>,
    sampling: Sampling,
    usage: Option<Usage>,
    permit: BreakerPermit,
    /// `None` before the first attempt, between attempts and after the end; dropping it closes the connection.
    reply: Option<ReplyStream>,
    asked_at: Instant,
    first_token_by: Instant,
    end_by: Instant,
    /// Time at which the latest part was returned; until the next one is polled, the provider is not the one that delays.
    handed_over_at: Option<Instant>,
    /// Set from the first part to the end.
    flowing: Option<ArrivingReplyGuard>,
    has_text: bool,
    /// Number of text bytes so far.
    text_bytes: usize,
    /// Whether the reply was counted as an answer.
    has_answered: bool,
    /// Time at which the provider marked the end of the text: nothing of the reply is late any more.
    text_ended_at: Option<Instant>,
    ended: bool,
    /// Failure that is returned after the provider's token counts.
    error: Option<ChatError>,
    timer: LazyTimer,
}

impl GuardedReply {
    fn new(
        shared: Arc<Shared>,
        question: Option<VisitorQuestion>,
        messages: Vec<Message>,
        sampling: Sampling,
        permit: BreakerPermit,
    ) -> Self {
        let (now, timeouts) = (Instant::now(), shared.limits.timeouts);
        let (first_token_by, end_by) = (later(now, timeouts.first_token), later(now, timeouts.total));
        Self {
            shared,
            question,
            is_own_question: false,
            messages,
            sampling,
            usage: None,
            permit,
            reply: None,
            asked_at: now,
            first_token_by,
            end_by,
            handed_over_at: None,
            flowing: None,
            has_text: false,
            text_bytes: 0,
            has_answered: false,
            text_ended_at: None,
            ended: false,
            error: None,
            timer: LazyTimer::default(),
        }
    }

    async fn next(&mut self) -> Option<Result<ReplyPart, ChatError>> {
        if self.ended {
            return self.error.take().map(Err);
        }
        if let Some(at) = self.handed_over_at.take() {
            // The total timeout measures the provider's time, not that of readers that delay the arena.
            self.end_by += at.elapsed();
        }
        let result = if self.flowing.is_some() { self.next_part().await } else { self.first_part().await };
        match result {
            Ok(Some(part)) => {
                self.flowing.get_or_insert_with(|| ArrivingReplyGuard::count(&self.shared));
                self.detect_visible_text(&part);
                if !self.has_text && self.text_bytes > MAX_BLANK_BYTES {
                    return Some(self.fail_after_usage(ChatError::Empty));
                }
                if self.has_reached_limit() {
                    self.note_answer();
                }
                self.handed_over_at = Some(Instant::now());
                Some(Ok(part))
            }
            Ok(None) if self.has_text => {
                self.end();
                self.note_answer();
                self.usage.take().map(|usage| Ok(ReplyPart::Usage(usage)))
            }
            Ok(None) => Some(self.fail_after_usage(ChatError::Empty)),
            Err(error) => Some(self.fail_after_usage(error)),
        }
    }

    /// Counts the text, and detects the first visible character.
    fn detect_visible_text(&mut self, part: &ReplyPart) {
        let ReplyPart::Text(text) = part else { return };
        self.text_bytes += text.len();
        if !self.has_text && has_visible_text(text) {
            self.has_text = true;
            first_token(&self.shared.first_token, self.asked_at.elapsed());
        }
    }

    /// Whether the reply has reached the visitor's maximum length: the rest is not read.
    fn has_reached_limit(&self) -> bool {
        self.has_text && self.question.as_ref().is_some_and(|question| self.text_bytes >= question.max_bytes)
    }

    /// Retries until a first part arrives, the error is final, or another attempt cannot begin in time.
    async fn first_part(&mut self) -> Result<Option<ReplyPart>, ChatError> {
        let mut tries = 0;
        loop {
            let error = match self.next_part_before(self.first_token_by, "first token").await {
                Err(error) => error,
                part => return part,
            };
            let again_at = self.shared.wait_before_retry(&error, tries).map(|wait| later(Instant::now(), wait));
            match again_at {
                Some(again_at) if again_at < self.first_token_by => {
                    tries += 1;
                    model_error(&self.shared.card.id, error.kind());
                    tracing::debug!(model.id = %self.shared.card.id, retry.number = tries, %error, "asking again");
                    (self.reply, self.text_ended_at) = (None, None);
                    sleep_until(again_at).await;
                    self.extend_deadlines_by_stall(again_at, again_at);
                }
                _ => return Err(error),
            }
        }
    }

    async fn next_part(&mut self) -> Result<Option<ReplyPart>, ChatError> {
        self.next_part_before(later(Instant::now(), self.shared.limits.timeouts.idle), "next token").await
    }

    fn end(&mut self) {
        self.reply = None;
        self.flowing = None;
        self.ended = true;
    }

    /// Fails. The provider's token counts are returned before the error, since they may be billed.
    fn fail_after_usage(&mut self, error: ChatError) -> Result<ReplyPart, ChatError> {
        let error = self.fail(error);
        match self.usage.take() {
            Some(usage) => {
                self.error = Some(error);
                Ok(ReplyPart::Usage(usage))
            }
            None => Err(error),
        }
    }

    fn fail(&mut self, error: ChatError) -> ChatError {
        self.end();
        model_error(&self.shared.card.id, error.kind());
        let is_our_load = error.may_be_overload() && self.shared.arriving.load(Ordering::Relaxed) > 0;
        // A question can cause an empty reply, as a refused one: its visitor could disable the model for all.
        let may_be_the_question = error.is_request_error() || error == ChatError::Empty;
        if !is_our_load
            && !self.has_answered
            && (may_be_the_question || error.may_concern_one_conversation())
            && let Some(question) = &self.question
        {
            lock(&self.shared.visitors).failed(&question.visitor, question.run.as_ref());
        }
        let verdict = match () {
            () if is_our_load => ReplyOutcome::None,
            () if self.is_own_question => ReplyOutcome::Failed,
            () if may_be_the_question => ReplyOutcome::None,
            () if error.may_concern_one_conversation() => ReplyOutcome::FailedOn(self.fingerprint()),
            () => ReplyOutcome::Failed,
        };
        self.permit.return_ticket(verdict);
        error
    }

    /// Counts the reply as an answer, once.
    fn note_answer(&mut self) {
        if std::mem::replace(&mut self.has_answered, true) {
            return;
        }
        self.permit.return_ticket(ReplyOutcome::Answered);
        if let Some(question) = &self.question {
            lock(&self.shared.visitors).answered(&question.visitor);
        }
    }

    /// Hashes a visitor's first message to identify the conversation, so that it counts once however it continues; there is no incentive to
    /// forge a collision.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.question.as_ref().map(|question| &question.visitor).hash(&mut hasher);
        self.messages.first().map(|message| &message.content).hash(&mut hasher);
        hasher.finish()
    }
}

impl Shared {
    /// Returns the wait before a retry: full jitter over a doubling interval, added to the wait that the provider requested.
    fn wait_before_retry(&self, error: &ChatError, tries: u32) -> Option<Duration> {
        if tries >= self.limits.retries || !error.is_retryable() {
            return None;
        }
        // An attempt that could not begin in time is skipped, so no wait needs to be longer.
        let backoff = Backoff { first: self.limits.backoff, longest: self.limits.timeouts.first_token };
        let share = lock(&self.rng).random_range(0.0..=1.0);
        Some(error.retry_after().saturating_add(backoff.with_jitter(tries.saturating_add(1), share)))
    }
}

/// Locks; a panic elsewhere leaves both the breaker and the rng in a valid state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests;
