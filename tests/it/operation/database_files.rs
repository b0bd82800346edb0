//! What a command leaves beside the database when it is ended.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use langya::infra::config::StorageSettings;
use langya::infra::storage::{IfMissing, Store};
use langya::infra::stored_votes::vote_tally::{StoreWhen, VoteTally};
use tempfile::TempDir;

use crate::support::program::{UnderWay, langya, program};
use crate::support::until;
use crate::support::upstream::{ANYTHING_ELSE, Script, Upstream};

/// A folder with a database of so many models; the JSON of a thousand is longer than a pipe.
fn arena_of(models: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let votes: String = (0..models).map(|at| format!("model {at},model {},model_a\n", (at + 1) % models)).collect();
    import(folder.path(), &votes);
    folder
}

/// Imports votes, each of them a line.
fn import(here: &Path, votes: &str) {
    std::fs::write(here.join("votes.csv"), format!("model_a,model_b,winner\n{votes}")).unwrap();
    let imported = langya(here, ["import", "votes", "votes.csv"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
}

/// The names of the files beside the database.
fn files(here: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(here.join("data")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    files.sort_unstable();
    files
}

/// A fit that has read the votes: it has begun to print, and waits for somebody to read the rest.
fn fit_that_prints(here: &Path) -> Child {
    let mut fit = Command::new(program());
    fit.args(["fit", "--method", "elo", "--interval", "none", "--format", "json"]).current_dir(here);
    let mut fit = fit.env_clear().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    fit.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    fit
}

fn kill_a_fit_that_prints(here: &Path) {
    let mut fit = fit_that_prints(here);
    fit.kill().unwrap();
    fit.wait().unwrap();
}

#[test]
fn a_fit_that_is_killed_after_it_has_read_the_votes_leaves_no_write_ahead_log() {
    let folder = arena_of(1_000);
    kill_a_fit_that_prints(folder.path());
    assert_eq!(files(folder.path()), ["langya.db", "langya.lock"]);
}

#[actix_web::test]
async fn a_fit_that_is_killed_after_it_has_read_stored_counts_leaves_no_write_ahead_log() {
    let folder = arena_of(1_000);
    let settings = StorageSettings { data_dir: folder.path().join("data"), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Fail).await.unwrap();
    let mut tally = VoteTally::default();
    tally.catch_up(&store, |_| {}).await.unwrap();
    tally.store(&store, StoreWhen::AnyNew).await.unwrap();
    assert!(store.vote_counts().await.unwrap().is_some());
    store.close().await;
    kill_a_fit_that_prints(folder.path());
    assert_eq!(files(folder.path()), ["langya.db", "langya.lock"]);
}

#[actix_web::test]
async fn a_command_that_a_signal_ends_while_its_database_is_open_leaves_no_write_ahead_log() {
    let folder = arena_of(2);
    let upstream = Upstream::start().await;
    upstream.script(ANYTHING_ELSE, Script::silence());
    // It has opened the database for the audit log, and waits for the list.
    let command = UnderWay::start(folder.path(), &["models", "add", "--from", &upstream.url()]);
    upstream.until_received(1).await;
    command.signal("TERM");
    let run = command.ended().await;
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(1), "error: interrupted: the command ended before it was done\n")
    );
    assert_eq!(files(folder.path()), ["langya.db", "langya.lock"]);
}

#[tokio::test]
async fn a_signal_ends_a_long_mixture_at_once_and_leaves_no_write_ahead_log() {
    const MODELS: usize = 200;
    let folder = arena_of(MODELS);
    import(folder.path(), "model 0,model 2,model_a\n");
    // One grid of so fine steps for all models, and one without each of them.
    let rows: String = (0..MODELS).map(|at| format!("model {at},{at},{},{}\n", at * at % 7, at % 5)).collect();
    std::fs::write(folder.path().join("table.csv"), format!("model,a,b,c\n{rows}")).unwrap();
    // The command removes it when it closes the database, before it begins to compute.
    let log = folder.path().join("data/langya.db-wal");
    std::fs::write(&log, "").unwrap();
    let mixture = ["--table", "table.csv", "--combine", "a,b,c", "--target", "arena:win_tie_rate", "--step", "0.0002"];
    let command = UnderWay::start(folder.path(), &[&["correlate"], &mixture[..]].concat());
    until(async || (!log.exists()).then_some(())).await;
    command.signal("TERM");
    let run = command.ended().await;
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(1), "error: interrupted: the command ended before it was done\n")
    );
    assert_eq!(files(folder.path()), ["langya.db", "langya.lock"]);
}

#[test]
fn a_command_that_is_too_busy_to_see_a_signal_says_when_it_ends() {
    let folder = arena_of(1_000);
    let mut fit = fit_that_prints(folder.path());
    let terminate = format!("kill -TERM {}", fit.id());
    let terminate = || Command::new("sh").args(["-c", &terminate]).status().unwrap().success();
    assert!(terminate());
    let mut lines = BufReader::new(fit.stderr.take().unwrap()).lines().map_while(Result::ok);
    let notice = "the command is busy and will be stopped within 3 seconds; press Ctrl-C again to stop it now";
    assert!(lines.any(|line| line == notice));
    // So that the test need not wait for the three seconds.
    assert!(terminate());
    assert_eq!(fit.wait().unwrap().code(), Some(143));
}
