//! The public log over HTTP: what a visitor, a monitor and an operator see of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use langya::domain::doctor::Finding;
use langya::domain::public_log::promise::VotePromise;
use langya::domain::public_log::signed_note::VerifierKey;
use langya::domain::public_log::tlog_proof::LoggedEntry;
use langya::domain::time::Timestamp;
use langya::infra::config::StorageSettings;
use langya::infra::public_log::signing_key::PublicLogKey;
use langya::infra::storage::{InsertedVote, NewExclusions, NewVoteRow};
use langya::infra::time::clock::{Clock as _, SystemClock};
use langya::services::doctor::examine_open;
use langya::services::public_log::database_check::CheckedDatabase;
use serde_json::Value;

use crate::storage;
use crate::storage::public_log::sequencer;
use crate::support::arena::TestArena;
use crate::support::program::langya_beside;
use crate::support::scripted::Scripted;
use crate::support::visitor::{Visitor, get};
use crate::support::{embedded, until};

async fn vote(visitor: &mut Visitor, outcome: &str) -> String {
    visitor.ask("Which river is longer?").await;
    visitor.until_ready().await;
    let revealed = visitor.vote(outcome).await;
    assert_eq!(revealed["type"], "revealed");
    revealed["vote"].as_str().unwrap().to_owned()
}

async fn json(arena: &TestArena, path: &str) -> Value {
    get(&format!("{}{path}", arena.url)).await.json().await.unwrap()
}

async fn text(arena: &TestArena, path: &str) -> String {
    let response = get(&format!("{}{path}", arena.url)).await;
    assert_eq!(response.status(), 200, "{path}");
    response.text().await.unwrap()
}

async fn start() -> TestArena {
    let models = ["one", "two", "three"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    TestArena::start_with(&models, |_| {}).await
}

/// Waits until the log of an arena has so many entries.
async fn until_logged(arena: &TestArena, entries: u64) {
    until(async || {
        let latest = arena.app.public_log.latest().await.unwrap()?;
        (latest.head.size >= entries).then_some(())
    })
    .await;
}

#[actix_web::test]
async fn a_voter_keeps_a_proof_of_the_vote() {
    let arena = start().await;
    let mut visitor = arena.visitor().await;
    let mut votes = Vec::new();
    for outcome in ["a", "b", "tie", "both_bad"] {
        votes.push(vote(&mut visitor, outcome).await);
    }
    let promised = json(&arena, &format!("/api/v1/log/votes/{}", votes[3])).await;
    assert!(promised["included_by"].is_i64() || promised["state"] == "logged", "{promised}");
    until_logged(&arena, 4).await;

    let log = json(&arena, "/api/v1/log").await;
    let key = VerifierKey::parse(log["key"].as_str().unwrap()).unwrap();
    for (index, (id, winner)) in votes.iter().zip(["model_a", "model_b", "tie", "both_bad"]).enumerate() {
        let receipt = json(&arena, &format!("/api/v1/log/votes/{id}")).await;
        assert_eq!((receipt["state"].as_str(), receipt["index"].as_u64()), (Some("logged"), Some(index as u64)));
        let proof = text(&arena, &format!("/api/v1/log/votes/{id}.tlog-proof")).await;
        assert_eq!(receipt["proof"], proof.as_str());
        let logged = LoggedEntry::parse(&proof).unwrap();
        let checkpoint = logged.verify(&key).unwrap();
        assert_eq!((checkpoint.head.size, checkpoint.origin.as_str()), (4, key.name()));
        let entry: Value = serde_json::from_slice(&logged.entry).unwrap();
        assert_eq!(entry["vote"]["winner"], winner);
        assert_eq!(receipt["entry"], std::str::from_utf8(&logged.entry).unwrap());
        for at in 0..proof.len() {
            let mut changed = proof.clone().into_bytes();
            changed[at] ^= 1;
            let forged = String::from_utf8(changed).ok().and_then(|text| LoggedEntry::parse(&text));
            assert!(forged.is_none_or(|forged| forged.verify(&key).is_err()), "byte {at} of the proof");
        }
    }
    let page = text(&arena, &format!("/log?vote={}", votes[0])).await;
    assert!(page.contains("has index 0 in the log of 4 entries") && page.contains("c2sp.org/tlog-proof@v1"), "{page}");
    assert!(text(&arena, "/log?vote=nobody&lang=zh").await.contains("没有这个编号的投票"));
    assert!(text(&arena, "/log").await.contains(&format!("langya verify {}/log --key", arena.url)));
    arena.end().await;
}

#[actix_web::test]
async fn checkpoint_and_tiles_are_served_as_other_tools_expect_them() {
    let arena = start().await;
    let mut visitor = arena.visitor().await;
    for outcome in ["a", "b", "tie"] {
        vote(&mut visitor, outcome).await;
    }
    until_logged(&arena, 3).await;
    let head = get(&format!("{}/log/checkpoint", arena.url)).await;
    assert_eq!(
        (head.headers()["content-type"].to_str().unwrap(), head.headers()["cache-control"].to_str().unwrap()),
        ("text/plain; charset=utf-8", "no-cache")
    );
    for (path, bytes) in [("tile/0/000.p/3", Some(96)), ("tile/0/000.p/2", Some(64)), ("tile/entries/000.p/1", None)] {
        let tile = get(&format!("{}/log/{path}", arena.url)).await;
        assert_eq!(tile.status(), 200, "{path}");
        let headers = tile.headers();
        assert_eq!(headers["content-type"], "application/octet-stream");
        assert!(headers["cache-control"].to_str().unwrap().contains("immutable"));
        let found = tile.bytes().await.unwrap().len();
        assert!(bytes.is_none_or(|bytes| bytes == found), "{path}: {found}");
    }
    for path in [
        "tile/0/000.p/4",
        "tile/0/000",
        "tile/1/000.p/1",
        "tile/entries/001.p/1",
        "tile/0/0",
        "tile/x/000",
        "tile/0/%00",
    ] {
        assert_eq!(get(&format!("{}/log/{path}", arena.url)).await.status(), 404, "{path}");
    }
    assert_eq!(get(&format!("{}/api/v1/log/votes/%00", arena.url)).await.status(), 404);
    arena.end().await;
}

/// The receipt of a vote is its promise: signed, the same on every retry, and kept by the vote's entry alone.
#[actix_web::test]
async fn a_voter_is_promised_an_entry_and_can_tell_whether_it_came() {
    let arena = start().await;
    let folder = tempfile::tempdir().unwrap();
    let verify = async |arguments: &[&str]| langya_beside(folder.path(), &[&["verify"], arguments].concat()).await;
    let address = format!("{}/log", arena.url);
    let mut visitor = arena.visitor().await;
    visitor.ask("Which river is longer?").await;
    visitor.until_ready().await;
    let revealed = visitor.vote("b").await;
    assert_eq!(visitor.vote("a").await, revealed, "a retry, whatever it says");
    let mut back = visitor.reconnect().await;
    back.send(serde_json::json!({"type": "resume", "battle": visitor.battle(), "after": 0})).await;
    assert_eq!(back.next_of(&["revealed"]).await["promise"], revealed["promise"]);

    let key = VerifierKey::parse(json(&arena, "/api/v1/log").await["key"].as_str().unwrap()).unwrap();
    let note = revealed["promise"].as_str().unwrap().to_owned();
    let promise = VotePromise::verify(&note, &key).unwrap();
    assert_eq!((promise.vote.as_str(), promise.winner.as_str()), (revealed["vote"].as_str().unwrap(), "model_b"));
    assert_eq!([&promise.model_a, &promise.model_b], [&revealed["a"]["id"], &revealed["b"]["id"]]);
    assert_eq!(
        (promise.included_by - promise.time, promise.included_by),
        (60_000, revealed["included_by"].as_i64().unwrap())
    );
    until_logged(&arena, 1).await;
    std::fs::write(folder.path().join("mine.json"), revealed.to_string()).unwrap();
    let name = key.to_string();
    let alone = verify(&["mine.json", "--key", &name]).await;
    assert!(alone.code == Some(0) && alone.stdout.contains("\"winner\":\"model_b\""), "{alone:?}");
    let kept = verify(&[&address, "--receipt", "mine.json"]).await;
    assert!(kept.code == Some(0) && kept.stdout.contains("receipts: 1 in the log"), "{kept:?}");
    // A promise by the arena's own key that no entry keeps, as an arena that drops votes would leave it.
    let seed = arena.app.store.secret("log_key", "", Timestamp(0)).await.unwrap();
    let own = PublicLogKey::new(key.name(), secrecy::ExposeSecret::expose_secret(&seed)).unwrap();
    let other = VotePromise { winner: "model_a".into(), ..promise.clone() };
    std::fs::write(folder.path().join("broken"), own.sign_promise(&other)).unwrap();
    let broken = verify(&[&address, "--receipt", "broken"]).await;
    assert!(broken.code == Some(1) && broken.stderr.contains("it broke its promise"), "{broken:?}");
    std::fs::write(folder.path().join("forged"), note.replace("model_b\",\"time", "model_a\",\"time")).unwrap();
    let forged = verify(&["forged", "--key", &name]).await;
    assert!(forged.code == Some(1) && forged.stderr.contains("signature"), "{forged:?}");
    let own_rows = database_check(&arena).await;
    assert_eq!((own_rows.votes, own_rows.without_salt), (1, 0));
    arena.end().await;
}

/// What `/readyz` says while no vote is promised.
const BEHIND: &str = "ready\npublic log: behind, new votes are counted without a promise, see the log\n";

/// A data folder in which the log cannot be continued, and lacks a vote that was cast two minutes ago. Returns what stands in the way.
pub(crate) async fn folder_of_a_log_that_is_behind(data: &Path) -> PathBuf {
    let settings = StorageSettings { data_dir: data.to_owned(), ..StorageSettings::default() };
    let store = embedded::open(&settings).await;
    storage::ready(&store, "late").await;
    let created_at = Timestamp(SystemClock.now().0 - 120_000);
    let late = NewVoteRow { created_at, ..storage::vote("vote-late", "late", 1) };
    assert_eq!(store.insert_vote(&late).await.unwrap(), InsertedVote::Stored);
    store.close().await;
    // Where the file of the latest checkpoint should be.
    let obstacle = data.join("log-checkpoint");
    std::fs::create_dir(&obstacle).unwrap();
    obstacle
}

#[actix_web::test]
async fn while_the_log_is_behind_votes_count_without_a_promise_and_everybody_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let obstacle = folder_of_a_log_that_is_behind(&data).await;
    let models = ["one", "two"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    let arena = TestArena::start_with(&models, |settings| settings.storage.data_dir.clone_from(&data)).await;
    until(async || (text(&arena, "/readyz").await == BEHIND).then_some(())).await;

    let mut visitor = arena.visitor().await;
    visitor.ask("Which river is longer?").await;
    visitor.until_ready().await;
    let unpromised = visitor.vote("a").await;
    assert!(unpromised["included_by"].is_null() && unpromised["promise"].is_null(), "{unpromised}");
    assert_eq!(visitor.vote("b").await, unpromised, "a retry, whatever it says");
    let id = unpromised["vote"].as_str().unwrap();
    let receipt = json(&arena, &format!("/api/v1/log/votes/{id}")).await;
    assert_eq!(receipt, serde_json::json!({"vote": id, "state": "delayed"}));
    let page = text(&arena, &format!("/log?vote={id}")).await;
    assert!(page.contains("The log is behind: it lacks votes") && page.contains("no time can be promised"), "{page}");
    assert!(text(&arena, "/log?lang=zh").await.contains("日志目前滞后"));

    let admin = examine_open(&arena.app.settings.now(), &arena.app.store, SystemClock.now()).await;
    assert!(admin.iter().any(|finding| matches!(finding, Finding::PublicLogBehind(2..))), "{admin:?}");
    let doctor = langya_beside(folder.path(), &["doctor", "--no-models", "--format", "json"]).await;
    let findings: Vec<Value> = serde_json::from_str(&doctor.stdout).unwrap();
    let log = findings.iter().find(|finding| finding["check"] == "public log").unwrap();
    assert_eq!((doctor.code, log["severity"].as_str()), (Some(1), Some("wrong")), "{doctor:?}");
    assert!(log["advice"].as_str().unwrap().contains("why it cannot append to the public log"), "{log}");

    std::fs::remove_dir(&obstacle).unwrap();
    // Its leaderboard wakes the job.
    vote(&mut visitor, "b").await;
    until(async || (text(&arena, "/readyz").await == "ready\n").then_some(())).await;
    assert!(!text(&arena, "/log").await.contains("The log is behind"));
    visitor.ask("And which is wider?").await;
    visitor.until_ready().await;
    let promised = visitor.vote("tie").await;
    assert!(promised["included_by"].is_i64() && promised["promise"].is_string(), "{promised}");
    until_logged(&arena, 4).await;
    assert_eq!(database_check(&arena).await.votes, 4);
    std::fs::write(folder.path().join("mine.json"), promised.to_string()).unwrap();
    let address = format!("{}/log", arena.url);
    let verified = langya_beside(folder.path(), &["verify", address.as_str(), "--receipt", "mine.json"]).await;
    assert_eq!(verified.code, Some(0), "{verified:?}");
    arena.end().await;
}

/// Compares the rows of an arena with its log.
async fn database_check(arena: &TestArena) -> CheckedDatabase {
    arena.app.public_log.check_database(|_| {}).await.unwrap()
}

/// Copies a database that nobody writes to, in place of the one that is there.
fn copy_database(from: &Path, to: &Path) {
    for file in ["langya.db", "langya.db-wal", "langya.db-shm"] {
        // Whichever of them is not there is no part of the database.
        let _ = std::fs::remove_file(to.join(file));
        let _ = std::fs::copy(from.join(file), to.join(file));
    }
}

#[actix_web::test]
async fn a_restored_backup_is_not_signed_and_a_restart_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let models = ["one", "two"].map(|name| (name, Scripted::saying(name)));
    let models: Vec<(&str, &Scripted)> = models.iter().map(|(name, model)| (*name, model)).collect();
    let start = || TestArena::start_with(&models, |settings| settings.storage.data_dir.clone_from(&data));
    let play = async |votes: u64, entries: u64| {
        let arena = start().await;
        let mut visitor = arena.visitor().await;
        for _ in 0..votes {
            vote(&mut visitor, "a").await;
        }
        until_logged(&arena, entries).await;
        let checkpoint = text(&arena, "/log/checkpoint").await;
        arena.app.store.close().await;
        arena.end().await;
        checkpoint
    };
    play(2, 2).await;
    let backup = tempfile::tempdir().unwrap();
    copy_database(&data, backup.path());
    let before = play(1, 3).await;
    assert_eq!(before.lines().nth(1), Some("3"), "a restart continues the log");
    copy_database(backup.path(), &data);
    let arena = start().await;
    until(async || (text(&arena, "/readyz").await == BEHIND).then_some(())).await;
    let findings = examine_open(&arena.app.settings.now(), &arena.app.store, SystemClock.now()).await;
    let shrank = |finding: &Finding| matches!(finding, Finding::PublicLogNotContinued(why) if why.contains("shrank"));
    assert!(findings.iter().any(shrank) && !findings.contains(&Finding::PublicLogCurrent), "{findings:?}");
    let mut visitor = arena.visitor().await;
    visitor.ask("Which river is longer?").await;
    visitor.until_ready().await;
    let unpromised = visitor.vote("b").await;
    assert_eq!(unpromised["type"], "revealed");
    assert!(unpromised["included_by"].is_null() && unpromised["promise"].is_null(), "{unpromised}");
    until(async || (arena.app.leaderboard.latest().leaderboard.votes.read == 3).then_some(())).await;
    let error = sequencer(&arena.app.store, &data).await.append().await.unwrap_err().to_string();
    assert!(error.contains("the public log shrank: the database has 2 entries, but 3 were signed before"), "{error}");
    assert_eq!(text(&arena, "/log/checkpoint").await.lines().nth(1), Some("2"), "the arena signs nothing either");
    // As the error says where there is no later backup.
    std::fs::remove_file(data.join("log-checkpoint")).unwrap();
    until(async || (text(&arena, "/readyz").await == "ready\n").then_some(())).await;
    arena.end().await;
}

#[actix_web::test]
async fn langya_verify_checks_an_arena_from_outside() {
    let arena = start().await;
    let mut visitors = [arena.visitor().await, arena.visitor().await];
    let mut votes = Vec::new();
    for (turn, outcome) in ["a", "b", "tie", "a", "a", "both_bad"].into_iter().enumerate() {
        votes.push(vote(&mut visitors[turn % 2], outcome).await);
    }
    until_logged(&arena, 6).await;
    let folder = tempfile::tempdir().unwrap();
    let address = format!("{}/log", arena.url);
    let verify = async |arguments: &[&str]| langya_beside(folder.path(), &[&["verify"], arguments].concat()).await;
    let first = verify(&[&address]).await;
    assert_eq!(first.code, Some(0), "{first:?}");
    for said in ["signature: good", "6 entries lead to the root", "seen for the first time", "(6 votes)", "verified"] {
        assert!(first.stdout.contains(said), "{said}: {}", first.stdout);
    }

    let decision = NewExclusions {
        id: "d".into(),
        rule: "admin".into(),
        reason: "a test".into(),
        decided_by: "ann".into(),
        decided_at: Timestamp(7),
    };
    assert_eq!(arena.app.store.exclude(&decision, &[2], None).await.unwrap(), 1);
    until_logged(&arena, 7).await;
    let receipt = folder.path().join("mine.tlog-proof");
    std::fs::write(&receipt, text(&arena, &format!("/api/v1/log/votes/{}.tlog-proof", votes[4])).await).unwrap();
    let again = verify(&[&address, "--receipt", "mine.tlog-proof", "--format", "json"]).await;
    assert_eq!(again.code, Some(0), "{again:?}");
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(
        (&again["known_size"], &again["size"], &again["excluded"]),
        (&6.into(), &7.into(), &1.into()),
        "{again}"
    );
    assert_eq!((&again["receipts"], &again["leaderboard_votes"]), (&1.into(), &6.into()));
    let key = again["key"].as_str().unwrap();
    let alone = verify(&["mine.tlog-proof", "--key", key]).await;
    assert!(alone.code == Some(0) && alone.stdout.contains("entry 4 of 7"), "{alone:?}");

    std::fs::write(&receipt, std::fs::read_to_string(&receipt).unwrap().replace("index 4", "index 3")).unwrap();
    let forged = verify(&["mine.tlog-proof", "--key", key]).await;
    assert!(forged.code == Some(1) && forged.stderr.contains("not at position 3"), "{forged:?}");
    let forged = verify(&[&address, "--receipt", "mine.tlog-proof"]).await;
    assert!(forged.code == Some(1) && forged.stderr.contains("mine.tlog-proof"), "{forged:?}");
    let stranger = VerifierKey::new("arena.example/log", [3; 32]).unwrap().to_string();
    let other = verify(&[&address, "--key", &stranger]).await;
    assert!(other.code == Some(1) && other.stderr.contains("the key of the log has changed"), "{other:?}");
    for wrong in [&["nowhere"][..], &[&address, "--key", "nonsense"], &["mine.tlog-proof"]] {
        let refused = verify(wrong).await;
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
    arena.end().await;
}

#[actix_web::test]
async fn a_log_that_cannot_be_read_is_not_taken_for_a_wrong_key() {
    let folder = tempfile::tempdir().unwrap();
    let silent = langya_beside(folder.path(), &["verify", "http://127.0.0.1:1/log"]).await;
    let said = "http://127.0.0.1:1/api/v1/log cannot be read";
    assert!(silent.code == Some(1) && silent.stderr.contains(said), "{silent:?}");
    let empty = langya_beside(folder.path(), &["verify", "."]).await;
    assert!(empty.code == Some(2) && empty.stderr.contains("log.json"), "{empty:?}");
    assert!(empty.stderr.contains("--key") && !empty.stderr.contains("looks like"), "{empty:?}");
}

#[actix_web::test]
async fn a_reader_in_another_language_checks_the_log() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: a reader in another language (install python3)");
        return;
    }
    let arena = start().await;
    let mut visitor = arena.visitor().await;
    for outcome in ["a", "b", "tie"] {
        vote(&mut visitor, outcome).await;
    }
    until_logged(&arena, 3).await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/log_reader.py");
    let mut reader = Command::new("python3");
    reader.arg(script).arg(format!("{}/log", arena.url));
    let run = tokio::task::spawn_blocking(move || reader.output().unwrap()).await.unwrap();
    let [said, failed] = [run.stdout, run.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(said.starts_with("good: 3 entries {\"vote\": 3}"), "{said}{failed}");
    arena.end().await;
}
