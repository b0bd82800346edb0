//! What a visitor meets who does too much.

use std::sync::atomic::{AtomicUsize, Ordering};

use langya::domain::time::Timestamp;
use langya::infra::config::{LimitSettings, PacingMode, Settings, WindowLimits};
use langya::infra::llm::ChatError;
use langya::infra::llm::breaker::{BreakerPhase, BreakerPolicy};
use langya::infra::llm::resilient_model::ReplyLimits;
use serde_json::{Value, json};

use crate::support::arena::{NO_LIMITS, TestArena, quick_limits};
use crate::support::scripted::{Scripted, Step};
use crate::support::until;
use crate::support::visitor::{Visitor, http};

async fn arena(limits: LimitSettings) -> TestArena {
    TestArena::start_with(&[("one", &Scripted::saying("One.")), ("two", &Scripted::saying("Two."))], |settings| {
        settings.limits = limits;
        settings.server.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await
}

async fn votes(arena: &TestArena) -> usize {
    arena.app.store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 100).await.unwrap().len()
}

#[actix_web::test]
async fn questions_and_regenerated_answers_count_as_turns_and_refusals_are_reported() {
    let arena = arena(LimitSettings { turns: WindowLimits::new(3, 0, 0), ..NO_LIMITS }).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "message", "prompt": "And then?"})).await;
    visitor.until_ready().await;
    visitor.send(json!({"type": "regenerate"})).await;
    visitor.until_ready().await;
    for more in [
        json!({"type": "regenerate"}),
        json!({"type": "message", "prompt": "And?"}),
        json!({"type": "start", "prompt": "New?"}),
    ] {
        visitor.send(more).await;
        let refused = visitor.next().await;
        assert_eq!((&refused["type"], &refused["code"]), (&json!("error"), &json!("rate_limited")), "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("try again in "), "{refused}");
    }
    assert_eq!(visitor.vote("a").await["type"], "revealed", "the battle lives on");
    let mut other = arena.visitor().await;
    other.ask("Which?").await;
    other.until_ready().await;
}

#[actix_web::test]
async fn a_vote_over_the_limit_is_not_kept_and_can_be_cast_later() {
    let arena = arena(LimitSettings { votes: WindowLimits::new(1, 0, 0), ..NO_LIMITS }).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("First?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    visitor.ask("Second?").await;
    visitor.until_ready().await;
    let refused = visitor.vote("b").await;
    assert_eq!((&refused["code"], &refused["battle"]), (&json!("rate_limited"), &json!(visitor.battle())));
    assert_eq!(votes(&arena).await, 1);

    arena.app.settings.replace(Settings { limits: NO_LIMITS, ..(*arena.app.settings.now()).clone() });
    assert_eq!(visitor.vote("b").await["outcome"], "b");
    assert_eq!(votes(&arena).await, 2);
}

#[actix_web::test]
async fn visitors_of_one_address_are_counted_together_whatever_they_write_into_the_header() {
    let arena = arena(LimitSettings { turns_per_address: WindowLimits::new(1, 0, 0), ..NO_LIMITS }).await;
    for (forwarded, expected) in [
        ("203.0.113.9", "battle"),
        ("198.51.100.9", "battle"),
        ("192.0.2.66, 203.0.113.9", "error"),
        ("203.0.113.9, 198.51.100.9", "error"),
    ] {
        let header = Some(("x-forwarded-for", forwarded.to_owned()));
        let mut visitor = Visitor::connect_with(&arena.url, header).await.unwrap();
        visitor.ask("Which?").await;
        assert_eq!(visitor.next().await["type"], expected, "{forwarded}");
    }
}

#[actix_web::test]
async fn one_network_has_a_quarter_of_the_sockets_and_is_distinguished_from_a_full_arena() {
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.server.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
        settings.server.max_sockets = 4;
    })
    .await;
    let connect =
        async |from: &str| Visitor::connect_with(&arena.url, Some(("x-forwarded-for", from.to_owned()))).await.unwrap();
    // A socket that is refused is so before its upgrade, which these requests do not ask for.
    let refused = async |from: &str| {
        let request = http().get(format!("{}/ws/battle", arena.url));
        let answer = request.header("x-forwarded-for", from).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let mut open = vec![connect("203.0.113.9").await];
    let (status, text) = refused("203.0.113.77").await;
    assert!(status == 503 && text.contains("from your network"), "{status} {text}");
    let (status, text) = refused("198.51.100.9").await;
    assert_eq!(status, 400, "another network is asked for the upgrade: {text}");
    for other in ["198.51.100.9", "192.0.2.9", "203.0.114.9"] {
        open.push(connect(other).await);
    }
    let (status, text) = refused("203.0.115.9").await;
    assert!(status == 503 && text.contains("the arena is full"), "{status} {text}");
    drop(open);
    arena.end().await;
}

/// Models that begin a reply and never end it.
fn endless() -> Scripted {
    Scripted::new(|_| vec![Step::Say("Begun ".into()), Step::Hang])
}

/// What each of these starts on one socket was answered with: the kind of its own frame, or the code of the refusal.
async fn starts(visitor: &mut Visitor, count: usize) -> Vec<String> {
    let mut answers = Vec::new();
    for _ in 0..count {
        visitor.ask("And this?").await;
        answers.push(loop {
            let frame = visitor.next_of(&["battle", "error"]).await;
            match frame["code"].as_str() {
                Some("superseded") => {}
                code => break code.unwrap_or("battle").to_owned(),
            }
        });
    }
    answers
}

#[actix_web::test]
async fn by_default_one_visitor_has_a_few_battles_at_once_and_thirty_turns_a_minute() {
    let (one, two) = (endless(), endless());
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.limits = LimitSettings::default();
        settings.battle.resume_grace_ms = 600_000;
    })
    .await;
    let mut visitor = arena.visitor().await;
    let answers = starts(&mut visitor, 100).await;
    assert_eq!(answers.iter().filter(|answer| *answer == "battle").count(), 4);
    assert!(answers[4..].iter().all(|answer| answer == "rate_limited"), "{answers:?}");
    assert_eq!([one.asked(), two.asked()], [4, 4]);
    visitor.send(json!({"type": "stop"})).await;
    visitor.next_of(&["ready"]).await;
    assert_eq!(starts(&mut visitor, 2).await, ["battle", "rate_limited"], "a place is free again");
    assert_eq!(starts(&mut arena.visitor().await, 1).await, ["battle"], "another visitor has places of his own");
}

#[actix_web::test]
async fn fresh_cookies_from_one_network_share_its_limits_and_this_machine_has_none() {
    let (one, two) = (endless(), endless());
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.limits = LimitSettings { concurrent_battles_per_address: 10, ..LimitSettings::default() };
        settings.battle.resume_grace_ms = 600_000;
        settings.server.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    for (forwarded, expected) in [("203.0.113.9", 10), ("127.0.0.1", 20)] {
        let mut begun = 0;
        for _ in 0..20 {
            let header = Some(("x-forwarded-for", forwarded.to_owned()));
            let mut visitor = Visitor::connect_with(&arena.url, header).await.unwrap();
            begun += starts(&mut visitor, 1).await.iter().filter(|answer| *answer == "battle").count();
        }
        assert_eq!(begun, expected, "{forwarded}");
    }
}

#[actix_web::test]
async fn many_starts_on_one_socket_get_an_error_for_each_battle_left_and_leave_nothing_running() {
    const STARTS: usize = 200;
    let (one, two) = (endless(), endless());
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.battle.resume_grace_ms = 20;
    })
    .await;
    let mut visitor = arena.visitor().await;
    assert!(starts(&mut visitor, STARTS).await.iter().all(|answer| answer == "battle"));
    let frames: Vec<Value> = visitor.frames.iter().map(|frame| serde_json::from_str(frame).unwrap()).collect();
    let named = |wanted: &dyn Fn(&&Value) -> bool| -> Vec<Value> {
        frames.iter().filter(wanted).map(|frame| frame["battle"].clone()).collect()
    };
    let begun = named(&|frame| frame["type"] == "battle");
    let left = named(&|frame| frame["code"] == "superseded");
    assert_eq!(begun.len(), STARTS);
    assert_eq!(left, begun[..STARTS - 1], "each is named, in order, and the last one goes on");
    for model in [&one, &two] {
        model.asked_becomes(STARTS).await;
        model.active_becomes(1).await;
        assert_eq!(model.asked(), STARTS);
    }
    // What was left can be seen again, and then the other one is left.
    visitor.send(json!({"type": "resume", "battle": left[0], "after": 0})).await;
    let told = visitor.next_of(&["error"]).await;
    assert_eq!((&told["code"], &told["battle"]), (&json!("superseded"), &begun[STARTS - 1]));
    visitor.next_of(&["ready"]).await;
    visitor.ask("And after the end?").await;
    assert_eq!(visitor.next_of(&["battle", "error"]).await["type"], "battle", "a battle at its end gets no error");
}

#[actix_web::test]
async fn a_visitor_who_finds_the_arena_full_gets_in_as_soon_as_another_battle_was_left() {
    let (one, two) = (endless(), endless());
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.battle.max_live_battles = 2;
        settings.battle.resume_grace_ms = 20;
    })
    .await;
    let mut inside = [arena.visitor().await, arena.visitor().await];
    for visitor in &mut inside {
        assert_eq!(starts(visitor, 1).await, ["battle"]);
    }
    let mut next = arena.visitor().await;
    assert_eq!(starts(&mut next, 1).await, ["busy"], "two battles are under way");
    inside.into_iter().for_each(Visitor::drop_connection);
    until(async || (arena.app.battles.under_way() == 0).then_some(())).await;
    assert_eq!(arena.app.battles.in_memory(), 2, "no sweep has come meanwhile");
    assert_eq!(starts(&mut next, 1).await, ["battle"]);
}

#[actix_web::test]
async fn a_model_that_has_no_room_for_more_of_our_requests_does_not_rest() {
    let asked = AtomicUsize::new(0);
    let crowded = Scripted::new(move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => vec![Step::Say("Begun ".into()), Step::Gate, Step::Say("and ended.".into())],
        _ => vec![Step::Fail(ChatError::Status { status: 429, retry_after: None })],
    });
    let other = Scripted::saying("Other.");
    let breaker = BreakerPolicy { failures: 3, ..quick_limits().breaker };
    let limits = ReplyLimits { breaker, ..quick_limits() };
    let models: [(&str, &Scripted); 2] = [("crowded", &crowded), ("other", &other)];
    let arena =
        TestArena::start_with_limits(&models, limits, |settings| settings.battle.pacing = PacingMode::Raw).await;
    let phase = || {
        let roster = arena.app.models.current();
        let model = roster.all().iter().find(|model| model.card.id.as_str() == "crowded").unwrap().state();
        model.phase
    };
    let mut first = arena.visitor().await;
    first.ask("Which?").await;
    first.until_both_begin().await;
    for _ in 0..5 {
        let mut more = arena.visitor().await;
        more.ask("And this?").await;
        assert_eq!(more.next_of(&["error"]).await["code"], "voided", "there is no other model to take its place");
    }
    assert_eq!(phase(), BreakerPhase::Closed);
    crowded.open_gate();
    first.until_ready().await;
    for _ in 0..3 {
        let mut more = arena.visitor().await;
        more.ask("And this?").await;
        more.next_of(&["error"]).await;
    }
    assert_eq!(phase(), BreakerPhase::Open, "with nothing of ours under way it is the model's own fault");
}
