mod stalls;
mod visitors;

use std::collections::VecDeque;

use rand::SeedableRng;

use super::*;
use crate::domain::battle::ModelId;
use crate::llm::breaker::BreakerPhase;

#[derive(Clone)]
enum ScriptStep {
    Say(&'static str),
    Think(&'static str),
    Wait(u64),
    WaitMs(u64),
    Fail(ChatError),
    Count(Usage),
    EndText,
}
use ScriptStep::{Count, EndText, Fail, Say, Think, Wait, WaitMs};

/// Plays one script per attempt and records the times of the attempts.
#[derive(Default)]
struct ScriptedTries {
    scripts: Mutex<VecDeque<Vec<ScriptStep>>>,
    asked: Mutex<Vec<Instant>>,
}

impl ChatModel for ScriptedTries {
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
                    EndText => Some(Ok(ReplyPart::TextEnded)),
                    Wait(seconds) => {
                        tokio::time::sleep(Duration::from_secs(seconds)).await;
                        None
                    }
                    WaitMs(milliseconds) => {
                        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                        None
                    }
                }
            })
            .boxed()
    }
}

struct GuardFixture {
    model: ResilientModel,
    scripted: Arc<ScriptedTries>,
}

fn bench<const N: usize>(scripts: [Vec<ScriptStep>; N]) -> GuardFixture {
    bench_with(ReplyLimits::from(&ProviderSettings::default()), scripts.into())
}

fn bench_with(limits: ReplyLimits, scripts: VecDeque<Vec<ScriptStep>>) -> GuardFixture {
    let scripted = Arc::new(ScriptedTries { scripts: Mutex::new(scripts), ..ScriptedTries::default() });
    let card = ModelCard {
        id: ModelId::new("m"),
        name: "M".into(),
        organization: String::new(),
        license: String::new(),
        practice: false,
    };
    let rng = ChaCha8Rng::seed_from_u64(7);
    GuardFixture { model: ResilientModel::new(card, 1.0, scripted.clone(), limits, rng), scripted }
}

/// A question whose reply no test cuts.
fn question_of(visitor: &str) -> VisitorQuestion {
    VisitorQuestion { visitor: VisitorId::new(visitor), run: Some(RunId::new("here.1")), max_bytes: 1_000 }
}

impl GuardFixture {
    /// Sends a different question each time.
    async fn ask(&self) -> (String, Option<ChatError>) {
        self.ask_about(&format!("question {}", self.asked())).await
    }

    async fn ask_about(&self, question: &str) -> (String, Option<ChatError>) {
        let mut reply = self.model.reply(&[Message::user(question)]);
        let (mut text, mut error) = (String::new(), None);
        while let Some(part) = reply.next().await {
            assert!(error.is_none(), "nothing comes after an error");
            match part {
                Ok(ReplyPart::Text(part) | ReplyPart::Reasoning(part)) => text.push_str(&part),
                Ok(ReplyPart::Usage(_) | ReplyPart::Numbers(_) | ReplyPart::TextEnded) => {}
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

#[tokio::test(start_paused = true)]
async fn what_was_counted_of_a_reply_that_fails_comes_before_the_error() {
    let usage = Usage { input: Some(7), output: Some(2_048) };
    let bench = bench([vec![Count(usage)], vec![Say("a"), Count(usage), Fail(refused())]]);
    let silent: Vec<_> = bench.model.reply(&[]).collect().await;
    assert_eq!(silent, [Ok(ReplyPart::Usage(usage)), Err(ChatError::Empty)]);
    let broken: Vec<_> = bench.model.reply(&[]).collect().await;
    assert_eq!(broken, [Ok(ReplyPart::Text("a".into())), Ok(ReplyPart::Usage(usage)), Err(refused())]);
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
        // The timer wheel ticks in milliseconds.
        assert!(begun.elapsed() < after + Duration::from_millis(5), "{:?}", begun.elapsed());
        bench.check_state(BreakerPhase::Closed, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_whose_text_has_ended_is_whole_where_nothing_more_comes_in_time() {
    let usage = Usage { input: Some(7), output: Some(1) };
    let late_after_all: Vec<ScriptStep> =
        [Say("a"), Wait(19)].into_iter().cycle().take(30).chain([EndText, Wait(999)]).collect();
    let bench = bench([
        vec![Say("a"), EndText, Count(usage), Wait(999)],
        late_after_all,
        vec![EndText, Wait(999)],
        vec![Say("a"), EndText, Fail(ChatError::Reported)],
    ]);
    let parts: Vec<_> = bench.model.reply(&[]).collect().await;
    assert_eq!(parts, [Ok(ReplyPart::Text("a".into())), Ok(ReplyPart::Usage(usage))]);
    assert_eq!(bench.ask().await, ("a".repeat(15), None), "the limit of the whole reply does not matter then either");
    bench.check_state(BreakerPhase::Closed, 0);
    assert_eq!(bench.ask().await, (String::new(), Some(ChatError::Empty)));
    assert_eq!(
        bench.ask().await,
        ("a".into(), Some(ChatError::Reported)),
        "a failure that the provider reports is one"
    );
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
    for script in [vec![], vec![Think("hm")], vec![Say(" \n"), Say("\t")], vec![Say("\0"), Say("\u{200b}\u{7}")]] {
        assert_eq!(bench([script]).ask().await.1, Some(ChatError::Empty));
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_of_endless_white_space_ends_as_an_empty_one() {
    let blank = Say("                                                                ");
    let endless: Vec<ScriptStep> = std::iter::repeat_n(blank, 1_000).collect();
    let (said, error) = bench([endless.clone()]).ask().await;
    assert_eq!((said.len(), error), (MAX_BLANK_BYTES, Some(ChatError::Empty)));
    let begun = [vec![Say("a")], endless].concat();
    assert_eq!(bench([begun]).ask().await, (format!("a{}", " ".repeat(64_000)), None));
}

#[tokio::test(start_paused = true)]
async fn a_visitor_whose_question_gets_no_answer_takes_the_model_from_nobody() {
    let bench = bench([vec![], vec![Think("hm")], vec![Say("\n")], vec![]]);
    for _ in 0..4 {
        assert_eq!(bench.ask().await.1, Some(ChatError::Empty));
    }
    bench.check_state(BreakerPhase::Closed, 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_fails_again_and_again_counts_once_unless_the_failure_cannot_be_its_own() {
    let limits = ReplyLimits { retries: 0, ..ReplyLimits::from(&ProviderSettings::default()) };
    let odd = [status(500), ChatError::Reported, status(403), status(500)].map(|error| vec![Fail(error)]);
    let bench = bench_with(limits, odd.into());
    for _ in 0..4 {
        assert!(bench.ask_about("odd").await.1.is_some());
    }
    bench.check_state(BreakerPhase::Closed, 1);

    let down = [status(401), status(502), refused()].map(|error| vec![Fail(error)]);
    let unreached = ChatError::Unreached("refused".into());
    let bench = bench_with(limits, [vec![Fail(unreached)]].into_iter().chain(down).collect());
    for _ in 0..3 {
        assert!(bench.ask_about("odd").await.1.is_some());
    }
    bench.check_state(BreakerPhase::Open, 3);
}

#[tokio::test(start_paused = true)]
async fn questions_that_fail_never_open_the_breaker_and_the_arenas_own_question_decides() {
    let failing = || vec![Fail(ChatError::Reported)];
    let answering = vec![Say("Paris.")];
    let scripts = [failing(), failing(), failing(), failing(), answering, failing(), failing(), failing(), vec![]];
    let bench = bench_with(ReplyLimits::from(&ProviderSettings::default()), scripts.into());
    let ask = async |visitor: &str| {
        let reply = bench.model.reply_to(question_of(visitor), &[Message::user("Hello")]);
        reply.collect::<Vec<_>>().await
    };
    for visitor in ["one", "one", "two"] {
        assert_eq!(ask(visitor).await, [Err(ChatError::Reported)]);
    }
    bench.check_state(BreakerPhase::Closed, 2);
    assert!(bench.model.probe_if_suspected().is_none());
    ask("three").await;
    bench.check_state(BreakerPhase::Closed, 3);
    assert!(bench.model.healthy(), "visitors alone take it from nobody");
    bench.model.probe_if_suspected().unwrap().await;
    bench.check_state(BreakerPhase::Closed, 0);

    for visitor in ["one", "two", "three"] {
        ask(visitor).await;
    }
    bench.model.probe_if_suspected().unwrap().await;
    bench.check_state(BreakerPhase::Open, 4);
    assert_eq!(bench.asked(), 9, "an empty reply to the arena's own question is a failure");
}

#[tokio::test(start_paused = true)]
async fn a_trial_with_a_question_that_fails_is_decided_by_the_arenas_own_question() {
    let down = || vec![Fail(status(401))];
    let scripts = [down(), down(), down(), vec![Fail(ChatError::Reported)], vec![Fail(status(500))]];
    let limits = ReplyLimits { retries: 0, ..ReplyLimits::from(&ProviderSettings::default()) };
    let bench = bench_with(limits, scripts.into());
    for _ in 0..3 {
        bench.ask().await;
    }
    tokio::time::advance(Duration::from_secs(30)).await;
    bench.ask().await;
    bench.check_state(BreakerPhase::HalfOpen, 4);
    assert!(!bench.model.healthy(), "it is not drawn before that");
    bench.model.probe_if_suspected().unwrap().await;
    bench.check_state(BreakerPhase::Open, 5);
}

#[tokio::test(start_paused = true)]
async fn an_own_question_that_finds_no_room_beside_our_load_decides_nothing() {
    let failing = || vec![Fail(ChatError::Reported)];
    let busy = vec![Say("a"), Say("b")];
    let scripts = [failing(), failing(), busy, failing(), vec![Fail(status(429))]];
    let limits = ReplyLimits { retries: 0, ..ReplyLimits::from(&ProviderSettings::default()) };
    let bench = bench_with(limits, scripts.into());
    bench.ask().await;
    bench.ask().await;
    let mut under_way = bench.model.reply(&[]);
    assert!(under_way.next().await.unwrap().is_ok());
    bench.ask().await;
    bench.model.probe_if_suspected().unwrap().await;
    bench.check_state(BreakerPhase::Closed, 3);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_fails_with_each_of_its_questions_counts_once() {
    let failing = std::iter::repeat_with(|| vec![Fail(ChatError::Reported)]).take(4);
    let bench = bench_with(ReplyLimits::from(&ProviderSettings::default()), failing.collect());
    let ask = async |first: &str, last: &str| {
        let messages = [Message::user(first), Message::assistant("Yes?"), Message::user(last)];
        bench.model.reply_to(question_of("one"), &messages).collect::<Vec<_>>().await
    };
    for last in ["odd", "odder", "oddest"] {
        assert_eq!(ask("Hello", last).await, [Err(ChatError::Reported)]);
    }
    bench.check_state(BreakerPhase::Closed, 1);
    ask("Good morning", "odd").await;
    bench.check_state(BreakerPhase::Closed, 2);
}

#[tokio::test(start_paused = true)]
async fn a_model_rests_after_failures_and_is_then_tried_out() {
    let bench = bench([vec![Fail(ChatError::Reported)], vec![Fail(status(403))], vec![Fail(status(401))]]);
    let mut changes = bench.model.watch_state();
    for _ in 0..3 {
        bench.ask().await;
    }
    bench.check_state(BreakerPhase::Open, 3);
    assert!(changes.has_changed().unwrap() && changes.borrow_and_update().phase == BreakerPhase::Open);
    assert!(!bench.model.healthy());
    assert_eq!(bench.ask().await, (String::new(), Some(ChatError::BreakerOpen)));
    assert_eq!(bench.asked(), 3, "a model whose breaker is open is not asked");

    tokio::time::advance(Duration::from_secs(30)).await;
    assert!(bench.model.healthy());
    let trial = bench.model.reply(&[]);
    assert!(!bench.model.healthy(), "one trial at a time");
    assert_eq!(bench.model.breaker_remaining(), None, "who chooses it does not learn of the trial");
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
    let no_room = || [vec![Wait(999)], vec![Fail(status(429))], vec![Fail(status(503))]];
    let limits = ReplyLimits { retries: 0, ..ReplyLimits::from(&ProviderSettings::default()) };
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
    let [one, two, three] = [ChatError::Reported, status(403), status(401)].map(|error| vec![Fail(error)]);
    let bench = bench([vec![Say("a"), Say("b")], one, two, three]);
    let mut under_way = bench.model.reply(&[]);
    assert!(under_way.next().await.unwrap().is_ok());
    for _ in 0..3 {
        assert!(bench.ask().await.1.is_some());
    }
    bench.check_state(BreakerPhase::Open, 3);
}
