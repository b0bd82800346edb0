//! Derived tables can be lost: a refit restores every number exactly.

use serde_json::Value;
use sqlx::sqlite::SqlitePool;

use crate::support::arena::TestArena;
use crate::support::program::langya;
use crate::support::scripted::Scripted;

#[actix_web::test]
async fn refitting_after_emptying_derived_tables_gives_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let scripted = ["one", "two", "三"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = scripted.iter().map(|(name, model)| (*name, model)).collect();
    let start = || TestArena::start_with(&models, |settings| settings.storage.data_dir.clone_from(&data));
    let arena = start().await;
    let mut visitor = arena.visitor().await;
    for outcome in ["a", "b", "tie", "both_bad", "a", "a", "b"] {
        visitor.ask("Which one?").await;
        visitor.until_ready().await;
        assert_eq!(visitor.vote(outcome).await["type"], "revealed");
    }
    arena.end().await;

    let address = format!("sqlite:{}", data.join("langya.db").display());
    let database = SqlitePool::connect(&address).await.unwrap();
    let kept: i64 = sqlx::query_scalar("SELECT last_vote_seq FROM vote_counts").fetch_one(&database).await.unwrap();
    assert_eq!(kept, 7, "the counts are kept at the end");
    let fit = || langya(folder.path(), ["fit", "--data-dir", "data", "--format", "json"]).stdout;
    let with_counts = fit();
    assert!(with_counts.contains("\"rated\": 7"), "{with_counts}");
    for table in ["leaderboards", "vote_counts"] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("DELETE FROM {table}"))).execute(&database).await.unwrap();
    }
    assert_eq!(fit(), with_counts);

    let again = start().await;
    let mut changes = again.app.leaderboard.changes();
    changes.wait_for(|snapshot| snapshot.last_vote_seq == 7).await.unwrap();
    let leaderboard = serde_json::to_value(&again.app.leaderboard.latest().leaderboard).unwrap();
    assert_eq!(leaderboard, serde_json::from_str::<Value>(&with_counts).unwrap());
    again.end().await;
    database.close().await;
}
