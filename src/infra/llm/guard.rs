//! Wraps a model with timeouts, retries before the first token, and a circuit breaker.
//!
//! A reply's result is counted once, at its end. One that the visitor walks away from says nothing about the model and
//! is not counted; neither is a request that the provider found unfit, for that may be the prompt's fault, nor one that it
//! had no room for while it answered others of ours, for that is our own load.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use metrics::Histogram;
use parking_lot::{Mutex, MutexGuard};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::breaker::{Breaker, BreakerPhase, BreakerPolicy, BreakerState, Ticket};
use super::lazy_timer::LazyTimer;
use super::{ChatError, ChatModel, Message, ModelCard, ReplyPart, ReplyStream, Sampling, Usage};
use crate::infra::backoff::{Backoff, later};
use crate::infra::config::{ProviderSettings, Timeouts};
use crate::infra::metrics::{first_token, model_error};

/// Limits of time and repetition for one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Limits of time. The one for the connection is kept by the HTTP client.
    pub timeouts: Timeouts,
    /// Further tries before the first token.
    pub retries: u32,
    /// Longest wait before the first further try; doubled for each one after it.
    pub backoff: Duration,
    /// When the model rests.
    pub breaker: BreakerPolicy,
}

impl From<&ProviderSettings> for Limits {
    fn from(settings: &ProviderSettings) -> Self {
        Self {
            timeouts: settings.timeouts(),
            retries: settings.retries,
            backoff: Duration::from_millis(settings.retry_backoff_ms),
            breaker: BreakerPolicy {
                failures: settings.breaker_failures,
                rest: Duration::from_millis(settings.breaker_rest_ms),
            },
        }
    }
}

/// A model as the arena asks it.
pub struct GuardedModel {
    /// What is public about it once its name may be shown.
    pub card: ModelCard,
    /// Pairing weight; 0 pauses.
    pub weight: f64,
    shared: Arc<Shared>,
}

struct Shared {
    card: ModelCard,
    model: Arc<dyn ChatModel>,
    limits: Limits,
    breaker: Mutex<Breaker>,
    state: watch::Sender<BreakerState>,
    rng: Mutex<ChaCha8Rng>,
    first_token: Histogram,
    /// Replies that have begun to arrive and have not ended.
    arriving: AtomicUsize,
}

impl GuardedModel {
    /// Puts a guard around a model; `rng` spreads the waits between tries.
    #[must_use]
    pub fn new(card: ModelCard, weight: f64, model: Arc<dyn ChatModel>, limits: Limits, rng: ChaCha8Rng) -> Self {
        let breaker = Breaker::new(limits.breaker);
        let state = watch::Sender::new(breaker.state());
        let (breaker, rng) = (Mutex::new(breaker), Mutex::new(rng));
        let first_token = first_token(&card.id);
        let arriving = AtomicUsize::new(0);
        let shared = Arc::new(Shared { card: card.clone(), model, limits, breaker, state, rng, first_token, arriving });
        Self { card, weight, shared }
    }

    /// The same model with another public face and weight: its breaker, its limits and what is under way are shared.
    #[must_use]
    pub fn with(&self, card: ModelCard, weight: f64) -> Self {
        Self { card, weight, shared: Arc::clone(&self.shared) }
    }

    /// The same model behind a guard of its own that neither tries again nor lets it rest, for whoever does both.
    #[must_use]
    pub fn without_retries(&self, rng: ChaCha8Rng) -> Self {
        let Shared { model, limits, .. } = &*self.shared;
        let breaker = BreakerPolicy { failures: 0, ..limits.breaker };
        let limits = Limits { retries: 0, breaker, ..*limits };
        Self::new(self.card.clone(), self.weight, Arc::clone(model), limits, rng)
    }

    /// Whether the model may be paired: a reply would be let through now.
    #[must_use]
    pub fn healthy(&self) -> bool {
        lock(&self.shared.breaker).admits(Instant::now())
    }

    /// Lets the model rest until then, because it failed on another instance.
    pub fn rest(&self, until: Instant) {
        self.shared.with_breaker(|breaker| breaker.rest(until));
    }

    /// How long the model rests from now on; `None` where it does not.
    #[must_use]
    pub fn resting(&self) -> Option<Duration> {
        lock(&self.shared.breaker).resting(Instant::now())
    }

    /// The breaker's state.
    #[must_use]
    pub fn state(&self) -> BreakerState {
        *self.shared.state.borrow()
    }

    /// Tells of every change of the breaker's state, to store or to show it.
    #[must_use]
    pub fn watch_state(&self) -> watch::Receiver<BreakerState> {
        self.shared.state.subscribe()
    }
}

impl ChatModel for GuardedModel {
    /// As the model's own reply, with these errors beside: [`ChatError::BreakerOpen`], [`ChatError::Timeout`], and
    /// [`ChatError::Empty`] for a reply that ends without text. What the provider counted comes once, after the text.
    fn ask(&self, messages: &[Message], sampling: &Sampling) -> ReplyStream {
        let Some(permit) = Permit::take(&self.shared) else {
            return stream::iter([Err(ChatError::BreakerOpen)]).boxed();
        };
        let reply = GuardedReply::new(Arc::clone(&self.shared), messages.to_vec(), *sampling, permit);
        stream::unfold(reply, |mut reply| async move { reply.next().await.map(|item| (item, reply)) }).fuse().boxed()
    }
}

/// One reply under way.
struct GuardedReply {
    shared: Arc<Shared>,
    messages: Vec<Message>,
    sampling: Sampling,
    usage: Option<Usage>,
    permit: Permit,
    /// `None` before the first try, between tries and after the end; dropping it closes the connection.
    reply: Option<ReplyStream>,
    asked_at: Instant,
    first_token_by: Instant,
    end_by: Instant,
    /// When the latest part was handed over; until the next one is asked for, the arena is the one that waits.
    handed_over_at: Option<Instant>,
    /// Set from the first part to the end.
    flowing: Option<Arriving>,
    has_text: bool,
    ended: bool,
    timer: LazyTimer,
}

impl GuardedReply {
    fn new(shared: Arc<Shared>, messages: Vec<Message>, sampling: Sampling, permit: Permit) -> Self {
        let (now, timeouts) = (Instant::now(), shared.limits.timeouts);
        let (first_token_by, end_by) = (later(now, timeouts.first_token), later(now, timeouts.total));
        Self {
            shared,
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
            ended: false,
            timer: LazyTimer::default(),
        }
    }

    async fn next(&mut self) -> Option<Result<ReplyPart, ChatError>> {
        if self.ended {
            return None;
        }
        if let Some(at) = self.handed_over_at.take() {
            // The limit of the whole reply is the provider's time, not that of readers who hold the arena up.
            self.end_by += at.elapsed();
        }
        let result = if self.flowing.is_some() { self.next_part().await } else { self.first_part().await };
        match result {
            Ok(Some(part)) => {
                self.flowing.get_or_insert_with(|| Arriving::count(&self.shared));
                self.handed_over_at = Some(Instant::now());
                if !self.has_text && matches!(part, ReplyPart::Text(_)) {
                    self.has_text = true;
                    self.shared.first_token.record(self.asked_at.elapsed());
                }
                Some(Ok(part))
            }
            Ok(None) if self.has_text => {
                self.end();
                self.permit.give_back(Verdict::Answered);
                self.usage.take().map(|usage| Ok(ReplyPart::Usage(usage)))
            }
            Ok(None) => Some(Err(self.fail(ChatError::Empty))),
            Err(error) => Some(Err(self.fail(error))),
        }
    }

    /// Tries until a first part comes, the error is final, or another try cannot begin in time.
    async fn first_part(&mut self) -> Result<Option<ReplyPart>, ChatError> {
        let mut tries = 0;
        loop {
            let error = match self.part_by(self.first_token_by, "first token").await {
                Err(error) => error,
                part => return part,
            };
            let again_at = self.shared.wait_before_retry(&error, tries).map(|wait| later(Instant::now(), wait));
            match again_at {
                Some(again_at) if again_at < self.first_token_by => {
                    tries += 1;
                    model_error(&self.shared.card.id, error.kind());
                    tracing::debug!(model.id = %self.shared.card.id, retry.number = tries, %error, "asking again");
                    self.reply = None;
                    sleep_until(again_at).await;
                }
                _ => return Err(error),
            }
        }
    }

    async fn next_part(&mut self) -> Result<Option<ReplyPart>, ChatError> {
        self.part_by(later(Instant::now(), self.shared.limits.timeouts.idle), "next token").await
    }

    async fn part_by(&mut self, by: Instant, awaited: &'static str) -> Result<Option<ReplyPart>, ChatError> {
        let Shared { model, limits, .. } = &*self.shared;
        let reply = self.reply.get_or_insert_with(|| model.ask(&self.messages, &self.sampling));
        let usage = &mut self.usage;
        let said = async {
            loop {
                match reply.next().await {
                    Some(Ok(ReplyPart::Usage(counted))) => *usage = Some(usage.unwrap_or_default().updated(counted)),
                    part => return part,
                }
            }
        };
        match self.timer.until(by.min(self.end_by), said).await {
            Some(part) => part.transpose(),
            None if self.end_by <= by => {
                Err(ChatError::Timeout { awaited: "end of the reply", after: limits.timeouts.total })
            }
            None => {
                let after = if self.flowing.is_some() { limits.timeouts.idle } else { limits.timeouts.first_token };
                Err(ChatError::Timeout { awaited, after })
            }
        }
    }

    fn end(&mut self) {
        self.reply = None;
        self.flowing = None;
        self.ended = true;
    }

    fn fail(&mut self, error: ChatError) -> ChatError {
        self.end();
        model_error(&self.shared.card.id, error.kind());
        let is_our_load = error.may_be_overload() && self.shared.arriving.load(Ordering::Relaxed) > 0;
        let verdict = if error.is_request_error() || is_our_load { Verdict::None } else { Verdict::Failed };
        self.permit.give_back(verdict);
        error
    }
}

impl Shared {
    /// How long to wait before another try: full jitter over a doubling span, after what the provider asked to wait.
    fn wait_before_retry(&self, error: &ChatError, tries: u32) -> Option<Duration> {
        if tries >= self.limits.retries || !error.is_retryable() {
            return None;
        }
        // A try that could not begin in time is none, so no wait need be longer.
        let backoff = Backoff { first: self.limits.backoff, longest: self.limits.timeouts.first_token };
        let share = lock(&self.rng).random_range(0.0..=1.0);
        Some(error.retry_after().saturating_add(backoff.with_jitter(tries.saturating_add(1), share)))
    }

    /// Changes the breaker, logs and publishes a change of its state.
    fn with_breaker<T>(&self, change: impl FnOnce(&mut Breaker) -> T) -> T {
        let mut breaker = lock(&self.breaker);
        let result = change(&mut breaker);
        // Published under the lock, so that the last state published is the breaker's.
        let (new, mut old_phase) = (breaker.state(), None);
        self.state.send_if_modified(|state| {
            old_phase = (state.phase != new.phase).then_some(state.phase);
            std::mem::replace(state, new) != new
        });
        drop(breaker);
        if old_phase.is_some() {
            let BreakerState { phase, failures } = new;
            match phase {
                BreakerPhase::Open => {
                    tracing::warn!(model.id = %self.card.id, breaker.failures = failures, "circuit breaker open after failures");
                }
                BreakerPhase::HalfOpen => {
                    tracing::info!(model.id = %self.card.id, "circuit breaker half-open: trying the model")
                }
                BreakerPhase::Closed => {
                    tracing::info!(model.id = %self.card.id, "circuit breaker closed: the model answers again")
                }
            }
        }
        result
    }
}

/// What a reply says about its model.
enum Verdict {
    Answered,
    Failed,
    None,
}

/// Counts a reply that is arriving, until it is dropped.
struct Arriving(Arc<Shared>);

impl Arriving {
    fn count(shared: &Arc<Shared>) -> Self {
        shared.arriving.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.0.arriving.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The breaker's ticket; dropped without a verdict, it is given back as abandoned.
struct Permit {
    shared: Arc<Shared>,
    ticket: Option<Ticket>,
}

impl Permit {
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        let ticket = shared.with_breaker(|breaker| breaker.admit(Instant::now()))?;
        Some(Self { shared: Arc::clone(shared), ticket: Some(ticket) })
    }

    fn give_back(&mut self, verdict: Verdict) {
        let Some(ticket) = self.ticket.take() else { return };
        self.shared.with_breaker(|breaker| match verdict {
            Verdict::Answered => breaker.succeeded(ticket),
            Verdict::Failed => breaker.failed(ticket, Instant::now()),
            Verdict::None => breaker.abandoned(ticket),
        });
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.give_back(Verdict::None);
    }
}

/// A panic elsewhere leaves both the breaker and the rng in a valid state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use rand::SeedableRng;

    use super::*;
    use crate::domain::battle::ModelId;

    #[derive(Clone)]
    enum Step {
        Say(&'static str),
        Think(&'static str),
        Wait(u64),
        Fail(ChatError),
        Count(Usage),
    }
    use Step::{Count, Fail, Say, Think, Wait};

    /// Plays one script a try and keeps the times of the tries.
    #[derive(Default)]
    struct Scripted {
        scripts: Mutex<VecDeque<Vec<Step>>>,
        asked: Mutex<Vec<Instant>>,
    }

    impl ChatModel for Scripted {
        fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
            lock(&self.asked).push(Instant::now());
            let steps = lock(&self.scripts).pop_front().unwrap_or_else(|| vec![Say("again")]);
            stream::iter(steps)
                .filter_map(|step| async move {
                    match step {
                        Say(text) => Some(Ok(ReplyPart::Text(text.into()))),
                        Think(text) => Some(Ok(ReplyPart::Reasoning(text.into()))),
                        Fail(error) => Some(Err(error)),
                        Count(usage) => Some(Ok(ReplyPart::Usage(usage))),
                        Wait(seconds) => {
                            tokio::time::sleep(Duration::from_secs(seconds)).await;
                            None
                        }
                    }
                })
                .boxed()
        }
    }

    struct Rig {
        model: GuardedModel,
        scripted: Arc<Scripted>,
    }

    fn bench<const N: usize>(scripts: [Vec<Step>; N]) -> Rig {
        bench_with(Limits::from(&ProviderSettings::default()), scripts.into())
    }

    fn bench_with(limits: Limits, scripts: VecDeque<Vec<Step>>) -> Rig {
        let scripted = Arc::new(Scripted { scripts: Mutex::new(scripts), ..Scripted::default() });
        let card = ModelCard {
            id: ModelId::new("m"),
            name: "M".into(),
            organization: String::new(),
            license: String::new(),
            practice: false,
        };
        let rng = ChaCha8Rng::seed_from_u64(7);
        Rig { model: GuardedModel::new(card, 1.0, scripted.clone(), limits, rng), scripted }
    }

    impl Rig {
        async fn ask(&self) -> (String, Option<ChatError>) {
            let mut reply = self.model.reply(&[]);
            let (mut text, mut error) = (String::new(), None);
            while let Some(part) = reply.next().await {
                assert!(error.is_none(), "nothing comes after an error");
                match part {
                    Ok(ReplyPart::Text(part) | ReplyPart::Reasoning(part)) => text.push_str(&part),
                    Ok(ReplyPart::Usage(_)) => {}
                    Err(reason) => error = Some(reason),
                }
            }
            assert!(reply.next().await.is_none(), "an ended reply stays ended");
            (text, error)
        }

        fn asked(&self) -> usize {
            lock(&self.scripted.asked).len()
        }

        #[track_caller]
        fn check_state(&self, phase: BreakerPhase, failures: u32) {
            assert_eq!(self.model.state(), BreakerState { phase, failures });
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_counted_comes_once_after_the_text_and_is_no_first_part() {
        let counted = |input, output| Count(Usage { input, output });
        let bench = bench([
            vec![counted(Some(9), Some(1)), Fail(refused())],
            vec![counted(Some(7), Some(1)), Say("yes"), counted(None, Some(4))],
        ]);
        let parts: Vec<_> = bench.model.reply(&[]).collect().await;
        let usage = Usage { input: Some(7), output: Some(4) };
        assert_eq!(parts, [Ok(ReplyPart::Text("yes".into())), Ok(ReplyPart::Usage(usage))]);
        assert_eq!(bench.asked(), 2, "a count before the text keeps nobody from asking again");
    }

    fn refused() -> ChatError {
        ChatError::Connection("refused".into())
    }

    fn status(status: u16) -> ChatError {
        ChatError::Status { status, retry_after: None }
    }

    #[tokio::test(start_paused = true)]
    async fn text_and_reasoning_pass_through_in_order() {
        let bench = bench([vec![Think("hm "), Say("a"), Wait(19), Say("b")]]);
        assert_eq!(bench.ask().await, ("hm ab".into(), None));
        bench.check_state(BreakerPhase::Closed, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_the_arena_does_not_read_is_not_the_models() {
        let bench = bench([vec![Say("a"), Say("b"), Wait(19), Say("c")]]);
        let mut reply = bench.model.reply(&[]);
        for expected in ["a", "b", "c"] {
            assert_eq!(reply.next().await, Some(Ok(ReplyPart::Text(expected.into()))));
            tokio::time::sleep(Duration::from_secs(1_000)).await;
        }
        assert_eq!(reply.next().await, None);
        bench.check_state(BreakerPhase::Closed, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_before_the_first_token_is_tried_again_and_then_given_up() {
        let bench = bench([
            vec![Fail(refused())],
            vec![Fail(status(503))],
            vec![Say("ok")],
            vec![Fail(status(500))],
            vec![Fail(status(429))],
            vec![Fail(refused())],
        ]);
        assert_eq!(bench.ask().await, ("ok".into(), None));
        assert_eq!(bench.ask().await, (String::new(), Some(refused())));
        assert_eq!(bench.asked(), 6);
        bench.check_state(BreakerPhase::Closed, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_after_the_first_token_is_not_tried_again() {
        let bench = bench([vec![Say("a"), Fail(refused())]]);
        assert_eq!(bench.ask().await, ("a".into(), Some(refused())));
        assert_eq!(bench.asked(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn final_errors_are_not_tried_again() {
        for error in [status(400), status(401), status(403), status(404), ChatError::Reported] {
            let bench = bench([vec![Fail(error.clone())]]);
            assert_eq!(bench.ask().await, (String::new(), Some(error)));
            assert_eq!(bench.asked(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_the_provider_asks_for_is_kept_where_it_fits() {
        let asks = |seconds| ChatError::Status { status: 429, retry_after: Some(Duration::from_secs(seconds)) };
        let bench_fits = bench([vec![Fail(asks(10))]]);
        assert_eq!(bench_fits.ask().await.0, "again");
        let asked = lock(&bench_fits.scripted.asked).clone();
        assert!(asked[1] - asked[0] >= Duration::from_secs(10));

        for too_long in [31, u64::MAX] {
            let bench_long = bench([vec![Fail(asks(too_long))]]);
            let begun = Instant::now();
            assert_eq!(bench_long.ask().await.1, Some(asks(too_long)));
            assert_eq!(begun.elapsed(), Duration::ZERO, "no wait in vain");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn waits_between_tries_are_spread_and_bounded() {
        let mut waits = Vec::new();
        let bench = bench([]);
        for _ in 0..50 {
            *lock(&bench.scripted.scripts) = [vec![Fail(refused())], vec![Fail(refused())]].into();
            lock(&bench.scripted.asked).clear();
            bench.ask().await;
            let asked = lock(&bench.scripted.asked).clone();
            assert!(asked[1] - asked[0] <= Duration::from_millis(501));
            assert!(asked[2] - asked[1] <= Duration::from_millis(1001));
            waits.push(asked[1] - asked[0]);
        }
        waits.sort_unstable();
        assert!(waits[10] < Duration::from_millis(250) && waits[40] > Duration::from_millis(250), "{waits:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn each_limit_of_time_is_kept() {
        let seconds = Duration::from_secs;
        for (script, awaited, after) in [
            (vec![Wait(999)], "first token", seconds(30)),
            (vec![Say("a"), Wait(999)], "next token", seconds(20)),
            ([Say("a"), Wait(19)].into_iter().cycle().take(80).collect(), "end of the reply", seconds(300)),
        ] {
            let bench = bench([script]);
            let begun = Instant::now();
            assert_eq!(bench.ask().await.1, Some(ChatError::Timeout { awaited, after }));
            // The wheel of timers ticks in milliseconds.
            assert!(begun.elapsed() < after + Duration::from_millis(5), "{:?}", begun.elapsed());
            bench.check_state(BreakerPhase::Closed, 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_token_limit_covers_all_tries() {
        let bench = bench([vec![Wait(29), Fail(refused())], vec![Wait(29), Say("late")]]);
        let begun = Instant::now();
        assert!(bench.ask().await.1.is_some());
        assert!(begun.elapsed() <= Duration::from_millis(30_005), "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_reply_without_text_is_empty_even_with_reasoning() {
        for script in [vec![], vec![Think("hm")]] {
            assert_eq!(bench([script]).ask().await.1, Some(ChatError::Empty));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_rests_after_failures_and_is_then_tried_out() {
        let bench = bench([vec![Fail(status(401))], vec![Fail(ChatError::Reported)], vec![]]);
        let mut changes = bench.model.watch_state();
        for _ in 0..3 {
            bench.ask().await;
        }
        bench.check_state(BreakerPhase::Open, 3);
        assert!(changes.has_changed().unwrap() && changes.borrow_and_update().phase == BreakerPhase::Open);
        assert!(!bench.model.healthy());
        assert_eq!(bench.ask().await, (String::new(), Some(ChatError::BreakerOpen)));
        assert_eq!(bench.asked(), 3, "a resting model is not asked");

        tokio::time::advance(Duration::from_secs(30)).await;
        assert!(bench.model.healthy());
        let trial = bench.model.reply(&[]);
        assert!(!bench.model.healthy(), "one trial at a time");
        drop(trial);
        assert!(bench.model.healthy());
        assert_eq!(bench.ask().await.0, "again");
        bench.check_state(BreakerPhase::Closed, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reply_that_is_dropped_or_unfit_is_neither_success_nor_failure() {
        let bench = bench([vec![Fail(status(401))], vec![Say("a"), Say("b")], vec![Fail(status(400))]]);
        bench.ask().await;
        let mut reply = bench.model.reply(&[]);
        assert!(reply.next().await.unwrap().is_ok());
        drop(reply);
        bench.ask().await;
        bench.check_state(BreakerPhase::Closed, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_for_lack_of_room_is_our_load_while_the_model_answers_others_of_ours() {
        let no_room = || [vec![Fail(status(429))], vec![Fail(status(503))], vec![Wait(999)]];
        let limits = Limits { retries: 0, ..Limits::from(&ProviderSettings::default()) };
        let scripts = std::iter::once(vec![Say("a"), Say("b")]).chain(no_room()).chain(no_room());
        let bench = bench_with(limits, scripts.collect());
        let mut under_way = bench.model.reply(&[]);
        assert!(under_way.next().await.unwrap().is_ok());
        for _ in 0..3 {
            assert!(bench.ask().await.1.is_some());
        }
        bench.check_state(BreakerPhase::Closed, 0);

        drop(under_way);
        for _ in 0..3 {
            assert!(bench.ask().await.1.is_some());
        }
        bench.check_state(BreakerPhase::Open, 3);
    }

    #[tokio::test(start_paused = true)]
    async fn other_failures_count_however_much_is_under_way() {
        let bench = bench([vec![Say("a"), Say("b")], vec![Fail(status(401))], vec![Fail(ChatError::Reported)], vec![]]);
        let mut under_way = bench.model.reply(&[]);
        assert!(under_way.next().await.unwrap().is_ok());
        for _ in 0..3 {
            assert!(bench.ask().await.1.is_some());
        }
        bench.check_state(BreakerPhase::Open, 3);
    }
}
