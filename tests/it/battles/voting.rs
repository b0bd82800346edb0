//! The vote: once, atomic, owned, kept.

use futures_util::future::join_all;
use serde_json::{Value, json};

use langya::infra::config::{ModelSettings, ProviderKind};

use crate::support::arena::TestArena;
use crate::support::scripted::{Scripted, Step};
use crate::support::visitor::get;

async fn arena() -> TestArena {
    TestArena::start(&[("one", &Scripted::saying("One says.")), ("two", &Scripted::saying("Two says."))]).await
}

async fn stored_votes(arena: &TestArena) -> Vec<langya::infra::storage::VoteRow> {
    use langya::domain::time::Timestamp;
    arena.app.store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 10_000).await.unwrap()
}

#[actix_web::test]
async fn all_four_outcomes_are_kept_as_cast() {
    let arena = arena().await;
    for outcome in ["a", "b", "tie", "both_bad"] {
        let mut visitor = arena.visitor().await;
        visitor.ask("Which?").await;
        visitor.until_ready().await;
        visitor.send(json!({"type": "vote", "outcome": outcome, "satisfaction": 4})).await;
        assert_eq!(visitor.next_of(&["revealed"]).await["outcome"], outcome);
    }
    let votes = stored_votes(&arena).await;
    let outcomes: Vec<&str> = votes.iter().map(|vote| vote.outcome.as_str()).collect();
    assert_eq!(outcomes, ["a", "b", "tie", "both_bad"]);
    for vote in votes {
        assert_eq!((vote.pair_probability, vote.pairing_policy.as_str()), (1.0, "weighted"));
        assert_eq!(vote.text_counts.map(|counts| counts.tokens), [2, 2]);
        assert_eq!((vote.satisfaction, vote.exclusion), (Some(4), None));
        assert!(vote.first_token_ms.iter().all(Option::is_some));
    }
}

#[actix_web::test]
async fn reasons_are_kept_with_the_vote_and_nothing_is_kept_where_none_are_given() {
    let arena = arena().await;
    for reasons in [json!({"a": ["too_long", "useful", "useful"], "b": ["wrong"]}), json!({"b": []}), Value::Null] {
        let mut visitor = arena.visitor().await;
        visitor.ask("Which?").await;
        visitor.until_ready().await;
        visitor.send(json!({"type": "vote", "outcome": "a", "reasons": reasons})).await;
        let told = visitor.next_of(&["revealed"]).await;
        visitor.send(json!({"type": "vote", "outcome": "a", "reasons": {"a": ["clear"]}})).await;
        assert_eq!(visitor.next_of(&["revealed"]).await, told, "the first vote stays");
    }
    let kept: Vec<[String; 2]> =
        stored_votes(&arena).await.iter().map(|vote| vote.reasons.map(|side| side.to_string())).collect();
    assert_eq!(kept, [["useful,too_long", "wrong"], ["", ""], ["", ""]].map(|sides| sides.map(str::to_owned)));
}

#[actix_web::test]
async fn the_receipt_tells_how_many_earlier_votes_agree_from_the_tenth_on() {
    let arena = arena().await;
    let mut told = Vec::new();
    for number in 0..12 {
        let mut visitor = arena.visitor().await;
        visitor.ask("Which?").await;
        visitor.until_ready().await;
        told.push(visitor.vote(if number % 3 == 0 { "tie" } else { "both_bad" }).await["crowd"].clone());
        until_rated(&arena, number + 1).await;
    }
    assert_eq!(told[..10], [const { Value::Null }; 10], "fewer than ten votes came before");
    assert_eq!(told[10..], [json!({"same": 6, "votes": 10}), json!({"same": 7, "votes": 11})]);
}

/// Waits until so many votes are on the leaderboard.
async fn until_rated(arena: &TestArena, votes: u64) {
    let mut snapshots = arena.app.leaderboard.changes();
    snapshots.wait_for(|snapshot| snapshot.leaderboard.votes.rated == votes).await.unwrap();
}

#[actix_web::test]
async fn the_receipt_names_the_price_where_the_settings_have_one() {
    let models = [("one", &Scripted::saying("One says.")), ("two", &Scripted::saying("Two says."))];
    let arena = TestArena::start_with(&models, |settings| {
        let mut entry = ModelSettings::minimal("one", ProviderKind::Builtin);
        (entry.input_price, entry.output_price) = (Some(0.5), Some(1.5));
        settings.models.push(entry);
    })
    .await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    let told = visitor.vote("a").await;
    let prices = ["a", "b"].map(|side| (told[side]["id"].clone(), told[side]["price"].clone()));
    let price = json!({"currency": "USD", "input": 0.5, "output": 1.5});
    assert!(prices.contains(&(json!("one"), price)), "{prices:?}");
    assert!(prices.contains(&(json!("two"), Value::Null)), "{prices:?}");
}

#[actix_web::test]
async fn twenty_parallel_identical_votes_leave_one_row_and_one_receipt() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    let battle = visitor.battle();
    let mut sockets = Vec::new();
    for _ in 0..20 {
        sockets.push(visitor.reconnect().await);
    }
    let receipts = join_all(sockets.iter_mut().enumerate().map(|(at, socket)| {
        let outcome = if at == 0 { "a" } else { ["a", "b", "tie"][at % 3] };
        let vote = json!({"type": "vote", "battle": battle, "outcome": outcome});
        async move {
            socket.send(vote).await;
            socket.next_of(&["revealed", "error"]).await
        }
    }))
    .await;
    assert_eq!(receipts[0]["type"], "revealed");
    assert!(receipts.iter().all(|receipt| *receipt == receipts[0]), "every retry gets the first receipt");
    assert_eq!(stored_votes(&arena).await.len(), 1);
}

#[actix_web::test]
async fn a_changed_mind_gets_the_first_receipt() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    let first = visitor.vote("a").await;
    assert_eq!(visitor.vote("b").await, first);
    assert_eq!(stored_votes(&arena).await.len(), 1);
}

#[actix_web::test]
async fn a_vote_before_both_replies_have_ended_is_refused_and_a_later_one_counts() {
    let gated = Scripted::new(|_| vec![Step::Say("Wait".into()), Step::Gate]);
    let quick = Scripted::saying("Quick.");
    let arena = TestArena::start(&[("gated", &gated), ("quick", &quick)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    visitor.next_of(&["battle"]).await;
    assert_eq!(visitor.vote("a").await["code"], "not_ready");
    gated.open_gate();
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
}

#[actix_web::test]
async fn a_vote_counts_for_the_turn_that_it_names_or_not_at_all() {
    let one = Scripted::new(|_| vec![Step::Say("One.".into()), Step::Gate]);
    let two = Scripted::saying("Two.");
    let arena = TestArena::start(&[("one", &one), ("two", &two)]).await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    one.open_gate();
    visitor.until_ready().await;
    one.close_gate();
    let mut other_tab = visitor.reconnect().await;
    let late = json!({"type": "vote", "battle": visitor.battle(), "outcome": "a", "turn": 1});
    visitor.send(json!({"type": "message", "prompt": "And now?"})).await;
    visitor.next_of(&["battle"]).await;
    other_tab.send(late.clone()).await;
    assert_eq!(other_tab.next_of(&["error", "revealed"]).await["code"], "battle_went_on", "waiting would not help");
    one.open_gate();
    visitor.until_ready().await;
    for turn in [json!(1), json!(0), json!(3), json!(u32::MAX)] {
        other_tab.send(json!({"turn": turn, "type": "vote", "battle": visitor.battle(), "outcome": "a"})).await;
        assert_eq!(other_tab.next_of(&["error", "revealed"]).await["code"], "battle_went_on", "{turn}");
    }
    assert!(stored_votes(&arena).await.is_empty());
    visitor.send(json!({"type": "vote", "outcome": "b", "turn": 2})).await;
    let receipt = visitor.next_of(&["error", "revealed"]).await;
    assert_eq!(receipt["outcome"], "b");
    other_tab.send(late).await;
    assert_eq!(other_tab.next_of(&["error", "revealed"]).await, receipt, "a battle with a vote answers with that one");
}

#[actix_web::test]
async fn a_vote_on_replies_that_were_regenerated_does_not_count_for_the_new_ones() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    let seen = visitor.next_of(&["battle"]).await["answer"].clone();
    visitor.until_ready().await;
    let mut other_tab = visitor.reconnect().await;
    visitor.send(json!({"type": "regenerate"})).await;
    let latest = visitor.next_of(&["battle"]).await["answer"].clone();
    assert!(seen.is_string() && latest.is_string() && seen != latest, "{seen} {latest}");
    visitor.until_ready().await;
    let vote = |answer: &Value| json!({"type": "vote", "battle": visitor.battle(), "turn": 1, "answer": answer, "outcome": "a"});
    for unseen in [&seen, &json!("")] {
        other_tab.send(vote(unseen)).await;
        assert_eq!(other_tab.next_of(&["error", "revealed"]).await["code"], "battle_went_on", "{unseen}");
    }
    assert!(stored_votes(&arena).await.is_empty());
    other_tab.send(json!({"type": "resume", "battle": visitor.battle(), "after": 0})).await;
    for answering in [&seen, &latest] {
        assert_eq!(
            &other_tab.next_of(&["battle"]).await["answer"],
            answering,
            "who comes back learns which answering it is"
        );
    }
    other_tab.send(vote(&latest)).await;
    assert_eq!(other_tab.next_of(&["error", "revealed"]).await["outcome"], "a");
}

#[actix_web::test]
async fn another_visitor_cannot_vote_watch_or_steer_a_battle() {
    let arena = arena().await;
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    let battle = visitor.battle();
    let mut stranger = arena.visitor().await;
    for message in [
        json!({"type": "vote", "outcome": "a"}),
        json!({"type": "resume", "after": 0}),
        json!({"type": "message", "prompt": "And?"}),
        json!({"type": "regenerate"}),
        json!({"type": "stop"}),
    ] {
        let mut message: Value = message;
        message["battle"] = json!(battle);
        stranger.send(message.clone()).await;
        assert_eq!(stranger.next().await["code"], "unknown_battle", "{message}");
    }
    assert_eq!(visitor.vote("a").await["type"], "revealed");
}

#[actix_web::test]
async fn a_vote_moves_the_leaderboard_that_is_open_in_another_window() {
    use futures_util::StreamExt;
    let arena = arena().await;
    let url = format!("{}/ws/leaderboard", arena.url.replace("http://", "ws://"));
    let (mut window, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    let first: Value = serde_json::from_str(window.next().await.unwrap().unwrap().to_text().unwrap()).unwrap();
    assert_eq!(first["type"], "leaderboard");
    let mut visitor = arena.visitor().await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    visitor.vote("a").await;
    loop {
        let frame = window.next().await.unwrap().unwrap();
        let Ok(text) = frame.to_text() else { continue };
        let Ok(frame) = serde_json::from_str::<Value>(text) else { continue };
        if frame["votes"] == 1 {
            break;
        }
    }
    let leaderboard: Value = get(&format!("{}/api/v1/leaderboard", arena.url)).await.json().await.unwrap();
    assert_eq!(leaderboard["votes"]["rated"], 1);
}
