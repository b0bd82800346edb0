//! Behaviour specific to visitors' questions.

use super::*;

/// Number of visitors with a lone failure at which the breaker opens.
const ENOUGH: usize = 8;

fn visitor(number: usize) -> VisitorId {
    VisitorId::new(format!("visitor-{number}"))
}

impl GuardFixture {
    /// Sends a question of this visitor.
    async fn ask_for(&self, number: usize) -> Vec<Result<ReplyPart, ChatError>> {
        self.ask_in(number, &run()).await
    }

    /// Sends a question of this visitor in the given run.
    async fn ask_in(&self, number: usize, run: &RunId) -> Vec<Result<ReplyPart, ChatError>> {
        let question = VisitorQuestion { run: Some(run.clone()), ..question_of(visitor(number).as_str()) };
        self.model.reply_to(question, &[Message::user("Hello")]).collect().await
    }

    /// Sends a question that another model answers if this one fails.
    async fn fail_alone(&self, number: usize) {
        let reply = self.ask_for(number).await;
        assert!(matches!(reply.as_slice(), [Err(_)]), "{reply:?}");
        self.model.failed_alone(&visitor(number), &run());
    }

    /// Sends a question of this visitor whose reply is cut after its first part.
    async fn cut_for(&self, number: usize) {
        let question = VisitorQuestion { max_bytes: 4, ..question_of(visitor(number).as_str()) };
        let mut reply = self.model.reply_to(question, &[Message::user("Hello")]);
        assert_eq!(reply.next().await, Some(Ok(ReplyPart::Text("long".into()))));
    }
}

fn run() -> RunId {
    RunId::new("here.1")
}

fn without_retries(scripts: Vec<Vec<ScriptStep>>) -> GuardFixture {
    bench_with(ReplyLimits { retries: 0, ..ReplyLimits::from(&ProviderSettings::default()) }, scripts.into())
}

#[tokio::test(start_paused = true)]
async fn a_visitor_waits_no_longer_for_a_provider_that_is_late_with_the_rest_than_a_step_lasts() {
    let usage = Usage { input: Some(7), output: Some(1) };
    let counted_after = |wait| vec![Say("a"), EndText, WaitMs(wait), Count(usage)];
    let unfinished = vec![Say("a"), EndText, Say("b"), Fail(ChatError::Reported)];
    let bench = bench([counted_after(40), counted_after(60), counted_after(60), unfinished]);
    assert_eq!(bench.ask_for(1).await, [Ok(ReplyPart::Text("a".into())), Ok(ReplyPart::Usage(usage))]);
    assert_eq!(bench.ask_for(1).await, [Ok(ReplyPart::Text("a".into()))], "a step lasts 50 ms");
    bench.check_state(BreakerPhase::Closed, 0);

    let counted: Vec<_> = bench.model.reply(&[]).collect().await;
    assert_eq!(counted, [Ok(ReplyPart::Text("a".into())), Ok(ReplyPart::Usage(usage))], "others need the count");
    let text = |text: &str| Ok(ReplyPart::Text(text.into()));
    assert_eq!(bench.ask_for(1).await, [text("a"), text("b"), Err(ChatError::Reported)], "what has come counts");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_several_visitors_alone_is_not_paired_although_it_answers_the_arenas_own_question() {
    // Failures of every kind that a question may cause: none of them opens the breaker by itself.
    let kinds = [ChatError::Empty, status(400), status(500), ChatError::Reported];
    let failing = kinds.iter().cycle().take(ENOUGH).map(|error| vec![Fail(error.clone())]);
    let bench = without_retries(failing.chain([vec![Say("Paris.")], vec![Fail(status(400))]]).collect());
    for number in 1..ENOUGH {
        bench.fail_alone(number).await;
        assert!(bench.model.healthy(), "after {number}");
    }
    bench.ask_for(ENOUGH).await;
    bench.model.probe_if_suspected().unwrap().await;
    bench.check_state(BreakerPhase::Closed, 0);
    bench.model.failed_alone(&visitor(ENOUGH), &run());
    assert_eq!(bench.model.state().phase, BreakerPhase::Open);
    assert!(!bench.model.healthy());

    tokio::time::advance(Duration::from_secs(30)).await;
    assert!(bench.model.healthy(), "then it is tried");
    bench.fail_alone(ENOUGH + 1).await;
    assert!(!bench.model.healthy(), "and is out again after the next visitor");
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!(bench.ask_for(ENOUGH + 2).await, [Ok(ReplyPart::Text("again".into()))]);
    bench.check_state(BreakerPhase::Closed, 0);
}

#[tokio::test(start_paused = true)]
async fn one_visitor_and_failures_of_all_models_take_it_from_nobody() {
    let failing = |times: usize| vec![vec![Fail(status(400))]; times];
    let bench = without_retries(failing(3 * ENOUGH));
    for _ in 0..2 * ENOUGH {
        bench.fail_alone(1).await;
    }
    for number in 2..=ENOUGH + 1 {
        bench.ask_for(number).await;
    }
    assert!(bench.model.healthy(), "a question that no model answers says nothing of this one");

    let never = BreakerPolicy { failures: 0, open_for: Duration::from_secs(30) };
    let limits = ReplyLimits { retries: 0, breaker: never, ..ReplyLimits::from(&ProviderSettings::default()) };
    let bench = bench_with(limits, failing(ENOUGH).into());
    for number in 0..ENOUGH {
        bench.fail_alone(number).await;
    }
    assert!(bench.model.healthy(), "a breaker that never opens");
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_ours_does_not_make_an_earlier_one_a_lone_failure() {
    // Three consecutive failures unrelated to the question would open the breaker by themselves.
    let often = BreakerPolicy { failures: 1_000, open_for: Duration::from_secs(30) };
    let limits = ReplyLimits { retries: 0, breaker: often, ..ReplyLimits::from(&ProviderSettings::default()) };
    let unreached = || vec![Fail(ChatError::Unreached("no free port".into()))];
    let scripts = (0..2 * ENOUGH).flat_map(|_| [vec![Fail(status(400))], unreached()]).collect();
    let bench = bench_with(limits, scripts);
    let later = RunId::new("here.2");
    for number in 0..2 * ENOUGH {
        // No model answers the first question, and the second one does not reach this one.
        bench.ask_for(number).await;
        bench.ask_in(number, &later).await;
        bench.model.failed_alone(&visitor(number), &later);
        assert!(bench.model.healthy(), "after {number}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_cut_at_its_limit_is_an_answer() {
    let long = || vec![Say("long"), Say("er")];
    let failing = || vec![Fail(status(400))];
    let scripts = (0..3).map(|_| long()).chain((0..9).map(|_| failing())).chain([long()]).collect();
    let bench = without_retries(scripts);
    for number in 0..3 {
        bench.cut_for(number).await;
    }
    for number in 10..10 + ENOUGH {
        bench.fail_alone(number).await;
        assert!(bench.model.healthy(), "three visitors have their reply, and fewer than nine have none");
    }
    bench.fail_alone(10 + ENOUGH).await;
    assert_eq!(bench.model.state().phase, BreakerPhase::Open);
    tokio::time::advance(Duration::from_secs(30)).await;
    bench.cut_for(0).await;
    assert_eq!(bench.model.state().phase, BreakerPhase::Closed);
}
