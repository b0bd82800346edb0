//! An arena that judges by itself: newly voted battles, within what the day allows.

use std::time::Duration;

use langya::domain::battle::BattleId;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store};

use super::{Battle, dozen, fair, fill, qualities};
use crate::bench::{Field, question, reply_behind};
use crate::support::program::Server;
use crate::support::upstream::{Gate, Script};
use crate::support::visitor::Visitor;

/// The longest wait; reached only by a failing test.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A field whose arena has the judge judge everything, with so many requests a day.
async fn field(max_calls_per_day: u64) -> Field {
    let field = Field::empty(&["one", "two"]).await;
    for model in ["one", "two"] {
        field.respond(model, |_, _| Script::openai(["I am «2»."]));
    }
    field.respond("judge", |request, times| fair(qualities(question(request)), times));
    let settings = std::fs::read_to_string(field.path().join("langya.toml")).unwrap();
    let settings = settings.replace("id = \"judge\"\n", "id = \"judge\"\nweight = 0.0\n");
    let judges = format!(
        "[battle]\npacing = \"raw\"\n[judge]\nmodels = [\"judge\"]\nshare = 1.0\n\
         max_calls_per_day = {max_calls_per_day}\n"
    );
    field.write("langya.toml", settings.replacen("[server]", &(judges + "[server]"), 1));
    field
}

async fn battle(server: &Server) -> BattleId {
    let mut visitor = Visitor::connect(&server.url).await;
    visitor.ask("Which river is the longest on earth?").await;
    visitor.until_ready().await;
    assert_eq!(visitor.vote("a").await["type"], "revealed");
    visitor.battle()
}

async fn store(field: &Field) -> Store {
    let settings = StorageSettings { data_dir: field.path().join("data"), ..StorageSettings::default() };
    Store::open(&settings, IfMissing::Fail).await.unwrap()
}

/// Waits until so many verdicts are kept.
async fn until_kept(store: &Store, count: u64) {
    let kept = async {
        let mut ticker = tokio::time::interval(Duration::from_millis(20));
        while store.verdict_count().await.unwrap() < count {
            ticker.tick().await;
        }
    };
    assert!(tokio::time::timeout(TIMEOUT, kept).await.is_ok(), "{} of {count}", store.verdict_count().await.unwrap());
}

#[actix_web::test]
async fn a_vote_has_its_battle_judged_and_the_judge_takes_part_in_none() {
    let field = field(0).await;
    let server = Server::start(field.path(), &[]);
    let store = store(&field).await;
    for number in 1..=3 {
        let id = battle(&server).await;
        until_kept(&store, 2 * number).await;
        let rows = store.verdicts_of(&id).await.unwrap();
        assert_eq!(rows.iter().map(|row| row.judge.as_str()).collect::<Vec<_>>(), ["judge"; 2]);
    }
    assert_eq!((field.requests("judge"), field.requests("one")), (6, 3));
    let log = server.log_at_end().await;
    assert!(!log.contains("river") && !log.contains("«2»") && log.contains("battles were judged"), "{log}");
}

#[actix_web::test]
async fn a_days_limit_is_kept_also_by_an_arena_that_starts_again() {
    let field = field(5).await;
    let mut battles = dozen();
    let now = jiff::Timestamp::now().as_millisecond();
    battles.iter_mut().for_each(|battle| battle.voted_at = now);
    fill(&field, &battles).await;
    let server = Server::start(field.path(), &[]);
    server.logged("the daily budget for judging battles is used up").await;
    server.log_at_end().await;
    assert_eq!(field.requests("judge"), 5);
    let server = Server::start(field.path(), &[]);
    server.logged("the daily budget for judging battles is used up").await;
    assert_eq!(field.requests("judge"), 5, "a restart does not forget what was asked");

    let settings = std::fs::read_to_string(field.path().join("langya.toml")).unwrap();
    field.write("edited", settings.replace("max_calls_per_day = 5", "max_calls_per_day = 0"));
    std::fs::rename(field.path().join("edited"), field.path().join("langya.toml")).unwrap();
    let store = store(&field).await;
    until_kept(&store, 24).await;
    assert_eq!((field.requests("judge"), field.repeated("judge")), (24, 0), "an edit is taken up while it runs");
    server.log_at_end().await;
}

#[actix_web::test]
async fn old_votes_are_left_to_the_command_and_an_arena_ends_while_a_judge_thinks() {
    let field = field(0).await;
    let old = dozen();
    let now = jiff::Timestamp::now().as_millisecond();
    let new = Battle { voted_at: now, ..Battle::new(77, [2, 1]) };
    fill(&field, &[&old[..], &[new]].concat()).await;
    let gate = Gate::new();
    field.respond("judge", move |_, _| reply_behind(&gate, "[[A]]"));
    let server = Server::start(field.path(), &[]);
    field.upstream.until_received(2).await;
    // The judge says nothing as long as the gate is shut.
    let ended = tokio::task::spawn_blocking(move || server.terminate());
    let status = tokio::time::timeout(TIMEOUT, ended).await.expect("it waits for no judge").unwrap();
    assert!(status.success());
    assert_eq!(field.requests("judge"), 2, "both orders of the new battle alone");
    assert_eq!(store(&field).await.verdict_count().await.unwrap(), 0);
}

#[actix_web::test]
async fn nothing_is_sent_where_no_judge_is_set() {
    let field = field(0).await;
    let new = Battle { voted_at: jiff::Timestamp::now().as_millisecond(), ..Battle::new(77, [2, 1]) };
    fill(&field, &[new]).await;
    let settings = std::fs::read_to_string(field.path().join("langya.toml")).unwrap();
    field.write("langya.toml", settings.replace("models = [\"judge\"]", "models = []"));
    let server = Server::start(field.path(), &[]);
    // The arena looks for battles at its start, long before this one is through.
    battle(&server).await;
    server.log_at_end().await;
    assert_eq!(field.requests("judge"), 0);
    assert_eq!(store(&field).await.verdict_count().await.unwrap(), 0);
}

/// The job waits as long as the settings say, an hour at most, and other settings for judges end the wait.
#[actix_web::test]
async fn a_judge_that_asks_to_wait_for_ages_does_not_end_the_job() {
    let field = field(0).await;
    field.edit("backoff_ms = 1\n", "backoff_ms = 60000\n");
    field.respond("judge", |request, times| match times {
        1 => Script::whole("429 Too Many Requests", "retry-after: 18446744073709551615\r\n", "slow down"),
        _ => fair(qualities(question(request)), times),
    });
    let new = Battle { voted_at: jiff::Timestamp::now().as_millisecond(), ..Battle::new(77, [2, 1]) };
    fill(&field, &[new]).await;
    let server = Server::start(field.path(), &[]);
    field.upstream.until_received(2).await;
    field.edit("max_calls_per_day = 0", "max_calls_per_day = 100");
    until_kept(&store(&field).await, 2).await;
    let log = server.log_at_end().await;
    assert!(!log.contains("panic"), "{log}");
}
