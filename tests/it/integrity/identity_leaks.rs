//! A vote on a battle that gives a model away is kept, reported, not rated, and can be rated again.

use langya::domain::time::Timestamp;
use langya::infra::config::LeakPolicy;
use langya::infra::storage::VoteRow;
use serde_json::{Value, json};

use crate::support::arena::TestArena;
use crate::support::scripted::{Scripted, Step};
use crate::support::visitor::{Visitor, get};

/// A model that says who it is, in pieces that say it only together.
fn telltale() -> Scripted {
    let pieces = ["Moss is a plant, and I", "'m Cl", "au", "\u{200B}de", ", by the way."];
    Scripted::new(move |_| pieces.map(|piece| Step::Say(piece.to_owned())).to_vec())
}

async fn arena(leaks: LeakPolicy) -> TestArena {
    let models = [("one", &telltale()), ("two", &Scripted::saying("Moss has no roots."))];
    TestArena::start_with(&models, |settings| {
        settings.integrity.leaks = leaks;
        // Votes that are not rated wait for the clock.
        settings.rating.group_seconds = 1;
    })
    .await
}

async fn stored_vote(arena: &TestArena) -> VoteRow {
    let votes = arena.app.store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 10).await.unwrap();
    assert_eq!(votes.len(), 1);
    votes.into_iter().next().unwrap()
}

/// The leaderboard with the counts of its votes, once it has so many rated and excluded ones.
async fn counted(arena: &TestArena, rated: u64, excluded: &Value) -> Value {
    let mut changes = arena.app.leaderboard.changes();
    loop {
        let leaderboard: Value = get(&format!("{}/api/v1/leaderboard", arena.url)).await.json().await.unwrap();
        if leaderboard["votes"]["rated"] == rated && leaderboard["votes"]["excluded"] == *excluded {
            return leaderboard;
        }
        changes.changed().await.unwrap();
    }
}

async fn ask(arena: &TestArena, prompt: &str) -> Visitor {
    let mut visitor = arena.visitor().await;
    visitor.ask(prompt).await;
    visitor.until_ready().await;
    visitor
}

#[actix_web::test]
async fn a_vote_on_a_reply_that_names_its_model_is_kept_reported_and_excluded_until_that_is_withdrawn() {
    let arena = arena(LeakPolicy::Exclude).await;
    let mut visitor = ask(&arena, "What is moss?").await;
    let told = visitor.vote("a").await;
    let side = if told["a"]["id"] == "one" { "A" } else { "B" };
    let reason = format!("reply {side} of turn 1 says which model or maker wrote it");
    assert_eq!(told["excluded"], json!({"rule": "identity_leak", "reason": reason}));
    assert_eq!((&told["a"]["rating_change"], &told["b"]["rating_change"]), (&json!(0.0), &json!(0.0)));
    assert_eq!(visitor.vote("b").await, told, "every retry gets the same receipt");
    let mut second = visitor.reconnect().await;
    second.send(json!({"type": "vote", "battle": visitor.battle(), "outcome": "a"})).await;
    assert_eq!(second.next_of(&["revealed"]).await, told, "on another connection as well");

    let vote = stored_vote(&arena).await;
    assert_eq!((vote.outcome.as_str(), vote.exclusion.as_deref()), ("a", Some("identity_leak")));
    let rows = arena.app.store.exclusions_of(vote.seq).await.unwrap();
    let rows: Vec<_> = rows.iter().map(|row| (row.reason.as_str(), row.excluded_by.as_str())).collect();
    assert_eq!(rows, [(reason.as_str(), "langya")]);
    counted(&arena, 0, &json!({"identity_leak": 1})).await;

    let withdrawn = arena.app.store.withdraw_exclusion(vote.seq, "identity_leak", "ann", Timestamp(1)).await.unwrap();
    assert!(withdrawn);
    arena.app.events.publish(langya::infra::events::Event::VoteRecorded);
    counted(&arena, 1, &json!({})).await;
    assert_eq!(visitor.vote("a").await, told, "the receipt says what the visitor got then");
}

#[actix_web::test]
async fn a_prompt_that_speaks_to_a_model_by_name_is_reported_and_ordinary_talk_of_models_is_rated() {
    let models = [("one", &Scripted::saying("GPT-4 is older than Claude.")), ("two", &Scripted::saying("Two says."))];
    let arena = TestArena::start(&models).await;
    let told = ask(&arena, "Are you Gemini?").await.vote("a").await;
    assert_eq!(told["excluded"]["reason"], "the prompt of turn 1 speaks to a model by name");
    let told = ask(&arena, "Which is older, GPT-4 or Claude?").await.vote("a").await;
    assert_eq!(told.get("excluded"), None, "{told}");
    counted(&arena, 1, &json!({"identity_leak": 1})).await;
}

#[actix_web::test]
async fn an_operator_may_only_mark_such_votes_or_not_look_for_them() {
    let arena = arena(LeakPolicy::Mark).await;
    let told = ask(&arena, "What is moss?").await.vote("a").await;
    assert_eq!((told.get("excluded"), &told["marked"]["rule"]), (None, &json!("identity_leak")));
    assert_eq!(stored_vote(&arena).await.exclusion, None);
    let arena = self::arena(LeakPolicy::Off).await;
    let told = ask(&arena, "What is moss?").await.vote("a").await;
    assert_eq!((told.get("excluded"), told.get("marked")), (None, None));
}

#[actix_web::test]
async fn names_of_the_settings_are_looked_for_too() {
    let models = [
        ("one", &Scripted::saying("They call me Zaunkönig, and moss is a plant.")),
        ("two", &Scripted::saying("Two says.")),
    ];
    let arena = TestArena::start_with(&models, |settings| {
        settings.aliases.insert("one".into(), vec!["Zaunkönig".into()]);
    })
    .await;
    let told = ask(&arena, "What is moss?").await.vote("a").await;
    assert_eq!(told["excluded"]["rule"], "identity_leak", "{told}");
}
