//! What a visitor meets who does too much.

use langya::clock::Timestamp;
use langya::config::{LimitSettings, Settings};
use serde_json::json;

use crate::support::arena::TestArena;
use crate::support::scripted::Scripted;
use crate::support::visitor::Visitor;

const NONE: LimitSettings = LimitSettings {
    turns_per_minute: 0,
    votes_per_minute: 0,
    turns_per_minute_per_address: 0,
    votes_per_minute_per_address: 0,
};

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
async fn questions_and_answers_anew_count_as_turns_and_refusals_are_told() {
    let arena = arena(LimitSettings { turns_per_minute: 3, ..NONE }).await;
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
    let arena = arena(LimitSettings { votes_per_minute: 1, ..NONE }).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("First?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    visitor.ask("Second?").await;
    visitor.until_ready().await;
    let refused = visitor.vote("b").await;
    assert_eq!((&refused["code"], &refused["battle"]), (&json!("rate_limited"), &json!(visitor.battle())));
    assert_eq!(votes(&arena).await, 1);

    arena.app.settings.replace(Settings { limits: NONE, ..(*arena.app.settings.now()).clone() });
    assert_eq!(visitor.vote("b").await["outcome"], "b");
    assert_eq!(votes(&arena).await, 2);
}

#[actix_web::test]
async fn visitors_of_one_address_are_counted_together_whatever_they_write_into_the_header() {
    let arena = arena(LimitSettings { turns_per_minute_per_address: 1, ..NONE }).await;
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
