//! What is SQLite's own: a file in a folder, its lock and its journal.

use std::cell::Cell;
use std::path::Path;
use std::sync::Barrier;

use langya::domain::battle::{BattleId, VisitorId};
use langya::domain::time::Timestamp;
use langya::infra::config::StorageSettings;
use langya::infra::storage::backup::{BackupError, BackupReport, back_up, restore};
use langya::infra::storage::{DataLock, IfMissing, InsertedVote, OutageKind, Store, StoreError};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{
    FORBIDDEN, FORBIDDEN_OF_BENCHMARKS, FORBIDDEN_OF_VERDICTS, admin, bench, model_register, own_battles, public_log,
    ready, verdicts, vote,
};
use crate::support::{embedded, until};

fn settings(folder: &Path) -> StorageSettings {
    StorageSettings { data_dir: folder.to_owned(), ..StorageSettings::default() }
}

pub(super) async fn open() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&settings(folder.path()), IfMissing::Create).await.unwrap();
    (folder, store)
}

/// As [`open`], with tables that no migration has to make.
pub(super) async fn open_with_tables() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = embedded::open(&settings(folder.path())).await;
    (folder, store)
}

/// The same file, beside the store.
async fn raw(folder: &Path) -> SqlitePool {
    SqlitePool::connect_with(SqliteConnectOptions::new().filename(folder.join("langya.db"))).await.unwrap()
}

#[actix_web::test]
async fn votes_can_neither_be_changed_nor_deleted() {
    let (folder, store) = open().await;
    ready(&store, "x").await;
    store.insert_vote(&vote("v", "x", 1)).await.unwrap();
    let pool = raw(folder.path()).await;
    for statement in FORBIDDEN {
        let refused = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains("votes are insert-only"), "{statement}: {refused}");
    }
}

#[actix_web::test]
async fn deleted_texts_are_in_no_file_any_more() {
    let (folder, store) = open().await;
    ready(&store, "x").await;
    let long = "what nobody shall read again, ".repeat(400);
    for (battle, visitor, prompt) in
        [("a", "visitor", "a secret"), ("b", "visitor", &long), ("c", "another", "it stays")]
    {
        own_battles::ask(&store, battle, visitor, prompt).await;
    }
    let holds = |text: &str| {
        let files =
            ["langya.db", "langya.db-wal"].map(|name| std::fs::read(folder.path().join(name)).unwrap_or_default());
        files.iter().any(|bytes| String::from_utf8_lossy(bytes).contains(text))
    };
    assert!(holds("a secret") && holds("nobody shall read"));
    assert_eq!(store.delete_texts_of(&VisitorId::new("visitor"), Timestamp(4)).await.unwrap(), 3);
    assert!(!holds("a secret") && !holds("nobody shall read") && holds("it stays"));
}

#[actix_web::test]
async fn the_audit_log_can_neither_be_changed_nor_deleted() {
    let (folder, store) = open().await;
    admin::fill(&store).await;
    let pool = raw(folder.path()).await;
    for statement in admin::FORBIDDEN {
        let refused = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{statement}: {refused}");
    }
}

#[actix_web::test]
async fn entries_of_the_public_log_can_neither_be_changed_nor_deleted() {
    let (folder, store) = open().await;
    public_log::fill(&store).await;
    let pool = raw(folder.path()).await;
    for statement in public_log::FORBIDDEN {
        let refused = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{statement}: {refused}");
    }
}

#[actix_web::test]
async fn answers_and_judgements_can_neither_be_changed_nor_deleted() {
    let (folder, store) = open().await;
    bench::fill(&store).await;
    verdicts::fill(&store).await;
    model_register::fill(&store).await;
    let pool = raw(folder.path()).await;
    for statement in FORBIDDEN_OF_BENCHMARKS.into_iter().chain(FORBIDDEN_OF_VERDICTS).chain(model_register::FORBIDDEN) {
        let refused = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains("insert-only"), "{statement}: {refused}");
    }
}

#[actix_web::test]
async fn the_journal_survives_and_reopening_finds_everything() {
    let (folder, store) = open().await;
    ready(&store, "x").await;
    store.insert_vote(&vote("v", "x", 1)).await.unwrap();
    store.close().await;
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&raw(folder.path()).await).await.unwrap();
    assert_eq!(journal, "wal");
    let again = Store::open(&settings(folder.path()), IfMissing::Fail).await.unwrap();
    assert_eq!(again.vote_on(&BattleId::new("x")).await.unwrap().unwrap().id, "v");
}

#[actix_web::test]
async fn a_start_removes_what_a_killed_first_start_or_restore_left_and_no_file_of_the_operator() {
    let (folder, store) = open().await;
    store.close().await;
    let kept = ["langya.db.new", "langya.db.new-wal", "langya.db.new1.bak", "langya.db.new2-old", "langya.db.newest"];
    let left = [
        "langya.db.new4294967295",
        "langya.db.new7-journal",
        "langya.db.new7-shm",
        "langya.db.new7-wal",
        ".langya-Ab1.partial",
    ];
    for name in kept.iter().chain(&left) {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    Store::open(&settings(folder.path()), IfMissing::Create).await.unwrap().close().await;
    let found: Vec<&str> = kept.into_iter().chain(left).filter(|name| folder.path().join(name).exists()).collect();
    assert_eq!(found, kept);
}

#[actix_web::test]
async fn what_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let refused = async |folder: &Path, if_missing| Store::open(&settings(folder), if_missing).await.unwrap_err();
    assert!(matches!(refused(folder.path(), IfMissing::Fail).await, StoreError::Missing(_)));
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(refused(&file, IfMissing::Create).await, StoreError::DataDir { .. }));
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let above = format!(": {} is a link to a folder that does not exist;", link.display());
    for (path, reason) in [
        (&file, ": it is a file;"),
        (&link, ": it is a link to a folder that does not exist;"),
        (&link.join("a/data"), above.as_str()),
    ] {
        let refused = DataLock::take(&settings(path), "serve").unwrap_err();
        assert!(matches!(refused, StoreError::DataDir { .. }) && refused.to_string().contains(reason), "{refused}");
    }
    let elsewhere = StorageSettings { database: "mysql://me:secret@host".into(), ..settings(folder.path()) };
    let unknown = Store::open(&elsewhere, IfMissing::Create).await.unwrap_err();
    assert!(matches!(unknown, StoreError::UnknownBackend(_)) && !unknown.to_string().contains("secret"), "{unknown}");
    let (newer, store) = open().await;
    store.close().await;
    let row = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
               VALUES (99990101000000, 'from the future', TRUE, x'00', 0)";
    sqlx::query(row).execute(&raw(newer.path()).await).await.unwrap();
    assert!(matches!(refused(newer.path(), IfMissing::Fail).await, StoreError::Newer(99_990_101_000_000)));
}

#[test]
fn a_data_folder_has_one_lock() {
    let folder = tempfile::tempdir().unwrap();
    let first = DataLock::take(&settings(folder.path()), "import votes").unwrap();
    for _ in 0..2 {
        let refused = DataLock::take(&settings(folder.path()), "serve").unwrap_err();
        let holder = format!("another langya (import votes, process {}) uses the data folder", std::process::id());
        assert!(matches!(refused, StoreError::Locked { .. }) && refused.to_string().starts_with(&holder), "{refused}");
    }
    drop(first);
    DataLock::take(&settings(folder.path()), "serve").unwrap();
}

#[test]
fn a_lock_stays_only_beside_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("a/data");
    let take = || DataLock::take(&settings(&data), "serve").unwrap();
    drop(take());
    assert!(names(folder.path()).is_empty(), "the folders were made for a database that did not come");
    std::fs::create_dir_all(&data).unwrap();
    drop(take());
    assert!(names(&data).is_empty());
    let held = take();
    std::fs::write(data.join("langya.db"), "").unwrap();
    drop(held);
    assert_eq!(names(&data), ["langya.db", "langya.lock"]);
}

#[test]
fn of_processes_that_begin_and_give_up_at_the_same_time_each_has_the_lock_or_is_told_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    // A folder that one of them could not remove is there for good, so each round has its own.
    let begin_together = Barrier::new(2);
    let take_often = || {
        let mut wrong = None;
        for round in 0..500 {
            begin_together.wait();
            let data = folder.path().join(format!("{round}/data"));
            for _ in 0..5 {
                match DataLock::take(&settings(&data), "serve") {
                    Ok(_) | Err(StoreError::Locked { .. }) => {}
                    Err(error) => wrong = Some(error.to_string()),
                }
            }
        }
        wrong
    };
    let found = std::thread::scope(|threads| {
        let other = threads.spawn(take_often);
        [take_often(), other.join().unwrap()]
    });
    assert_eq!(found, [None, None]);
}

#[actix_web::test]
async fn a_file_that_another_process_is_making_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let making = DataLock::take(&settings(folder.path()), "serve").unwrap();
    std::fs::write(folder.path().join("langya.db"), "").unwrap();
    let refused = async || DataLock::acquire_usable(&settings(folder.path()), "serve").await.unwrap_err();
    assert!(matches!(refused().await, StoreError::Locked { .. }));
    drop(making);
    assert!(matches!(refused().await, StoreError::Empty(_)));
}

#[actix_web::test]
async fn a_refused_database_gets_no_write_ahead_log() {
    let (folder, store) = open_with_tables().await;
    store.close().await;
    let pool = raw(folder.path()).await;
    let row = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
               VALUES (99990101000000, 'from the future', TRUE, x'00', 0)";
    sqlx::query(row).execute(&pool).await.unwrap();
    pool.close().await;
    for if_missing in [IfMissing::Fail, IfMissing::Create] {
        Store::open(&settings(folder.path()), if_missing).await.unwrap_err();
        assert_eq!(names(folder.path()), ["langya.db"]);
    }
}

#[actix_web::test]
async fn the_database_of_another_program_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("langya.db");
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(&file).create_if_missing(true)).await;
    let pool = pool.unwrap();
    sqlx::query("CREATE TABLE notes (text TEXT)").execute(&pool).await.unwrap();
    pool.close().await;
    let before = std::fs::read(&file).unwrap();
    for if_missing in [IfMissing::Create, IfMissing::Fail] {
        let refused = Store::open(&settings(folder.path()), if_missing).await.unwrap_err();
        assert!(matches!(&refused, StoreError::Foreign(path) if *path == file), "{refused}");
    }
    let refused = Store::pending_migrations(&settings(folder.path())).await.unwrap_err();
    assert!(matches!(refused, StoreError::Foreign(_)), "{refused}");
    let copy = copy_to(folder.path(), &folder.path().join("copy"), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(&copy, BackupError::Store(StoreError::Foreign(path)) if *path == file), "{copy}");
    let restored = restore(&settings(&folder.path().join("new")), &file, Timestamp(0)).await.unwrap_err();
    assert!(matches!(&restored, BackupError::NotABackup(path) if *path == file), "{restored}");
    assert_eq!(std::fs::read(&file).unwrap(), before, "the header names the journal mode");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is made beside it");
}

#[actix_web::test]
async fn the_database_of_another_program_gets_no_write_ahead_log_either() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("langya.db");
    let options = SqliteConnectOptions::new().filename(&file).create_if_missing(true);
    let pool = SqlitePool::connect_with(options.journal_mode(SqliteJournalMode::Wal)).await.unwrap();
    sqlx::query("CREATE TABLE notes (text TEXT)").execute(&pool).await.unwrap();
    pool.close().await;
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files(), 1, "its log went with its last connection");
    for if_missing in [IfMissing::Create, IfMissing::Fail] {
        let refused = Store::open(&settings(folder.path()), if_missing).await.unwrap_err();
        assert!(matches!(&refused, StoreError::Foreign(path) if *path == file), "{refused}");
    }
    let refused = Store::pending_migrations(&settings(folder.path())).await.unwrap_err();
    assert!(matches!(refused, StoreError::Foreign(_)), "{refused}");
    assert_eq!(files(), 1);
}

#[actix_web::test]
async fn a_copy_leaves_no_write_ahead_log_beside_a_database_that_nobody_serves() {
    let (folder, store) = open_with_tables().await;
    store.close().await;
    let elsewhere = tempfile::tempdir().unwrap();
    copy_to(folder.path(), &elsewhere.path().join("copy"), &CancellationToken::new()).await.unwrap();
    assert_eq!(names(folder.path()), ["langya.db", "last-backup"]);
}

#[actix_web::test]
async fn a_copy_that_is_stopped_leaves_no_file_and_no_write_ahead_log() {
    let (folder, store) = open_with_tables().await;
    store.close().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let stop = CancellationToken::new();
    stop.cancel();
    let stopped = copy_to(folder.path(), &elsewhere.path().join("copy"), &stop).await.unwrap_err();
    assert!(matches!(stopped, BackupError::Stopped), "{stopped}");
    assert!(names(elsewhere.path()).is_empty());
    assert_eq!(names(folder.path()), ["langya.db"]);
}

/// Copies the database of a folder.
async fn copy_to(folder: &Path, file: &Path, stop: &CancellationToken) -> Result<BackupReport, BackupError> {
    back_up(&settings(folder), file, Timestamp(0), stop).await
}

/// The names of all files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[actix_web::test]
async fn a_link_to_the_database_of_another_arena_leads_to_its_lock() {
    let (folder, _store) = open().await;
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.path().join("langya.db"), elsewhere.path().join("langya.db")).unwrap();
    let _first = DataLock::take(&settings(folder.path()), "serve").unwrap();
    assert!(matches!(DataLock::take(&settings(elsewhere.path()), "serve"), Err(StoreError::Locked { .. })));
}

#[actix_web::test]
async fn what_a_killed_restore_has_left_is_no_place_for_a_new_arena() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join(".langya-Ab1xYz.partial");
    std::fs::write(&left, "half a copy").unwrap();
    let refused = Store::open(&settings(folder.path()), IfMissing::Create).await.unwrap_err();
    assert!(matches!(&refused, StoreError::UnfinishedCopy(file) if *file == left), "{refused}");
    assert!(!folder.path().join("langya.db").exists());
    std::fs::remove_file(left).unwrap();
    Store::open(&settings(folder.path()), IfMissing::Create).await.unwrap();
}

#[actix_web::test]
async fn a_log_without_its_database_is_no_place_for_a_new_arena() {
    let (folder, store) = open().await;
    store.close().await;
    std::fs::remove_file(folder.path().join("langya.db")).unwrap();
    std::fs::write(folder.path().join("langya.db-wal"), "committed votes").unwrap();
    for if_missing in [IfMissing::Create, IfMissing::Fail] {
        let refused = Store::open(&settings(folder.path()), if_missing).await.unwrap_err();
        assert!(matches!(&refused, StoreError::WalWithoutDatabase(log) if log.ends_with("langya.db-wal")), "{refused}");
    }
    assert!(!folder.path().join("langya.db").exists());
    std::fs::remove_file(folder.path().join("langya.db-wal")).unwrap();
    Store::open(&settings(folder.path()), IfMissing::Create).await.unwrap();
}

/// Whether a vote is refused because the database would lose it.
async fn refuses_votes(store: &Store, kind: OutageKind) -> bool {
    let refused = store.insert_vote(&vote("late", "x", 9)).await.is_err_and(|error| error.is_outage());
    refused && store.outage_kind() == Some(kind)
}

#[actix_web::test]
async fn no_vote_is_taken_into_a_file_that_was_removed_or_replaced() {
    let (folder, store) = open().await;
    ready(&store, "x").await;
    std::fs::rename(folder.path().join("langya.db"), folder.path().join("moved.db")).unwrap();
    for _ in 0..2 {
        assert!(refuses_votes(&store, OutageKind::FileReplaced).await, "though nothing has looked at the file before");
        let written = store.delete_unused_images(Timestamp(0)).await;
        assert!(matches!(written, Err(StoreError::Outage(OutageKind::FileReplaced))), "nor anything else: {written:?}");
        // Another file in its place is not the one that is open.
        std::fs::copy(folder.path().join("moved.db"), folder.path().join("langya.db")).unwrap();
    }
    assert!(store.check().await.unwrap_err().is_outage());
}

#[actix_web::test]
async fn no_vote_is_taken_once_the_write_ahead_log_was_removed() {
    let (folder, store) = open().await;
    ready(&store, "x").await;
    std::fs::remove_file(folder.path().join("langya.db-wal")).unwrap();
    assert!(refuses_votes(&store, OutageKind::FileReplaced).await);
    assert!(store.check().await.unwrap_err().is_outage());
}

#[cfg(unix)]
#[actix_web::test]
async fn a_new_database_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, store) = open().await;
    ready(&store, "x").await;
    for name in ["langya.db", "langya.db-wal", "langya.db-shm"] {
        let mode = folder.path().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[actix_web::test]
async fn no_vote_is_taken_into_a_damaged_file() {
    let (folder, store) = open().await;
    ready(&store, "x").await;
    store.close().await;
    let file = folder.path().join("langya.db");
    let pool = raw(folder.path()).await;
    let root: i64 =
        sqlx::query_scalar("SELECT rootpage FROM sqlite_schema WHERE name = 'battles'").fetch_one(&pool).await.unwrap();
    let size: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(&pool).await.unwrap();
    pool.close().await;
    let mut bytes = std::fs::read(&file).unwrap();
    let page = usize::try_from((root - 1) * size).unwrap();
    bytes[page..page + usize::try_from(size).unwrap()].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();

    let store = Store::open(&settings(folder.path()), IfMissing::Fail).await.unwrap();
    let found = store.battle_record(&BattleId::new("x")).await.unwrap_err();
    assert!(found.is_outage() && !found.may_be_transient(), "{found}");
    assert!(refuses_votes(&store, OutageKind::Damaged).await);
    assert!(matches!(store.check().await, Err(StoreError::Outage(OutageKind::Damaged))), "nothing ends it");
    let store = Store::open(&settings(folder.path()), IfMissing::Fail).await.unwrap();
    assert!(matches!(
        store.check_pages().await,
        Err(StoreError::Outage(OutageKind::Damaged) | StoreError::Database(_))
    ));
}

#[actix_web::test]
async fn votes_that_find_no_place_in_the_queue_are_refused_and_the_others_are_answered() {
    let (folder, store) = open().await;
    ready(&store, "x").await;
    let mut other = raw(folder.path()).await.acquire().await.unwrap().detach();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    // More than the queue and the group under way take; no such battle is there, so each answer is cheap.
    let votes: Vec<_> = (0..6_000).map(|number| vote(&number.to_string(), "absent", 1)).collect();
    let refused = Cell::new(0);
    let casting = futures_util::future::join_all(votes.iter().map(|vote| async {
        match store.insert_vote(vote).await {
            Err(StoreError::Busy) => refused.set(refused.get() + 1),
            answer => assert_eq!(answer.unwrap(), InsertedVote::BattleMoved),
        }
    }));
    let mut casting = std::pin::pin!(casting);
    // The queue takes 4,096 votes, and the group under way none to 1,024 more.
    let full = until(async || (refused.get() >= 6_000 - 4_096 - 1_024).then_some(()));
    tokio::select! {
        _ = &mut casting => panic!("the votes in the queue wait for the other process"),
        () = full => {}
    }
    sqlx::query("COMMIT").execute(&mut other).await.unwrap();
    casting.await;
    assert!(refused.get() <= 6_000 - 4_096, "{} were refused", refused.get());
}

#[actix_web::test]
async fn the_only_process_has_every_job() {
    let (_folder, store) = open().await;
    let mut first = store.job_lock("refit").await.unwrap().unwrap();
    let second = store.job_lock("refit").await.unwrap().unwrap();
    assert!(first.is_held().await);
    first.release().await;
    second.release().await;
}
