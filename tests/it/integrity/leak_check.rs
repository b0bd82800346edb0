//! A language model checks voted battles for leaks that no rule finds: its requests, its replies and its failures.

use langya::infra::storage::{ExclusionRow, LeakCheckCounts, Store};
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

use crate::bench::{Field, question, reply, reply_behind};
use crate::support::program::{Server, langya};
use crate::support::until;
use crate::support::upstream::{Gate, Script};
use crate::support::visitor::{Visitor, get};

/// It says who made it, in words that no rule knows.
const TELLTALE: &str = "Moss has no roots. The people whose search page everybody opens first taught me that.";

/// A field whose model `one` gives itself away and whose judge reads battles.
async fn field() -> Field {
    let field = Field::empty(&["one", "two"]).await;
    field.respond("one", |_, _| Script::openai([TELLTALE]));
    field.respond("two", |_, _| Script::openai(["Moss is a plant."]));
    field.respond("judge", |request, _| reply(&as_a_reader(question(request))));
    let settings = std::fs::read_to_string(field.path().join("langya.toml")).unwrap();
    let settings = settings.replace("id = \"judge\"\n", "id = \"judge\"\nweight = 0.0\n");
    let parts = "[battle]\npacing = \"raw\"\n[integrity]\nleak_judge = \"judge\"\n[server]";
    field.write("langya.toml", settings.replacen("[server]", parts, 1));
    field
}

/// Reads what it is sent: names the text that holds the telltale's words.
fn as_a_reader(question: &str) -> String {
    let (before, _) = question.split_once("The people whose search page").expect("the conversation is in the question");
    let heading = before.lines().rev().find(|line| line.starts_with("### ")).unwrap();
    let name = heading.splitn(3, ' ').nth(2).unwrap();
    format!("One text describes its maker.\nleaks: {name}")
}

async fn battle(server: &Server) -> Visitor {
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("What is moss?").await;
    visitor.until_ready().await;
    visitor
}

/// Waits until so many votes are checked.
async fn checked(store: &Store, count: u64) -> LeakCheckCounts {
    until(async || Some(store.leak_check_counts().await.unwrap()).filter(|counts| counts.checked == count)).await
}

async fn exclusions(store: &Store) -> Vec<ExclusionRow> {
    store.exclusions_of(1).await.unwrap()
}

#[actix_web::test]
async fn a_vote_is_excluded_once_the_model_finds_a_leak_and_stays_in_when_a_person_says_so() {
    let field = field().await;
    let server = Server::start(field.path(), &[]);
    let told = battle(&server).await.vote("a").await;
    assert_eq!((&told["type"], told.get("excluded")), (&Value::from("revealed"), None), "nobody waits for the model");
    let store = field.store().await;
    assert_eq!(checked(&store, 1).await, LeakCheckCounts { checked: 1, found: 1, unread: 0 });
    let side = if told["a"]["id"] == "one" { "A" } else { "B" };
    let rows = exclusions(&store).await;
    let reason = format!("reply {side} of turn 1 says which model or maker wrote it, as judge reads it");
    let said: Vec<_> = rows.iter().map(|row| [&row.rule, &row.reason, &row.excluded_by].map(String::as_str)).collect();
    assert_eq!(said, [["identity_leak", &reason, "langya"]]);
    let excluded = async || {
        let leaderboard: Value = get(&format!("{}/api/v1/leaderboard", server.url)).await.json().await.unwrap();
        (leaderboard["votes"]["excluded"]["identity_leak"] == 1).then_some(())
    };
    until(excluded).await;

    field.done(&["votes", "include", "--seq", "1", "--rule", "identity_leak"]).await;
    let log = server.log_at_end().await;
    assert!(log.contains("votes were checked for leaks") && !log.contains("search page"), "{log}");
    let server = Server::start(field.path(), &[]);
    battle(&server).await.vote("b").await;
    assert_eq!(checked(&store, 2).await.found, 2);
    let rows = exclusions(&store).await;
    assert!(rows.len() == 1 && rows[0].withdrawn.is_some(), "{rows:?}");
    assert_eq!(field.requests("judge"), 2, "it was asked once a vote");
    server.log_at_end().await;
}

#[actix_web::test]
async fn the_model_is_sent_the_texts_and_nothing_else_of_the_battle() {
    let field = field().await;
    let server = Server::start(field.path(), &[]);
    let mut visitor = battle(&server).await;
    visitor.vote("a").await;
    checked(&field.store().await, 1).await;
    for path in ["/about", "/consent"] {
        let page = get(&format!("{}{path}", server.url)).await.text().await.unwrap();
        assert!(page.contains("is sent to the provider of the model judge"), "{path}: {page}");
    }
    let sent = field.upstream.received().into_iter().find(|request| request.body["model"] == "judge").unwrap();
    let body = sent.body.to_string();
    assert!(["What is moss?", "search page", "Moss is a plant."].iter().all(|text| body.contains(text)), "{body}");
    for secret in [visitor.battle().as_str(), "\"one\"", "\"two\"", "outcome", "visitor\":"] {
        assert!(!body.contains(secret), "{secret}: {body}");
    }
    server.log_at_end().await;
}

#[actix_web::test]
async fn what_cannot_be_read_is_asked_twice_and_what_fails_is_asked_again_later_and_neither_excludes() {
    let field = field().await;
    field.respond("judge", |_, _| reply("Hard to say."));
    let server = Server::start(field.path(), &[]);
    battle(&server).await.vote("a").await;
    let store = field.store().await;
    assert_eq!(checked(&store, 1).await, LeakCheckCounts { checked: 1, found: 0, unread: 1 });
    assert_eq!(field.requests("judge"), 2);

    field.respond("judge", |_, _| Script::whole("500 Internal Server Error", "", ""));
    battle(&server).await.vote("a").await;
    server.logged("a vote could not be checked for leaks").await;
    let metrics = get(&format!("{}/metrics", server.url)).await.text().await.unwrap();
    assert!(metrics.contains("langya_leak_checks_total{result=\"failed\"} 1"), "{metrics}");
    let log = server.log_at_end().await;
    assert!(!log.contains("search page") && !log.contains("Hard to say"), "{log}");
    assert_eq!(store.leak_check_counts().await.unwrap().checked, 1);
    assert_eq!(store.exclusion_changes().await.unwrap(), 0);

    field.respond("judge", |request, _| reply(&as_a_reader(question(request))));
    let server = Server::start(field.path(), &[]);
    assert_eq!(checked(&store, 2).await, LeakCheckCounts { checked: 2, found: 1, unread: 1 });
    server.log_at_end().await;
}

#[actix_web::test]
async fn requests_that_fail_count_against_the_days_limit_too() {
    let field = field().await;
    field.edit("leak_judge = \"judge\"\n", "leak_judge = \"judge\"\nleak_judge_calls_per_day = 4\n");
    field.respond("judge", |_, _| Script::whole("500 Internal Server Error", "", ""));
    let server = Server::start(field.path(), &[]);
    battle(&server).await.vote("a").await;
    server.logged("a vote could not be checked for leaks").await;
    assert_eq!(field.requests("judge"), 3, "one check, with its tries");
    // Any edit of the settings ends the wait after a failure.
    field.edit("backoff_ms = 1\n", "backoff_ms = 2\n");
    server.logged("the daily limit of leak checks is reached").await;
    assert_eq!(field.requests("judge"), 4);
    server.log_at_end().await;
}

#[actix_web::test]
async fn requests_whose_checks_cannot_be_stored_count_against_the_days_limit_too() {
    let field = field().await;
    field.edit("leak_judge = \"judge\"\n", "leak_judge = \"judge\"\nleak_judge_calls_per_day = 1\n");
    let server = Server::start(field.path(), &[]);
    let file = SqliteConnectOptions::new().filename(field.path().join("data/langya.db"));
    let pool = SqlitePool::connect_with(file).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON leak_checks BEGIN SELECT RAISE(ABORT, 'refused'); END";
    sqlx::query(refuse).execute(&pool).await.unwrap();
    battle(&server).await.vote("a").await;
    server.logged("a background pass over voted battles failed").await;
    // Any edit of the settings ends the wait after a failure.
    field.edit("backoff_ms = 1\n", "backoff_ms = 2\n");
    server.logged("the daily limit of leak checks is reached").await;
    assert_eq!(field.requests("judge"), 1);
    server.log_at_end().await;
}

#[actix_web::test]
async fn a_days_limit_is_kept_by_an_arena_that_starts_again_and_an_arena_ends_while_the_model_thinks() {
    let field = field().await;
    field.edit("leak_judge = \"judge\"\n", "leak_judge = \"judge\"\nleak_judge_calls_per_day = 1\n");
    let server = Server::start(field.path(), &[]);
    for _ in 0..2 {
        battle(&server).await.vote("a").await;
    }
    server.logged("the daily limit of leak checks is reached").await;
    server.log_at_end().await;
    let server = Server::start(field.path(), &[]);
    server.logged("the daily limit of leak checks is reached").await;
    assert_eq!(field.requests("judge"), 1);
    let store = field.store().await;
    assert_eq!(store.leak_check_counts().await.unwrap().checked, 1);

    let gate = Gate::new();
    let behind = gate.clone();
    field.respond("judge", move |_, _| reply_behind(&behind, "leaks: none"));
    let asked = field.requests("judge");
    field.edit("leak_judge_calls_per_day = 1\n", "leak_judge_calls_per_day = 0\n");
    until(async || (field.requests("judge") > asked).then_some(())).await;
    // It says nothing as long as the gate is shut.
    server.log_at_end().await;
    assert_eq!(store.leak_check_counts().await.unwrap().checked, 1);
}

#[test]
fn a_model_that_reads_votes_needs_a_rule_that_excludes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("langya.toml"), "[integrity]\nleaks = \"mark\"\nleak_judge = \"judge\"\n")
        .unwrap();
    let run = langya(folder.path(), ["serve"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("integrity.leak_judge") && run.stderr.contains("leaks = \"exclude\""), "{run:?}");
}
