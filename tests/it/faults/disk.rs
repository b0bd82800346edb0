//! The disk fills up under the arena, and somebody frees some space.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use langya::domain::doctor::Finding;
use langya::domain::time::Timestamp;
use langya::infra::config::{Settings, StorageSettings};
use langya::infra::storage::{DatabaseMoveError, IfMissing, Store, VoteRange, transfer};
use langya::services::doctor::examine;
use serde_json::Value;
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use super::{Place, begun, check, check_reported_once, lines, ready, readyz};
use crate::support::postgres::{OwnServer, TestDatabase};
use crate::support::program::{Server, langya};
use crate::support::until;
use crate::support::visitor::Visitor;

/// A small file system of its own.
struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts one on this folder; `None` where this user or this machine may not.
    fn mount(folder: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder).output();
        if !mount.is_ok_and(|mount| mount.status.success()) {
            println!("skipped: a full disk needs the right to mount one");
            return None;
        }
        Some(Self { folder: folder.to_owned() })
    }

    fn ballast(&self) -> PathBuf {
        self.folder.join("ballast")
    }

    /// Fills it to the last byte, but for this much.
    fn fill_but_for(&self, bytes: usize) {
        let reserve = self.folder.join("reserve");
        std::fs::write(&reserve, vec![1; bytes]).unwrap();
        let mut ballast = File::create(self.ballast()).unwrap();
        while ballast.write_all(&[1; 4_096]).is_ok() {}
        std::fs::remove_file(reserve).unwrap();
    }

    fn make_read_only(&self) {
        let mount = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.folder).status().unwrap();
        assert!(mount.success());
    }

    fn make_writable(&self) {
        let mount = Command::new("mount").args(["-o", "remount,rw"]).arg(&self.folder).status().unwrap();
        assert!(mount.success());
    }

    /// Frees all that was filled.
    fn free(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // It goes as soon as nobody uses it; a test that failed may have left somebody.
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
    }
}

/// The names of all files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// Votes by these visitors until one of them is not acknowledged; that one, and the receipts of those before.
async fn vote_until_refused(voters: Vec<Visitor>) -> (Visitor, Vec<Value>) {
    let mut receipts = Vec::new();
    for mut voter in voters {
        let answer = voter.vote("b").await;
        if answer["type"] == "error" {
            check(&answer, "storage");
            return (voter, receipts);
        }
        receipts.push(answer);
    }
    panic!("the disk was never full");
}

async fn voters(server: &Server, count: usize) -> Vec<Visitor> {
    let mut voters = Vec::with_capacity(count);
    for _ in 0..count {
        voters.push(ready(server).await);
    }
    voters
}

/// Every receipt is of a row, and every row has its receipt.
async fn check_kept(store: &Store, receipts: &[Value]) {
    let rows = store.votes_after(0, Timestamp(i64::MIN), Timestamp(i64::MAX), 10_000).await.unwrap();
    let mut kept: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let mut told: Vec<&str> = receipts.iter().map(|receipt| receipt["vote"].as_str().unwrap()).collect();
    kept.sort_unstable();
    told.sort_unstable();
    assert_eq!(kept, told);
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn a_database_that_another_program_locks_is_reported_once_and_goes_on_when_it_is_free() {
    let place = Place::with_replies(1).await;
    let server = place.serve(&[]);
    let (mut voter, mut reader) = (ready(&server).await, begun(&server).await);
    let file = SqliteConnectOptions::new().filename(place.path().join("data/langya.db"));
    let mut other = SqliteConnection::connect_with(&file).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    check(&voter.vote("a").await, "storage");
    let words = "another program holds its write lock";
    server.logged(words).await;
    assert_eq!(readyz(&server).await, (503, "not ready\ndatabase: it refuses writes, see the log\n".into()));
    place.gate.open();
    check(&reader.next_of(&["error", "ready"]).await, "replies_unsaved");
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    reader.next_of(&["ready"]).await;
    check(&voter.vote("a").await, "revealed");
    server.logged("answers again").await;
    assert_eq!(readyz(&server).await, (200, "ready\n".into()));
    check_reported_once(&server.log_at_end().await, words);
}

#[actix_web::test]
async fn a_full_data_folder_acknowledges_nothing_and_goes_on_when_there_is_space() {
    const VOTERS: usize = 40;
    let place = Place::with_replies(VOTERS).await;
    let Some(disk) = SmallDisk::mount(&place.path().join("data"), "16m") else { return };
    let server = place.serve(&[]);
    let (all, mut reader) = (voters(&server, VOTERS).await, begun(&server).await);
    disk.fill_but_for(200_000);
    let (mut refused, mut receipts) = vote_until_refused(all).await;
    assert!(!receipts.is_empty(), "some space was left");
    let words = "the disk that holds the data folder is full: free some space";
    server.logged(words).await;
    place.gate.open();
    reader.next_of(&["done"]).await;
    check(&refused.vote("b").await, "storage");
    assert_eq!(readyz(&server).await, (503, "not ready\ndatabase: it refuses writes, see the log\n".into()));

    disk.free();
    reader.next_of(&["ready"]).await;
    for visitor in [&mut refused, &mut reader] {
        let receipt = visitor.vote("a").await;
        check(&receipt, "revealed");
        receipts.push(receipt);
    }
    server.logged("answers again").await;
    assert_eq!(readyz(&server).await, (200, "ready\n".into()));
    check_reported_once(&server.log_at_end().await, words);

    let settings = StorageSettings { data_dir: place.path().join("data"), ..StorageSettings::default() };
    let store = Store::open(&settings, IfMissing::Fail).await.unwrap();
    check_kept(&store, &receipts).await;
    store.close().await;
    let file = sqlx::sqlite::SqliteConnectOptions::new().filename(settings.data_dir.join("langya.db"));
    let pool = sqlx::SqlitePool::connect_with(file).await.unwrap();
    let integrity: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&pool).await.unwrap();
    assert_eq!(integrity, "ok");
    pool.close().await;
}

#[actix_web::test]
async fn a_database_or_a_copy_that_finds_no_space_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let Some(disk) = SmallDisk::mount(&here.join("small"), "4m") else { return };
    std::fs::write(here.join("votes.csv"), "model_a,model_b,winner\none,two,model_a\n").unwrap();
    let done = langya(here, ["import", "votes", "votes.csv", "--data-dir", "data"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let done = langya(here, ["backup", "--data-dir", "data", "--out", "copy.db"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    disk.fill_but_for(200_000);
    let failed = langya(here, ["restore", "copy.db", "--data-dir", "small/new/data"]);
    assert!(failed.code == Some(1) && failed.stderr.contains("free space"), "{failed:?}");
    assert!(!disk.folder.join("new").exists(), "no folder is left that looks like an arena's");
    let commands = [
        ["backup", "--data-dir", "data", "--out", "small/copy.db"],
        ["import", "votes", "votes.csv", "--data-dir", "small"],
    ];
    for command in commands {
        let failed = langya(here, command);
        assert_eq!(failed.code, Some(1), "{command:?}: {}", failed.stderr);
        assert_eq!(names(&disk.folder), ["ballast"], "{command:?}");
    }
    disk.fill_but_for(0);
    for command in [
        &["serve", "--listen", "127.0.0.1:0", "--data-dir", "small/new/data"][..],
        &["import", "votes", "votes.csv", "--data-dir", "small/new/data"][..],
        &["fit", "--votes", "votes.csv", "--charts", "small/new/charts"][..],
        &["export", "votes", "--data-dir", "data", "--out", "small/votes.csv"][..],
        &["simulate", "--models", "2", "--votes", "9", "--seed", "1", "--out", "small/votes.csv"][..],
    ] {
        let failed = langya(here, command);
        assert_eq!(failed.code, Some(1), "a full disk is a failed run: {command:?}: {}", failed.stderr);
        assert_eq!(names(&disk.folder), ["ballast"], "{command:?}");
    }
    disk.free();
    for command in commands {
        let done = langya(here, command);
        assert_eq!(done.code, Some(0), "{command:?}: {}", done.stderr);
    }
}

#[test]
fn a_disk_that_fills_up_while_a_database_is_made_holds_a_whole_one_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("votes.csv"), "model_a,model_b,winner\none,two,model_a\n").unwrap();
    // Some have room for the write-ahead log of a new database, and not for the whole file beside it.
    for size in ["1m", "1500k", "2m", "2500k", "3m", "3500k", "4m"] {
        let Some(disk) = SmallDisk::mount(&here.join(size), size) else { return };
        let made = langya(here, ["import", "votes", "votes.csv", "--data-dir", size]);
        let left = names(&disk.folder);
        if left.is_empty() {
            let said = "the disk that holds the data folder is full: free some space";
            assert!(made.code == Some(1) && made.stderr.contains(said), "{size}: {made:?}");
            continue;
        }
        let copy = format!("copy-{size}");
        std::fs::create_dir(here.join(&copy)).unwrap();
        for name in &left {
            std::fs::copy(disk.folder.join(name), here.join(&copy).join(name)).unwrap();
        }
        // A backup reads all of the database.
        let checked = langya(here, ["backup", "--data-dir", &copy, "--out", &format!("{copy}.db")]);
        assert_eq!(checked.code, Some(0), "{size}: {checked:?} after {made:?}");
    }
}

/// A small disk at `small`, whose folder `data` has a database of one vote; `None` where no disk can be mounted.
fn disk_with_a_vote(here: &Path) -> Option<SmallDisk> {
    let disk = SmallDisk::mount(&here.join("small"), "24m")?;
    std::fs::write(here.join("votes.csv"), "model_a,model_b,winner\none,two,model_a\n").unwrap();
    let done = langya(here, ["import", "votes", "votes.csv", "--data-dir", "small/data"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    Some(disk)
}

#[test]
fn a_database_on_a_read_only_disk_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let Some(disk) = disk_with_a_vote(here) else { return };
    disk.make_read_only();
    let done = langya(here, ["backup", "--data-dir", "small/data", "--out", "copy.db"]);
    assert!(done.code == Some(0) && done.stdout.contains("copy.db: 1 vote,"), "{done:?}");
    let done = langya(here, ["restore", "copy.db", "--data-dir", "again"]);
    assert!(done.code == Some(0) && done.stdout == "restored: 1 vote\n", "{done:?}");
}

#[test]
fn a_database_on_a_read_only_disk_is_read_and_a_change_or_a_log_that_cannot_be_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let Some(disk) = disk_with_a_vote(here) else { return };
    std::fs::create_dir(disk.folder.join("ended")).unwrap();
    std::fs::copy(disk.folder.join("data/langya.db"), disk.folder.join("ended/langya.db")).unwrap();
    std::fs::write(disk.folder.join("ended/langya.db-wal"), "the latest votes").unwrap();
    disk.make_read_only();
    for command in
        [&["fit"][..], &["export", "votes", "--out", "-"][..], &["votes", "list"][..], &["correlate", "--list"][..]]
    {
        let done = langya(here, [command, &["--data-dir", "small/data"]].concat());
        assert!(
            done.code == Some(0) && done.stderr.lines().all(|line| !line.contains("WARN")),
            "{command:?}: {done:?}"
        );
        assert!(command[0] != "export" || done.stderr == "1 vote written\n", "{}", done.stderr);
    }
    for (command, data, said) in [
        (&["invites", "create"][..], "small/data", "this user can only read the database small/data/langya.db"),
        (&["fit"][..], "small/ended", "small/ended/langya.db-wal holds the latest changes of the database"),
    ] {
        let refused = langya(here, [command, &["--data-dir", data]].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{command:?}: {}", refused.stderr);
        assert!(refused.stderr.lines().count() == 1 && refused.stderr.contains(said), "{}", refused.stderr);
    }
}

#[actix_web::test]
async fn an_arena_on_a_read_only_disk_is_moved() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let Some(disk) = disk_with_a_vote(here) else { return };
    let Some(database) = TestDatabase::create().await else { return };
    disk.make_read_only();
    let moved = langya(here, ["import", "arena", "small/data/langya.db", "--database", &database.url]);
    assert!(moved.code == Some(0) && moved.stdout.contains("is unchanged: do not serve it again"), "{moved:?}");
    database.drop().await;
}

#[actix_web::test]
async fn an_arena_that_another_user_starts_while_it_is_moved_is_not_moved() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = disk_with_a_vote(folder.path()) else { return };
    let Some(database) = TestDatabase::create().await else { return };
    disk.make_read_only();
    let data = disk.folder.join("data");
    let settings = StorageSettings { data_dir: data.clone(), ..StorageSettings::default() };
    let source = Store::open(&settings, IfMissing::Fail).await.unwrap();
    let target = database.open().await;
    disk.make_writable();
    let refused = transfer(&source, &target, |_| {
        for log in ["langya.db-wal", "langya.db-shm"] {
            std::fs::write(data.join(log), "").unwrap();
        }
    });
    let refused = refused.await.unwrap_err();
    assert!(matches!(refused, DatabaseMoveError::SourceStarted(_)), "{refused}");
    assert_eq!(target.vote_page(VoteRange::ALL, &[]).await.unwrap().votes, 0);
    source.close().await;
    target.close().await;
    database.drop().await;
}

#[test]
fn a_command_that_cannot_open_its_database_on_a_full_disk_is_a_failed_run_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let Some(disk) = disk_with_a_vote(here) else { return };
    disk.fill_but_for(0);
    for command in
        [&["fit"][..], &["export", "votes", "--out", "-"][..], &["votes", "list"][..], &["invites", "create"][..]]
    {
        let failed = langya(here, [command, &["--data-dir", "small/data"]].concat());
        assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), ""), "{command:?}: {}", failed.stderr);
        assert!(failed.stderr.contains("the data folder is full: free some space"), "{command:?}: {}", failed.stderr);
    }
}

#[actix_web::test]
async fn what_is_acknowledged_after_a_disk_was_full_is_kept_without_a_restart() {
    const VOTERS: usize = 10;
    let place = Place::with_replies(2 * VOTERS).await;
    let Some(disk) = SmallDisk::mount(&place.path().join("data"), "24m") else { return };
    let server = place.serve(&[]);
    let mut all = voters(&server, VOTERS).await;
    disk.fill_but_for(0);
    // Starts need the most room, so they fail first and in the middle of their transactions.
    for _ in 0..5 {
        let mut newcomer = Visitor::connect(&server.url).await;
        newcomer.ask("Which?").await;
        newcomer.next_of(&["battle", "error"]).await;
    }
    let mut receipts = Vec::new();
    let mut refused = Vec::new();
    for mut voter in all.drain(..) {
        match voter.vote("b").await {
            answer if answer["type"] == "revealed" => receipts.push(answer),
            _ => refused.push(voter),
        }
    }
    assert!(!refused.is_empty(), "the disk was full");
    server.logged("the disk that holds the data folder is full").await;

    disk.free();
    for voter in &mut refused {
        let receipt = voter.vote("a").await;
        check(&receipt, "revealed");
        receipts.push(receipt);
    }
    let receipt = ready(&server).await.vote("a").await;
    check(&receipt, "revealed");
    receipts.push(receipt);
    // The public log tries again a second after a checkpoint that found no space.
    until(async || (readyz(&server).await == (200, "ready\n".into())).then_some(())).await;
    assert!(server.terminate().success());
    let settings = StorageSettings { data_dir: place.path().join("data"), ..StorageSettings::default() };
    check_kept(&Store::open(&settings, IfMissing::Fail).await.unwrap(), &receipts).await;
}

#[actix_web::test]
async fn a_doctor_finds_a_postgresql_that_reads_and_has_no_space_for_new_rows() {
    let Some(database) = TestDatabase::create().await else { return };
    let (store, raw) = (database.open().await, database.raw().await);
    store.check_write_space().await.unwrap();
    let left = "SELECT COUNT(*) FROM pg_class WHERE relname LIKE 'langya_write_space%'";
    assert_eq!(sqlx::query_scalar::<_, i64>(left).fetch_one(&raw).await.unwrap(), 0, "nothing is left");
    // As the server itself fails where a table needs another block.
    let full = "CREATE FUNCTION fail_as_full() RETURNS event_trigger LANGUAGE plpgsql AS $$ \
                BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$; \
                CREATE EVENT TRIGGER full_disk ON ddl_command_end WHEN TAG IN ('CREATE TABLE') \
                EXECUTE FUNCTION fail_as_full()";
    sqlx::raw_sql(full).execute(&raw).await.unwrap();
    let settings = Settings { storage: database.settings(), ..Settings::default() };
    let findings = examine(&settings, Ok(store), Timestamp(1_790_000_000_000)).await;
    let is_full = |finding: &Finding| matches!(finding, Finding::DatabaseUnusable(said, _) if said.contains("is full"));
    assert!(findings.iter().any(is_full), "{findings:?}");
    database.drop().await;
}

#[actix_web::test]
async fn a_postgresql_that_has_a_table_of_the_doctors_name_is_not_found_broken() {
    let Some(database) = TestDatabase::create().await else { return };
    let (store, raw) = (database.open().await, database.raw().await);
    sqlx::raw_sql("CREATE TABLE langya_write_space_check (other INTEGER)").execute(&raw).await.unwrap();
    store.check_write_space().await.unwrap();
    store.close().await;
    raw.close().await;
    database.drop().await;
}

#[actix_web::test]
async fn a_postgresql_whose_disk_fills_up_and_that_crashes_of_it_is_waited_for() {
    const VOTERS: usize = 40;
    let place = Place::with_replies(VOTERS).await;
    let Some(disk) = SmallDisk::mount(&place.path().join("postgres"), "160m") else { return };
    let Some(database) = OwnServer::start_in(&disk.folder) else { return };
    let server = place.serve(&["--database", &database.url("postgres")]);
    let (all, mut reader) = (voters(&server, VOTERS).await, begun(&server).await);
    disk.fill_but_for(0);
    // Log files of the server that are there already still take votes; a new one finds no space, and the server ends.
    let filling = async { while database.as_admin("SELECT pg_switch_wal(), txid_current()").await.is_ok() {} };
    let (refused, ()) = futures_util::join!(vote_until_refused(all), filling);
    let (mut refused, mut receipts) = refused;
    server.logged("the database fails").await;
    place.gate.open();
    reader.next_of(&["done"]).await;
    let (status, said) = readyz(&server).await;
    assert!(status == 503 && said.contains("database: "), "{status} {said}");

    disk.free();
    database.restart("immediate").await;
    server.logged("answers again").await;
    reader.next_of(&["ready"]).await;
    for visitor in [&mut refused, &mut reader] {
        let receipt = visitor.vote("a").await;
        check(&receipt, "revealed");
        receipts.push(receipt);
    }
    check_kept(&database.open().await, &receipts).await;
    let log = server.log_at_end().await;
    let wrong = lines(&log, "ERROR") + lines(&log, "WARN");
    assert!(wrong <= 2 && wrong == lines(&log, "the database fails"), "that it is full, and that it is gone: {log}");
    assert_eq!(lines(&log, "answers again"), 1, "{log}");
}
