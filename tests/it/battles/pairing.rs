//! Who meets whom, as the whole application does it: stated, stored and drawn probabilities are the same.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use langya::domain::battle::event_log::BattleEvent;
use langya::domain::battle::mode::BattleMode;
use langya::domain::battle::progress::{Progress, Stage};
use langya::domain::battle::{BattleId, ModelId, RunId, VisitorId};
use langya::infra::config::{Environment, PracticeMode, Settings};
use langya::infra::limits::Caller;
use langya::infra::live_battles::BattleUpdate;
use langya::infra::llm::ChatError;
use langya::infra::llm::breaker::BreakerPolicy;
use langya::infra::llm::resilient_model::ResilientModel;
use langya::infra::llm::roster::Roster;
use langya::infra::storage::BattleRow;
use langya::infra::time::clock::Clock;
use langya::services::arena::battles::{BattleError, Opening};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::support::arena::{SEED, TestArena, card, quick_limits};
use crate::support::scripted::{Scripted, Step};
use crate::support::visitor::get;

fn weighted(id: &str, weight: f64, model: &Scripted) -> Arc<ResilientModel> {
    let mut limits = quick_limits();
    limits.breaker = BreakerPolicy { failures: 1, open_for: Duration::from_secs(3600) };
    Arc::new(ResilientModel::new(card(id), weight, Arc::new(model.clone()), limits, ChaCha8Rng::seed_from_u64(SEED)))
}

/// The published probabilities by the two ids in order.
async fn published(arena: &TestArena) -> HashMap<[String; 2], f64> {
    let stated: Value = get(&format!("{}/api/v1/pairing", arena.url)).await.json().await.unwrap();
    let pairs = stated["pairs"].as_array().unwrap().iter();
    pairs
        .map(|pair| {
            (ordered(serde_json::from_value(pair["models"].clone()).unwrap()), pair["probability"].as_f64().unwrap())
        })
        .collect()
}

fn ordered(mut ids: [String; 2]) -> [String; 2] {
    ids.sort();
    ids
}

#[actix_web::test]
async fn each_battle_stores_the_probability_that_is_stated_for_its_pair() {
    let model = Scripted::saying("Here.");
    let roster = [("a", 1.0), ("b", 2.0), ("c", 4.0), ("paused", 0.0)];
    let roster = Roster::new(roster.iter().map(|(id, weight)| weighted(id, *weight, &model)).collect());
    let arena = TestArena::start_with_roster(roster, |_| {}).await;
    let stated = published(&arena).await;
    assert_eq!(stated.len(), 3);
    assert!((stated.values().sum::<f64>() - 1.0).abs() < 1e-12, "{stated:?}");
    // 2 of the products 2, 4 and 8.
    assert!((stated[&["a".to_owned(), "b".to_owned()]] - 1.0 / 7.0).abs() < 1e-12, "{stated:?}");
    let mut visitor = arena.visitor().await;
    for _ in 0..20 {
        visitor.ask("Who is it?").await;
        visitor.until_ready().await;
        let row = arena.app.store.battle(&visitor.battle()).await.unwrap().unwrap();
        let pair = ordered(row.models.map(|id| id.as_str().to_owned()));
        assert!((row.pair_probability - stated[&pair]).abs() < 1e-12, "{pair:?}: {}", row.pair_probability);
        assert_eq!(row.pairing_policy, "weighted");
    }
    arena.end().await;
}

#[actix_web::test]
async fn a_model_that_rests_is_not_drawn() {
    let good = Scripted::saying("Here.");
    let broken = Scripted::new(|_| vec![Step::Fail(ChatError::Status { status: 502, retry_after: None })]);
    let roster =
        Roster::new(vec![weighted("broken", 1e6, &broken), weighted("a", 1.0, &good), weighted("b", 1.0, &good)]);
    let arena = TestArena::start_with_roster(roster, |_| {}).await;
    let before = published(&arena).await;
    let mut visitor = arena.visitor().await;
    for _ in 0..20 {
        visitor.ask("Who is it?").await;
        assert_eq!(visitor.until_ready().await, ["Here.", "Here."]);
    }
    assert_eq!(broken.asked(), 1, "after one failure it rests");
    // Who rests is not published: it would reveal whose battle has just failed.
    assert_eq!(published(&arena).await, before);
    arena.end().await;
}

/// An arena as it is right after a start: its models are still to be found.
async fn unsearched() -> TestArena {
    let mut settings = Settings::default();
    settings.providers.practice = PracticeMode::Never;
    let roster = Roster::build(&settings, &Environment::default(), SEED).unwrap();
    assert!(roster.all().is_empty() && roster.awaits_discovery());
    TestArena::start_with_roster(roster, |_| {}).await
}

fn found() -> Roster {
    Roster::new(["one", "two"].map(|id| weighted(id, 1.0, &Scripted::saying("Here."))).into())
}

#[actix_web::test]
async fn a_battle_that_starts_while_models_are_looked_for_gets_those_that_are_found() {
    let arena = unsearched().await;
    let app = &arena.app;
    let visitor = VisitorId::new("visitor");
    let permit = app.limits.begin_turn(&Caller { visitor: visitor.clone(), network: None }).await.unwrap();
    let opening = Opening { prompt: "Who is it?".into(), ..Opening::default() };
    let search = app.models.exchange(found(), &app.store, app.clock.as_ref());
    let (started, searched) = tokio::join!(app.battles.start(&visitor, opening, permit), search);
    searched.unwrap();
    drop(started.unwrap());
    arena.end().await;
}

/// A battle whose first turn was being answered by a process that has ended.
async fn interrupted(arena: &TestArena) -> BattleRow {
    let app = &arena.app;
    let row = BattleRow {
        id: BattleId::new("interrupted"),
        visitor: VisitorId::new("visitor"),
        mode: BattleMode::Anonymous,
        progress: Progress { stage: Stage::Answering, turn: 1 },
        models: ["one", "two"].map(ModelId::new),
        pairing_policy: "weighted".into(),
        policy_version: 1,
        pair_probability: 1.0,
        language: "en".into(),
        category: None,
        intent: None,
        answered_by: Some(RunId::new("gone.0")),
    };
    // Registered by the process that has ended.
    app.store.register_models(&["one", "two"].map(card), app.clock.now()).await.unwrap();
    app.store.insert_battle(&row, "Who is it?", app.clock.now()).await.unwrap();
    row
}

#[actix_web::test]
async fn a_battle_that_waited_for_models_is_refused_if_the_arena_is_full_by_then() {
    let arena = unsearched().await;
    let app = &arena.app;
    let mut settings = (*app.settings.now()).clone();
    settings.battle.max_live_battles = 1;
    app.settings.replace(settings);
    let row = interrupted(&arena).await;
    let visitor = VisitorId::new("another visitor");
    let permit = app.limits.begin_turn(&Caller { visitor: visitor.clone(), network: None }).await.unwrap();
    let opening = Opening { prompt: "Who is it?".into(), ..Opening::default() };
    let resumed = async {
        let watcher = app.battles.resume(&row.visitor, &row.id, 0).await.unwrap();
        app.models.exchange(found(), &app.store, app.clock.as_ref()).await.unwrap();
        watcher
    };
    let (started, watcher) = tokio::join!(app.battles.start(&visitor, opening, permit), resumed);
    assert!(matches!(started, Err(BattleError::Busy)), "{:?}", started.err());
    drop(watcher);
    arena.end().await;
}

#[actix_web::test]
async fn a_turn_that_a_restart_interrupted_waits_for_its_models_to_be_found() {
    let arena = unsearched().await;
    let app = &arena.app;
    let row = interrupted(&arena).await;
    let mut watcher = app.battles.resume(&row.visitor, &row.id, 0).await.unwrap();
    app.models.exchange(found(), &app.store, app.clock.as_ref()).await.unwrap();
    let mut events: Vec<BattleEvent> = Vec::new();
    while !events.iter().any(|event| matches!(event, BattleEvent::Ready | BattleEvent::Voided)) {
        let BattleUpdate::Events(entries) = watcher.next().await else { panic!("the battle is answered here") };
        events.extend(entries.into_iter().map(|entry| entry.event));
    }
    assert_eq!(events.last(), Some(&BattleEvent::Ready));
    drop(watcher);
    arena.end().await;
}
