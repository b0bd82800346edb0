//! What may be asked after the vote: both models go on, and nothing of it is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use langya::domain::battle::ModelId;
use langya::infra::llm::ChatError;
use langya::infra::llm::breaker::{BreakerPhase, BreakerPolicy, BreakerState};
use langya::infra::llm::resilient_model::ReplyLimits;
use langya::infra::time::clock::Clock;
use serde_json::json;

use crate::support::arena::{TestArena, quick_limits};
use crate::support::scripted::{Scripted, Step};
use crate::support::until;
use crate::support::visitor::Visitor;

/// Says back everything that it was given.
fn repeating() -> Scripted {
    Scripted::new(|messages| {
        let contents: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
        vec![Step::Say(format!("<{}>", contents.join("|")))]
    })
}

async fn voted(arena: &TestArena) -> Visitor {
    let mut visitor = arena.visitor().await;
    visitor.ask("first").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    visitor
}

#[actix_web::test]
async fn after_the_vote_both_models_go_on_with_the_conversation_and_nothing_is_kept() {
    let arena = TestArena::start(&[("one", &repeating()), ("two", &repeating())]).await;
    let mut visitor = voted(&arena).await;
    let battle = visitor.battle();
    let before = arena.app.store.battle_record(&battle).await.unwrap().unwrap();
    visitor.send(json!({"type": "message", "battle": battle, "prompt": "second"})).await;
    assert_eq!(visitor.next().await["code"], "battle_over", "a turn of the battle is another thing");

    for (prompt, turn, heard) in
        [("second", 2, "<first|<first>|second>"), ("third", 3, "<first|<first>|second|<first|<first>|second>|third>")]
    {
        visitor.send(json!({"type": "message", "battle": battle, "prompt": prompt, "unrated": true})).await;
        assert_eq!(visitor.next_of(&["battle"]).await["turn"], turn);
        assert_eq!(visitor.until_ready().await, [heard, heard]);
    }
    assert_eq!(visitor.vote("b").await["outcome"], "a", "the vote stays");
    let after = arena.app.store.battle_record(&battle).await.unwrap().unwrap();
    assert_eq!((after.turns, after.replies.len()), (before.turns, before.replies.len()));
    assert_eq!(after.battle.progress, before.battle.progress);
}

#[actix_web::test]
async fn a_chat_after_the_vote_forgets_what_its_visitor_has_deleted() {
    let arena = TestArena::start(&[("one", &repeating()), ("two", &repeating())]).await;
    let mut visitor = voted(&arena).await;
    let battle = visitor.battle();
    let store = &arena.app.store;
    let owner = store.battle_record(&battle).await.unwrap().unwrap().battle.visitor;
    for (prompt, heard) in [("second", "<first|<first>|second>"), ("third", "<third>")] {
        visitor.send(json!({"type": "message", "battle": battle, "prompt": prompt, "unrated": true})).await;
        assert_eq!(visitor.until_ready().await, [heard, heard]);
        store.delete_texts_of(&owner, arena.app.clock.now()).await.unwrap();
    }
}

#[actix_web::test]
async fn a_chat_after_the_vote_needs_a_vote_of_ones_own_and_a_question() {
    let arena = TestArena::start(&[("one", &repeating()), ("two", &repeating())]).await;
    let battle = voted(&arena).await.battle();
    let mut stranger = arena.visitor().await;
    stranger.ask("first").await;
    stranger.until_ready().await;
    for (message, code) in [
        (json!({"type": "message", "prompt": "second", "unrated": true}), "not_ready"),
        (json!({"type": "message", "battle": battle, "prompt": "second", "unrated": true}), "unknown_battle"),
    ] {
        stranger.send(message.clone()).await;
        let refused = stranger.next().await;
        assert_eq!(refused["code"], code, "{message}: {refused}");
    }
    assert_eq!(stranger.vote("a").await["type"], "revealed");
    stranger.send(json!({"type": "message", "prompt": " ", "unrated": true})).await;
    assert_eq!(stranger.next().await["code"], "prompt_empty");
}

#[actix_web::test]
async fn a_reply_in_a_chat_after_the_vote_ends_at_the_longest_that_a_battle_takes() {
    let endless = || {
        Scripted::new(|messages| match messages.len() {
            1 => vec![Step::Say("So.".into())],
            _ => vec![Step::Say("On and ".into()), Step::Say("on ".into()), Step::Say("and".into()), Step::Hang],
        })
    };
    let (one, two) = (endless(), endless());
    let models = [("one", &one), ("two", &two)];
    let arena = TestArena::start_with(&models, |settings| settings.battle.max_reply_bytes = 10).await;
    let mut visitor = voted(&arena).await;
    visitor.send(json!({"type": "message", "prompt": "second", "unrated": true})).await;
    assert_eq!(visitor.next_of(&["battle"]).await["turn"], 2);
    assert_eq!(visitor.until_ready().await, ["On and on ", "On and on "]);
    one.active_becomes(0).await;
    two.active_becomes(0).await;
}

#[actix_web::test]
async fn a_chat_after_the_vote_can_be_stopped_and_a_side_that_fails_ends_alone() {
    let begins = |messages: &[langya::infra::llm::Message]| messages.len() == 1;
    let slow = Scripted::new(move |messages| match begins(messages) {
        true => vec![Step::Say("So.".into())],
        false => vec![Step::Say("On".into()), Step::Hang],
    });
    let failing = Scripted::new(move |messages| match begins(messages) {
        true => vec![Step::Say("So.".into())],
        false => vec![Step::Fail(ChatError::Unreached("a test".into()))],
    });
    let arena = TestArena::start(&[("slow", &slow), ("failing", &failing)]).await;
    let mut visitor = voted(&arena).await;
    visitor.send(json!({"type": "message", "prompt": "second", "unrated": true})).await;
    visitor.next_of(&["battle"]).await;
    let seen = [visitor.next().await, visitor.next().await];
    assert!(
        seen.iter().any(|frame| frame["text"] == "On") && seen.iter().any(|frame| frame["type"] == "done"),
        "{seen:?}"
    );
    visitor.send(json!({"type": "message", "prompt": "third", "unrated": true})).await;
    assert_eq!(visitor.next().await["code"], "not_ready");
    visitor.send(json!({"type": "stop"})).await;
    assert_eq!([visitor.next().await["type"].clone(), visitor.next().await["type"].clone()], ["done", "ready"]);
    visitor.send(json!({"type": "stop"})).await;
    visitor.ask("another battle").await;
    assert_eq!(visitor.until_ready().await, ["So.", "So."]);
}

#[actix_web::test]
async fn questions_after_the_vote_take_a_model_from_nobody_unless_the_arenas_own_fails_too() {
    let is_down = Arc::new(AtomicBool::new(false));
    let failing = || {
        let is_down = Arc::clone(&is_down);
        Scripted::new(move |messages| match messages.len() {
            1 if !is_down.load(Ordering::SeqCst) => vec![Step::Say("So.".into())],
            _ => vec![Step::Fail(ChatError::Reported)],
        })
    };
    let breaker = BreakerPolicy { failures: 3, open_for: Duration::from_secs(600) };
    let limits = ReplyLimits { breaker, ..quick_limits() };
    let (one, two) = (failing(), failing());
    let models = [("one", &one), ("two", &two)];
    let arena = TestArena::start_with_limits(&models, limits, |_| {}).await;
    let state = || arena.app.models.current().get(&ModelId::new("one")).unwrap().state();
    let closed = |failures| BreakerState { phase: BreakerPhase::Closed, failures };
    let mut visitors = Vec::new();
    for _ in 0..3 {
        visitors.push(voted(&arena).await);
    }
    for prompt in ["odd", "odder", "oddest"] {
        chat(&mut visitors[0], prompt).await;
    }
    assert_eq!(state(), closed(1));
    for visitor in &mut visitors[1..] {
        chat(visitor, "odd").await;
    }
    until(async || (state() == closed(0)).then_some(())).await;
    assert_eq!(one.asked(), 3 + 5 + 1, "the arena has asked a question of its own");

    is_down.store(true, Ordering::SeqCst);
    for visitor in &mut visitors {
        chat(visitor, "odd").await;
    }
    until(async || (state().phase == BreakerPhase::Open).then_some(())).await;
}

/// Asks after the vote, without an answer.
async fn chat(visitor: &mut Visitor, prompt: &str) {
    visitor.send(json!({"type": "message", "prompt": prompt, "unrated": true})).await;
    assert_eq!(visitor.until_ready().await, ["", ""]);
}
