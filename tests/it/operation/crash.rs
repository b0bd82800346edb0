//! `kill -9` in the middle of voting: no acknowledged vote is lost, no vote comes from nowhere, none counts twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use langya::domain::time::Timestamp;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store, VoteRow};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::support::arena::SEED;
use crate::support::program::{Server, langya};
use crate::support::upstream::{Script, Upstream};
use crate::support::visitor::Visitor;

const CYCLES: usize = 50;
const CLIENTS: usize = 3;
const OUTCOMES: [&str; 4] = ["a", "b", "tie", "both_bad"];

/// What the clients know: more than this nobody can claim.
#[derive(Default)]
struct Ledger {
    /// Outcomes by battle, noted before they are sent.
    sent: BTreeMap<String, String>,
    /// Receipts by battle, with the cookie of the voter.
    acknowledged: BTreeMap<String, (Value, String)>,
}

#[derive(Clone)]
struct Booth {
    ledger: Arc<Mutex<Ledger>>,
    /// Votes sent and receipts seen in this cycle.
    events: watch::Sender<[usize; 2]>,
}

/// Battles and votes until the server is gone.
async fn keep_voting(url: String, booth: Booth, first: usize) {
    let Ok(mut visitor) = Visitor::connect_with(&url, None).await else { return };
    for outcome in OUTCOMES.iter().cycle().skip(first) {
        if visitor.try_send(json!({"type": "start", "prompt": "Which?"})).await.is_err() {
            return;
        }
        let Ok(battle) = frame_of(&mut visitor, "ready").await else { return };
        let battle = battle["battle"].as_str().unwrap().to_owned();
        booth.ledger.lock().unwrap().sent.insert(battle.clone(), (*outcome).to_owned());
        let vote = json!({"type": "vote", "battle": battle, "outcome": outcome});
        if visitor.try_send(vote).await.is_err() {
            return;
        }
        booth.events.send_modify(|[sent, _]| *sent += 1);
        let Ok(receipt) = frame_of(&mut visitor, "revealed").await else { return };
        let cookie = visitor.cookie().to_owned();
        booth.ledger.lock().unwrap().acknowledged.insert(battle, (receipt, cookie));
        booth.events.send_modify(|[_, acknowledged]| *acknowledged += 1);
    }
}

async fn frame_of(visitor: &mut Visitor, kind: &str) -> Result<Value, ()> {
    loop {
        let frame = visitor.try_next().await.map_err(|_| ())?;
        assert_ne!(frame["type"], "error", "{frame}");
        if frame["type"] == kind {
            return Ok(frame);
        }
    }
}

/// Serves, lets clients vote, and kills the server at a random event after the first receipt.
async fn cycle(folder: &Path, ledger: &Arc<Mutex<Ledger>>, rng: &mut ChaCha8Rng) {
    let server = Server::start(folder, &["--config", "langya.toml"]);
    retry_the_latest_vote(&server.url, ledger).await;
    let booth = Booth { ledger: Arc::clone(ledger), events: watch::Sender::new([0; 2]) };
    let clients: Vec<_> =
        (0..CLIENTS).map(|first| tokio::spawn(keep_voting(server.url.clone(), booth.clone(), first))).collect();
    let further = rng.random_range(1..12);
    let mut events = booth.events.subscribe();
    events.wait_for(|[sent, seen]| *seen >= 1 && sent + seen > further).await.unwrap();
    server.kill();
    for client in clients {
        client.await.unwrap();
    }
}

/// A client that did not trust its receipt asks again, with another outcome.
async fn retry_the_latest_vote(url: &str, ledger: &Mutex<Ledger>) {
    let latest = ledger.lock().unwrap().acknowledged.last_key_value().map(|(id, known)| (id.clone(), known.clone()));
    let Some((battle, (receipt, cookie))) = latest else { return };
    let mut visitor = Visitor::connect_with(url, Some(("cookie", cookie))).await.unwrap();
    let other = if receipt["outcome"] == "a" { "b" } else { "a" };
    visitor.send(json!({"type": "vote", "battle": battle, "outcome": other})).await;
    assert_eq!(visitor.next_of(&["revealed", "error"]).await, receipt);
}

fn write_config(folder: &Path, upstream: &Upstream) {
    let model =
        |id: &str| format!("[[models]]\nid = \"{id}\"\nprovider = \"openai\"\nbase_url = \"{}/v1\"\n", upstream.url());
    let settings = "[server]\nworkers = 1\n[battle]\npacing = \"raw\"\n[providers]\npractice = \"never\"\n";
    std::fs::write(folder.join("langya.toml"), format!("{settings}{}{}", model("one"), model("two"))).unwrap();
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn fifty_kills_lose_no_acknowledged_vote() {
    println!("seed {SEED}");
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.script("one", Script::openai(["One."]));
    upstream.script("two", Script::openai(["Two."]));
    write_config(folder.path(), &upstream);
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    for _ in 0..CYCLES {
        cycle(folder.path(), &ledger, &mut rng).await;
    }
    let settings = StorageSettings { data_dir: folder.path().join("data"), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Fail).await.unwrap();
    let rows = store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 1_000_000).await.unwrap();
    compare(&rows, &ledger.lock().unwrap());
    assert_eq!(integrity(&settings.data_dir.join("langya.db")).await, "ok");
    store.close().await;
    the_log_fits_like_the_database(folder.path());
}

fn compare(rows: &[VoteRow], ledger: &Ledger) {
    assert!(ledger.acknowledged.len() >= CYCLES);
    let mut by_battle: BTreeMap<&str, &VoteRow> = BTreeMap::new();
    for row in rows {
        assert!(by_battle.insert(row.battle.as_str(), row).is_none(), "{} has two votes", row.battle);
        let sent = ledger.sent.get(row.battle.as_str()).unwrap_or_else(|| panic!("nobody voted on {}", row.battle));
        assert_eq!(sent, row.outcome.as_str(), "{}", row.battle);
    }
    for (battle, (receipt, _)) in &ledger.acknowledged {
        let row = by_battle.get(battle.as_str()).unwrap_or_else(|| panic!("the vote on {battle} is lost"));
        assert_eq!((&receipt["vote"], &receipt["outcome"]), (&json!(row.id), &json!(row.outcome.as_str())));
    }
}

async fn integrity(database: &Path) -> String {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&pool).await.unwrap()
}

/// The exported log, fitted by itself, gives the leaderboard of the database to the last digit.
fn the_log_fits_like_the_database(folder: &Path) {
    let exported = langya(folder, ["export", "votes", "--data-dir", "data", "--out", "votes.jsonl"]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let log = std::fs::read_to_string(folder.join("votes.jsonl")).unwrap();
    let lines = log.lines().map(|line| {
        let vote: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| vote[key].as_str().unwrap().to_owned();
        format!("{},{},{},{}\n", text("model_a"), text("model_b"), text("winner"), text("judge"))
    });
    std::fs::write(folder.join("votes.csv"), format!("model_a,model_b,winner,judge\n{}", lines.collect::<String>()))
        .unwrap();
    let from_log = langya(folder, ["fit", "--votes", "votes.csv", "--format", "json"]);
    let of_database = langya(folder, ["fit", "--data-dir", "data", "--format", "json"]);
    assert_eq!((from_log.code, of_database.code), (Some(0), Some(0)), "{}{}", from_log.stderr, of_database.stderr);
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(parse(&from_log.stdout), parse(&of_database.stdout));
}
