use std::collections::VecDeque;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use rand::SeedableRng;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::domain::judging::budget::Budget;
use crate::llm::ReplyPart;

/// Returns one scripted answer per request, and "again" after the last one.
#[derive(Default)]
struct ScriptedAnswers {
    answers: Mutex<VecDeque<Result<&'static str, ChatError>>>,
    asked: Mutex<Vec<Instant>>,
}

impl ChatModel for ScriptedAnswers {
    fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
        self.asked.lock().push(Instant::now());
        let answer = self.answers.lock().pop_front().unwrap_or(Ok("again"));
        stream::iter([answer.map(|text| ReplyPart::Text(text.to_owned()))]).boxed()
    }
}

fn asked<const N: usize>(answers: [Result<&'static str, ChatError>; N]) -> (ModelClient, Arc<ScriptedAnswers>) {
    let scripted = Arc::new(ScriptedAnswers { answers: Mutex::new(answers.into()), ..ScriptedAnswers::default() });
    let settings = BenchSettings { attempts: 3, backoff_ms: 1_000, give_up_after: 2 };
    let rng = ChaCha8Rng::seed_from_u64(7);
    (ModelClient::new(ModelId::new("m"), scripted.clone(), settings, rng), scripted)
}

fn status(status: u16, seconds: u64) -> ChatError {
    ChatError::Status { status, retry_after: Some(Duration::from_secs(seconds)) }
}

/// Returns the reason why a run ended before there was a reply.
fn end_of(asked: &Result<WholeReply, AskError>) -> Option<RunEnd> {
    if let Err(AskError::Ended { reason, .. }) = asked { Some(*reason) } else { None }
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
    let (model, scripted) = asked([down(), down(), down(), Ok("up"), down(), down(), down(), down(), down(), down()]);
    assert!(matches!(ask(&model).await, Err(AskError::Failed { attempts: 3, .. })));
    assert_eq!(ask(&model).await.unwrap().text, "up");
    for _ in 0..2 {
        assert!(matches!(ask(&model).await, Err(AskError::Failed { .. })));
    }
    assert_eq!(end_of(&ask(&model).await), Some(RunEnd::GivenUp));
    assert_eq!(scripted.asked.lock().len(), 10, "a model that was given up is not asked");
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_and_a_budget_counts_every_try() {
    let (model, scripted) = asked([Err(status(503, 50))]);
    let limits = RunLimits::default();
    // Polled second: the first request has failed by then, and the next one waits.
    let stop = async { limits.stop.cancel() };
    let (stopped, ()) = tokio::join!(model.ask(&[], Sampling::default(), &limits), stop);
    assert_eq!((end_of(&stopped), scripted.asked.lock().len()), (Some(RunEnd::Stopped), 1));
    let (model, _) = asked([Err(status(503, 0)), Err(status(503, 0))]);
    let limits = RunLimits::new(CancellationToken::new(), Budget { max_calls: Some(2), max_cost: None });
    assert_eq!(end_of(&model.ask(&[], Sampling::default(), &limits).await), Some(RunEnd::OverBudget));
    assert_eq!(limits.budget.spent().calls, 2);
}

/// Replies with these parts to every request.
struct Breaking(Vec<Result<ReplyPart, ChatError>>);

impl ChatModel for Breaking {
    fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
        stream::iter(self.0.clone()).boxed()
    }
}

/// Returns the cost of a request that ends like this, at a price of one per token; the prompt has 12 characters.
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
    let counted = |input, output| Ok(ReplyPart::Usage(Usage { input: Some(input), output: Some(output) }));
    let late = || Err(ChatError::Timeout { awaited: "first token", after: Duration::from_secs(1) });
    for (parts, tokens) in [
        (vec![text(), text(), broken()], 9.0),
        (vec![text(), Err(status(503, 0))], 8.0),
        (vec![counted(50, 1), text(), text(), broken()], 52.0),
        (vec![counted(50, 9), text(), broken()], 59.0),
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

#[tokio::test(start_paused = true)]
async fn tries_that_failed_and_may_be_billed_are_reported_with_the_reply_and_with_the_failure() {
    let late = || Err(ChatError::Timeout { awaited: "first token", after: Duration::from_secs(1) });
    let question = [Message::user("twelve signs")];
    let ask = async |answers: [Result<&'static str, ChatError>; 3]| {
        let (model, _) = asked(answers);
        model.ask(&question, Sampling::default(), &RunLimits::default()).await
    };
    let reply = ask([late(), Err(status(503, 0)), Ok("yes")]).await.unwrap();
    assert_eq!((reply.attempts, reply.lost), (3, Tokens { input: 7, output: 0 }));
    let failed = ask([late(), late(), late()]).await.unwrap_err();
    let lost = Tokens { input: 21, output: 0 };
    assert!(matches!(failed, AskError::Failed { attempts: 3, lost: told, .. } if told == lost), "{failed:?}");
    let refused = ask([late(), Err(status(400, 0)), Ok("never asked")]).await.unwrap_err();
    let lost = Tokens { input: 7, output: 0 };
    assert!(matches!(refused, AskError::Refused { lost: told, .. } if told == lost), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn tries_that_failed_and_may_be_billed_are_reported_where_the_run_ends_before_the_next_try() {
    let late = || Err(ChatError::Timeout { awaited: "first token", after: Duration::from_secs(1) });
    let question = [Message::user("twelve signs")];
    let lost = Tokens { input: 7, output: 0 };
    let reported = |asked: &Result<WholeReply, AskError>, by: RunEnd| matches!(asked, Err(AskError::Ended { reason, attempts: 1, lost: told, .. }) if *reason == by && *told == lost);
    let (model, _) = asked([late()]);
    let limits = RunLimits::default();
    // Polled second: the first request has failed by then, and the next one waits.
    let stop = async { limits.stop.cancel() };
    let (stopped, ()) = tokio::join!(model.ask(&question, Sampling::default(), &limits), stop);
    assert!(reported(&stopped, RunEnd::Stopped), "{stopped:?}");

    let (model, _) = asked([late()]);
    let limits = RunLimits::new(CancellationToken::new(), Budget { max_calls: Some(1), max_cost: None });
    let over = model.ask(&question, Sampling::default(), &limits).await;
    assert!(reported(&over, RunEnd::OverBudget), "{over:?}");

    // Two other requests fail for good while this one waits for its retry.
    let (model, _) = asked([late(), Err(status(401, 0)), Err(status(401, 0))]);
    let limits = RunLimits::default();
    let ask = || model.ask(&question, Sampling::default(), &limits);
    let (given_up, ..) = tokio::join!(ask(), ask(), ask());
    assert!(reported(&given_up, RunEnd::GivenUp), "{given_up:?}");
}

/// Reports these token counts for each prompt and reply, a moment after the request.
struct CountedTokens {
    input: u64,
    output: u64,
    asked: AtomicU32,
}

impl ChatModel for CountedTokens {
    fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let text = stream::once(async {
            tokio::task::yield_now().await;
            Ok::<_, ChatError>(ReplyPart::Text("long".to_owned()))
        });
        let counted = Usage { input: Some(self.input), output: Some(self.output) };
        text.chain(stream::iter([Ok(ReplyPart::Usage(counted))])).boxed()
    }
}

/// Creates a model with this reply length and limit in tokens, at a price of one per token.
fn priced(tokens: u64, longest_reply: u64) -> (ModelClient, Arc<CountedTokens>) {
    let settings = BenchSettings { attempts: 1, backoff_ms: 1, give_up_after: 2 };
    let counted = Arc::new(CountedTokens { input: 0, output: tokens, asked: AtomicU32::new(0) });
    let client = ModelClient::new(ModelId::new("m"), counted.clone(), settings, ChaCha8Rng::seed_from_u64(7));
    let prices = Some(Prices { input: 0.0, output: 1e6 });
    (ModelClient { prices, longest_reply, ..client }, counted)
}

fn limits_of(max_cost: f64) -> RunLimits {
    RunLimits::new(CancellationToken::new(), Budget { max_calls: None, max_cost: Some(max_cost) })
}

#[tokio::test]
async fn requests_side_by_side_do_not_pass_a_budget_before_the_first_reply_has_shown_what_they_cost() {
    for (max_cost, sent) in [(5_000.0, 1), (10_000.0, 2), (100_000.0, 8)] {
        let (model, counted) = priced(4_000, 4_000);
        let limits = limits_of(max_cost);
        join_all((0..8).map(|_| model.ask(&[], Sampling::default(), &limits))).await;
        let spent = limits.budget.spent().cost;
        assert_eq!(counted.asked.load(Ordering::Relaxed), sent, "of a budget of {max_cost}");
        assert!((spent - 4_000.0 * f64::from(sent)).abs() < 1e-9, "{spent} of a budget of {max_cost}");
    }
}

#[tokio::test]
async fn requests_side_by_side_do_not_pass_a_budget_where_prompts_are_longer_than_estimated() {
    let settings = BenchSettings { attempts: 1, backoff_ms: 1, give_up_after: 2 };
    let counted = Arc::new(CountedTokens { input: 100, output: 0, asked: AtomicU32::new(0) });
    let client = ModelClient::new(ModelId::new("m"), counted.clone(), settings, ChaCha8Rng::seed_from_u64(7));
    let model = ModelClient { prices: Some(Prices { input: 1e6, output: 0.0 }), ..client };
    let limits = limits_of(350.0);
    model.ask(&[], Sampling::default(), &limits).await.unwrap();
    join_all((0..8).map(|_| model.ask(&[], Sampling::default(), &limits))).await;
    assert_eq!(counted.asked.load(Ordering::Relaxed), 3, "three times 100 of a budget of 350");
}

#[tokio::test]
async fn of_all_models_only_one_request_that_may_pass_the_budget_is_sent_at_a_time() {
    let models = [priced(4_000, 4_000), priced(4_000, 4_000), priced(4_000, 4_000)];
    let limits = limits_of(2_000.0);
    let asked = models.iter().map(|(model, _)| model.ask(&[], Sampling::default(), &limits));
    let over = join_all(asked).await.into_iter().filter(|reply| end_of(reply) == Some(RunEnd::OverBudget)).count();
    let sent: u32 = models.iter().map(|(_, counted)| counted.asked.load(Ordering::Relaxed)).sum();
    assert_eq!((sent, over), (1, 2));
}

#[tokio::test]
async fn a_request_waits_for_room_while_that_of_another_model_may_turn_out_cheaper() {
    let models = [priced(10, 980), priced(10, 30)];
    let limits = limits_of(1_000.0);
    let replies = join_all(models.iter().map(|(model, _)| model.ask(&[], Sampling::default(), &limits))).await;
    assert!(replies.iter().all(Result::is_ok) && !limits.budget.is_exhausted(), "{replies:?}");
    let spent = limits.budget.spent().cost;
    assert!((spent - 20.0).abs() < 1e-9, "{spent}");
}

#[tokio::test]
async fn a_stop_ends_the_wait_for_room_in_the_budget() {
    let (model, counted) = priced(10, 30);
    let limits = limits_of(1_000.0);
    let held = limits.reserve(980.0).unwrap();
    // Polled second: the request waits by then.
    let stop = async { limits.stop.cancel() };
    let (stopped, ()) = tokio::join!(model.ask(&[], Sampling::default(), &limits), stop);
    assert_eq!((end_of(&stopped), counted.asked.load(Ordering::Relaxed)), (Some(RunEnd::Stopped), 0));
    drop(held);
}

#[test]
fn a_first_reply_is_expected_to_be_as_long_as_the_extra_body_lets_it_be() {
    let (mut model, _) = asked([]);
    model.reply_limit = ReplyLimit::Fixed(Some(16_000));
    let sampling = Sampling { max_tokens: Some(2_048), ..Sampling::default() };
    let request = ClientRequest { request: "", messages: &[], sampling: &sampling };
    let cost = model.cost_to_expect(request, Some(Prices { input: 0.0, output: 1e6 }));
    assert!((cost - 16_000.0).abs() < 1e-9, "{cost}");
}

/// Replies without end in pieces of 1 KiB, and counts the pieces taken.
struct Endless(Arc<AtomicU32>);

impl ChatModel for Endless {
    fn ask(&self, _: &[Message], _: &Sampling) -> ReplyStream {
        let taken = self.0.clone();
        let piece = move || {
            taken.fetch_add(1, Ordering::Relaxed);
            Ok(ReplyPart::Text("x".repeat(1 << 10)))
        };
        stream::repeat_with(piece).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_end_is_cut_off_and_tried_no_more_often_than_others() {
    let settings = BenchSettings { attempts: 3, backoff_ms: 1, give_up_after: 2 };
    let taken = Arc::new(AtomicU32::new(0));
    let endless = Arc::new(Endless(taken.clone()));
    let model = ModelClient::new(ModelId::new("m"), endless, settings, ChaCha8Rng::seed_from_u64(7));
    let failed = ask(&model).await;
    assert!(matches!(&failed, Err(AskError::Failed { error: ChatError::Malformed(_), attempts: 3, .. })), "{failed:?}");
    assert_eq!(taken.load(Ordering::Relaxed), 3 * 1_025, "the pieces of 1 MiB, and the one that is too much");
}
