//! `langya import arena`: an arena moves into PostgreSQL without a changed number.

use std::path::Path;

use langya::domain::battle::{BattleId, VisitorId};
use langya::domain::benchmark::suite_id::SuiteId;
use langya::domain::labeling::LabelOrigin;
use langya::domain::labeling::report::PromptLabel;
use langya::domain::labeling::scheme::Scheme;
use langya::domain::model_register::changes::ModelChange;
use langya::domain::time::Timestamp;
use langya::infra::storage::{IfMissing, LabelSource, NewLabel, Store, VoteRange};
use secrecy::ExposeSecret;
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use crate::storage::{bench, images, model_register, verdicts};
use crate::support::arena::{TestArena, card};
use crate::support::postgres::TestDatabase;
use crate::support::program::langya;
use crate::support::scripted::Scripted;
use crate::support::until;
use crate::support::visitor::Visitor;

async fn vote_on(visitor: &mut Visitor, prompt: &str, outcome: &str) {
    visitor.ask(prompt).await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote(outcome).await["type"], "revealed");
}

/// Has a reviewer say what every prompt is about.
async fn label(store: &Store) -> Vec<PromptLabel> {
    let queries = store.queries_after("", 10).await.unwrap();
    let labels: Vec<NewLabel> =
        queries.iter().map(|query| NewLabel { query_id: &query.id, label: "leisure", confidence: None }).collect();
    let by = LabelSource { scheme: Scheme::Urs, source: LabelOrigin::Review, name: "Ünal" };
    assert_eq!(store.put_labels(by, &labels, Timestamp(7)).await.unwrap(), 5);
    store.labels_between(Scheme::Urs, "", "~").await.unwrap()
}

/// The changes of the arena's models, once its first ones are recorded.
async fn model_changes(store: &Store) -> Vec<ModelChange> {
    until(async || Some(store.model_changes().await.unwrap()).filter(|changes| changes.len() >= 2)).await
}

async fn session_key(store: &Store) -> String {
    store.secret("session_key", "another", Timestamp(0)).await.unwrap().expose_secret().to_owned()
}

#[actix_web::test]
async fn every_number_arrives_and_the_arena_goes_on() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Scripted::saying("One, 一 and \"more\"."), Scripted::saying("Two's."));
    let data = folder.path().join("data");
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.storage.data_dir.clone_from(&data);
    })
    .await;
    let mut visitor = arena.visitor().await;
    for (prompt, outcome) in [("First?", "a"), ("第二?", "b"), ("Third?", "tie"), ("Fourth?", "both_bad")] {
        vote_on(&mut visitor, prompt, outcome).await;
    }
    visitor.ask("Left without a vote?").await;
    visitor.until_ready().await;
    let labelled = label(&arena.app.store).await;
    let key = session_key(&arena.app.store).await;
    let busy = langya(folder.path(), ["fit", "--data-dir", "data", "--format", "json"]);
    let recorded = model_changes(&arena.app.store).await;
    bench::fill(&arena.app.store).await;
    verdicts::fill(&arena.app.store).await;
    let image = images::keep(&arena.app.store, "i", 5).await;
    arena.app.store.close().await;
    arena.end().await;
    ended_after_its_vote(&data.join("langya.db")).await;

    // As an instance that has started and has had no battle leaves it.
    let target = database.open().await;
    target.register_models(&[card("one")], Timestamp(1)).await.unwrap();
    target.add_model_changes(&[model_register::change(1)]).await.unwrap();
    target.count_battle_days(20_000).await.unwrap();
    target.close().await;

    let url = database.url.as_str();
    let moved = langya(folder.path(), ["import", "arena", "data/langya.db", "--database", url]);
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    assert!(moved.stdout.contains("votes") && moved.stdout.contains('4'), "{}", moved.stdout);
    let fitted = langya(folder.path(), ["fit", "--database", url, "--format", "json"]);
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(parse(&fitted.stdout), parse(&busy.stdout), "{}", fitted.stderr);
    let exports = [["--data-dir", "data"], ["--database", url]].map(|[flag, place]| {
        let done = langya(folder.path(), ["export", "votes", flag, place, "--text", "--out", "-"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        done.stdout
    });
    assert_eq!(exports[0], exports[1], "the log is the same to the last byte");

    let again = langya(folder.path(), ["import", "arena", "data/langya.db", "--database", url]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("6 battles"), "{}", again.stderr);
    let store = Store::open(&database.settings(), IfMissing::Fail).await.unwrap();
    assert_eq!(store.labels_between(Scheme::Urs, "", "~").await.unwrap(), labelled);
    assert_eq!(session_key(&store).await, key, "visitors keep their sessions");
    assert_eq!(store.vote_page(VoteRange::ALL, &[]).await.unwrap().votes, 4);
    assert_eq!(store.answered(&SuiteId::new("mtbench101"), "v1").await.unwrap().len(), 1);
    assert_eq!(store.judged(&SuiteId::new("mtbench101"), "v1").await.unwrap().len(), 1);
    assert_eq!(store.verdicts_of(&BattleId::new("x")).await.unwrap().len(), 1);
    assert_eq!(store.model_changes().await.unwrap(), recorded, "the register of models goes on");
    assert_eq!(store.counted_through().await.unwrap(), None, "and its battles are counted again");
    let shown = store.own_image(&VisitorId::new("visitor"), &image).await.unwrap().unwrap();
    assert_eq!(shown.bytes[..], images::bytes("i"), "images are no text");
    store.close().await;
    database.drop().await;
}

/// As a battle whose vote was stored in one transaction with a later one.
async fn ended_after_its_vote(file: &Path) {
    let options = SqliteConnectOptions::new().filename(file);
    let mut connection = options.connect().await.unwrap();
    let late =
        "UPDATE battles SET updated_at = updated_at + 3 WHERE id = (SELECT battle_id FROM votes ORDER BY seq LIMIT 1)";
    assert_eq!(sqlx::query(late).execute(&mut connection).await.unwrap().rows_affected(), 1);
    connection.close().await.unwrap();
}

#[actix_web::test]
async fn what_cannot_be_moved_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Scripted::saying("One."), Scripted::saying("Two."));
    let data = folder.path().join("data");
    let arena = TestArena::start_with(&[("one", &one), ("two", &two)], |settings| {
        settings.storage.data_dir.clone_from(&data);
    })
    .await;
    let into_sqlite = langya(folder.path(), ["import", "arena", "data/langya.db", "--data-dir", "other"]);
    assert_eq!(into_sqlite.code, Some(2));
    assert!(into_sqlite.stderr.contains("--database postgres://"), "{}", into_sqlite.stderr);
    let missing = langya(folder.path(), ["import", "arena", "nowhere.db", "--database", "postgres://127.0.0.1:1/x"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("nowhere.db"), "{}", missing.stderr);
    arena.end().await;
}
