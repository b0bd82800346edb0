//! Two instances that an operator has given different settings.

use serde_json::json;

use super::{check, lines, settings};
use crate::support::postgres::TestDatabase;
use crate::support::program::Server;
use crate::support::until;
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::Visitor;

/// Waits until each instance has looked at the other so many times more.
async fn looks(database: &TestDatabase, times: i64) {
    let pool = database.raw().await;
    let beats = || sqlx::query_scalar::<_, i64>("SELECT CAST(MIN(beats) AS BIGINT) FROM instances").fetch_one(&pool);
    let enough = beats().await.unwrap() + times;
    until(async || (beats().await.unwrap() >= enough).then_some(())).await;
}

#[actix_web::test]
async fn instances_with_different_models_say_so_once_and_a_model_that_one_lacks_costs_no_vote() {
    let Some(database) = TestDatabase::create().await else { return };
    let upstream = Upstream::start().await;
    for model in ["one", "two", "three", "four"] {
        upstream.script(model, Script::openai(["Fine."]));
    }
    let folder = tempfile::tempdir().unwrap();
    let serve = |file: &str, models: &[&str]| {
        std::fs::write(folder.path().join(file), settings(&upstream, models)).unwrap();
        Server::start(folder.path(), &["--config", file, "--database", &database.url])
    };
    let (first, second) = (serve("first.toml", &["one", "two"]), serve("second.toml", &["three", "four"]));
    let warning = "another instance runs with other settings: give all instances the same langya.toml";
    for server in [&first, &second] {
        server.logged(warning).await;
    }
    looks(&database, 6).await;

    let mut visitor = Visitor::connect(&first.url).await;
    visitor.ask("Which?").await;
    visitor.until_ready().await;
    let battle = visitor.battle();
    let mut there = Visitor::connect_with(&second.url, Some(("cookie", visitor.cookie().to_owned()))).await.unwrap();
    there.send(json!({"type": "resume", "battle": battle, "after": 0})).await;
    there.until_ready().await;
    for further in [json!({"type": "message", "prompt": "And then?"}), json!({"type": "regenerate"})] {
        there.send(further).await;
        let refused = there.next().await;
        check(&refused, "no_models");
        assert!(refused["message"].as_str().unwrap().contains("vote on what was answered"), "{refused}");
    }
    visitor.send(json!({"type": "message", "prompt": "And then?"})).await;
    visitor.until_ready().await;
    there.send(json!({"type": "resume", "battle": battle, "after": 0})).await;
    let ready = there.next_of(&["ready", "error"]).await;
    assert_eq!(ready["turn"], 2, "{ready}");
    check(&there.vote("a").await, "revealed");
    for server in [first, second] {
        let log = server.log_at_end().await;
        assert_eq!(lines(&log, warning), 1, "{log}");
        assert_eq!(lines(&log, "another instance serves this arena, and redis.url is not set"), 1, "{log}");
    }
    database.drop().await;
}
