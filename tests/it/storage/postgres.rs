//! What is PostgreSQL's own: a server that several instances share, and that may not be there.

use std::cell::Cell;
use std::time::Duration;

use langya::domain::battle::Outcome;
use langya::domain::public_log::promised_vote::{FEW_UNLOGGED, MAX_UNLOGGED};
use langya::domain::time::Timestamp;
use langya::formats::tables::Format;
use langya::formats::votes::ReadOptions;
use langya::infra::config::StorageSettings;
use langya::infra::storage::{DataLock, IfMissing, Imported, InsertedVote, JobLock, Store, StoreError};
use langya::services::import_export::export::{self, ExportSelection};
use langya::services::import_export::import::{self, VotesFile};
use serde_json::{Value, json};
use sqlx::postgres::PgPool;

use super::{
    ALWAYS, FORBIDDEN, FORBIDDEN_OF_BENCHMARKS, FORBIDDEN_OF_VERDICTS, admin, bench, model_register, public_log, ready,
    verdicts, vote,
};
use crate::support::postgres::TestDatabase;
use crate::support::program::langya;
use crate::support::until;

#[actix_web::test]
async fn votes_can_neither_be_changed_nor_deleted() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = database.open().await;
    ready(&store, "x").await;
    store.insert_vote(&vote("v", "x", 1)).await.unwrap();
    let pool = database.raw().await;
    for statement in FORBIDDEN.into_iter().chain(["TRUNCATE votes CASCADE"]) {
        let refused = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains("votes are insert-only"), "{statement}: {refused}");
    }
    database.drop().await;
}

/// Waits until a session waits for a lock that another one holds.
async fn until_a_statement_waits(pool: &PgPool) {
    let waiting =
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until(async || {
        let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(pool).await.unwrap();
        (waiting > 0).then_some(())
    })
    .await;
}

#[actix_web::test]
async fn an_export_beside_a_deletion_has_the_questions_and_replies_of_a_battle_or_neither() {
    let Some(database) = TestDatabase::with_tables().await else { return };
    let store = database.open().await;
    ready(&store, "x").await;
    store.insert_vote(&vote("v", "x", 1)).await.unwrap();
    let raw = database.raw().await;
    let mut held = raw.begin().await.unwrap();
    sqlx::query("LOCK TABLE replies IN ACCESS EXCLUSIVE MODE").execute(&mut *held).await.unwrap();
    let deleting = async {
        until_a_statement_waits(&raw).await;
        for delete in ["DELETE FROM replies", "DELETE FROM turns"] {
            sqlx::query(delete).execute(&mut *held).await.unwrap();
        }
        held.commit().await.unwrap();
    };
    let (mut out, with_text) = (Vec::<u8>::new(), ExportSelection { with_text: true, ..ExportSelection::ALL });
    let exporting = export::votes(&store, with_text, Format::Jsonl, &mut out, |_, _| {});
    let (exported, ()) = futures_util::join!(exporting, deleting);
    assert_eq!(exported.unwrap(), 1);
    let row: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!([&row["conversation_a"], &row["conversation_b"]], [&json!([]), &json!([])], "{row}");
    database.drop().await;
}

#[actix_web::test]
async fn an_import_has_other_votes_wait_only_once_all_of_its_own_have_arrived() {
    let Some(database) = TestDatabase::with_tables().await else { return };
    let (store, folder) = (database.open().await, tempfile::tempdir().unwrap());
    let file = folder.path().join("votes.csv");
    std::fs::write(&file, "model_a,model_b,winner\nx,y,A\nx,y,B\n").unwrap();
    let read = VotesFile::read(&file, &ReadOptions::default(), Timestamp(1)).unwrap();
    let raw = database.raw().await;
    let mut held = raw.begin().await.unwrap();
    let as_who_inserts_votes = "SELECT pg_advisory_xact_lock(hashtextextended('langya votes ' || current_schema(), 0))";
    sqlx::query(as_who_inserts_votes).execute(&mut *held).await.unwrap();
    let arrived = Cell::new(0);
    let importing = import::votes(&store, read, |done, _| arrived.set(done));
    let releasing = async {
        until(async || (arrived.get() == 2).then_some(())).await;
        held.rollback().await.unwrap();
    };
    let (report, ()) = futures_util::join!(importing, releasing);
    assert_eq!(report.unwrap().imported, Imported::All(2));
    let votes = store.votes_after(0, ALWAYS[0], ALWAYS[1], 10).await.unwrap();
    let outcomes: Vec<Outcome> = votes.iter().map(|vote| vote.outcome).collect();
    assert_eq!(outcomes, [Outcome::AWins, Outcome::BWins], "in the order of the file");
    database.drop().await;
}

#[actix_web::test]
async fn an_import_of_many_votes_is_known_before_other_votes_wait_for_it_and_one_of_few_is_not() {
    let Some(database) = TestDatabase::with_tables().await else { return };
    let (store, folder) = (database.open().await, tempfile::tempdir().unwrap());
    for (votes, is_known) in [(FEW_UNLOGGED, false), (FEW_UNLOGGED + 1, true)] {
        let file = folder.path().join(format!("{votes}.csv"));
        let row = |vote: u64| format!("x,y,A,{}\n", 1_700_000_000 + votes + vote);
        let rows: String = (0..votes).map(row).collect();
        std::fs::write(&file, format!("model_a,model_b,winner,tstamp\n{rows}")).unwrap();
        let read = VotesFile::read(&file, &ReadOptions::default(), Timestamp(1)).unwrap();
        let raw = database.raw().await;
        let mut held = raw.begin().await.unwrap();
        let as_who_inserts_votes =
            "SELECT pg_advisory_xact_lock(hashtextextended('langya votes ' || current_schema(), 0))";
        sqlx::query(as_who_inserts_votes).execute(&mut *held).await.unwrap();
        let importing = import::votes(&store, read, |_, _| {});
        let looking = async {
            until_a_statement_waits(&raw).await;
            assert_eq!(store.is_importing().await.unwrap(), is_known, "{votes} votes");
            held.rollback().await.unwrap();
        };
        let (report, ()) = futures_util::join!(importing, looking);
        assert_eq!(report.unwrap().imported, Imported::All(votes));
        assert!(!store.is_importing().await.unwrap(), "it is committed");
    }
    assert_eq!(store.unlogged_votes(MAX_UNLOGGED).await.unwrap().count, 2 * FEW_UNLOGGED + 1);
    database.drop().await;
}

#[actix_web::test]
async fn a_vote_is_stored_while_reads_hold_every_other_connection() {
    let Some(database) = TestDatabase::create().await else { return };
    let settings = StorageSettings { max_connections: 2, acquire_timeout_ms: 1_000, ..database.settings() };
    let store = Store::open(&settings, IfMissing::Create).await.unwrap();
    ready(&store, "x").await;
    let raw = database.raw().await;
    let mut held = raw.begin().await.unwrap();
    sqlx::query("LOCK TABLE leaderboards IN ACCESS EXCLUSIVE MODE").execute(&mut *held).await.unwrap();
    let read = |_| {
        let store = store.clone();
        tokio::spawn(async move { store.latest_leaderboard().await })
    };
    let reads: Vec<_> = (0..4).map(read).collect();
    until_a_statement_waits(&raw).await;
    assert_eq!(store.insert_vote(&vote("v", "x", 1)).await.unwrap(), InsertedVote::Stored);
    held.rollback().await.unwrap();
    for read in reads {
        read.await.unwrap().unwrap();
    }
    database.drop().await;
}

#[actix_web::test]
async fn the_audit_log_can_neither_be_changed_nor_deleted() {
    let Some(database) = TestDatabase::create().await else { return };
    admin::fill(&database.open().await).await;
    let pool = database.raw().await;
    for statement in admin::FORBIDDEN.into_iter().chain(["TRUNCATE admin_audit"]) {
        let refused = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{statement}: {refused}");
    }
    database.drop().await;
}

#[actix_web::test]
async fn entries_of_the_public_log_can_neither_be_changed_nor_deleted() {
    let Some(database) = TestDatabase::create().await else { return };
    public_log::fill(&database.open().await).await;
    let pool = database.raw().await;
    for statement in public_log::FORBIDDEN.into_iter().chain(["TRUNCATE log_entries"]) {
        let refused = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{statement}: {refused}");
    }
    database.drop().await;
}

#[actix_web::test]
async fn answers_and_judgements_can_neither_be_changed_nor_deleted() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = database.open().await;
    bench::fill(&store).await;
    verdicts::fill(&store).await;
    model_register::fill(&store).await;
    let pool = database.raw().await;
    let emptied = [
        "TRUNCATE bench_judgements",
        "TRUNCATE request_attempts",
        "TRUNCATE battle_verdicts",
        "TRUNCATE model_changes",
        "TRUNCATE pairing_changes",
    ];
    let changed = FORBIDDEN_OF_BENCHMARKS.into_iter().chain(FORBIDDEN_OF_VERDICTS).chain(model_register::FORBIDDEN);
    for statement in changed.chain(emptied) {
        let refused = sqlx::query(statement).execute(&pool).await.unwrap_err().to_string();
        assert!(refused.contains("insert-only"), "{statement}: {refused}");
    }
    database.drop().await;
}

/// Opens, is refused, and says why without the password.
async fn refused(settings: &StorageSettings, if_missing: IfMissing) -> StoreError {
    let error = Store::open(settings, if_missing).await.unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
    error
}

#[actix_web::test]
async fn a_database_that_cannot_be_used_says_why() {
    let Some(database) = TestDatabase::create().await else { return };
    let at = |url: String| StorageSettings { database: url.into(), ..StorageSettings::default() };
    let as_user = |user: &str| at(database.url.replace("arena@", &format!("{user}:secret@")));
    let create = IfMissing::Create;
    assert!(matches!(refused(&database.settings(), IfMissing::Fail).await, StoreError::Missing(_)));
    assert!(matches!(refused(&at(database.url.clone() + "_absent"), create).await, StoreError::NoDatabase(_)));
    assert!(matches!(refused(&as_user("nobody"), create).await, StoreError::Denied(_)));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let unreachable = refused(&at(format!("postgres://me:secret@127.0.0.1:{port}/arena")), create).await;
    assert!(unreachable.to_string().contains(&format!("postgres://127.0.0.1:{port}/arena: ")), "{unreachable}");

    let name = &database.name;
    database.as_admin(format!("CREATE ROLE {name}_guest LOGIN PASSWORD 'secret'")).await;
    assert!(matches!(refused(&as_user(&format!("{name}_guest")), create).await, StoreError::NoPrivilege(_)));
    database.as_admin(format!("DROP ROLE {name}_guest")).await;
    for (setting, value) in [("default_transaction_read_only", "on"), ("synchronous_commit", "off")] {
        database.as_admin(format!("ALTER DATABASE {name} SET {setting} = {value}")).await;
        let error = refused(&database.settings(), create).await;
        assert!(error.to_string().contains(setting), "{error}");
        assert!(matches!(error, StoreError::ReadOnly(_) | StoreError::NotDurable { .. }));
        database.as_admin(format!("ALTER DATABASE {name} RESET {setting}")).await;
    }
    database.drop().await;
}

#[actix_web::test]
async fn a_refused_command_makes_no_tables() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.csv"), "model,score\none\n").unwrap();
    for (command, said) in [
        (&["judge", "run", "--judge", "m"][..], "there is no arena"),
        (&["bench", "run", "urs", "--judge", "m"][..], "langya import suite NAME FILE"),
        (&["bench", "stop"][..], "there is no arena"),
        (&["upgrade"][..], "there is no arena"),
        (&["import", "votes", "bad.csv"][..], "bad.csv has no column model_a"),
    ] {
        let run = langya(folder.path(), [command, &["--database", database.url.as_str()]].concat());
        assert!(run.code == Some(2) && run.stderr.contains(said), "{command:?}: {run:?}");
    }
    let pool = database.raw().await;
    let tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public'";
    assert_eq!(sqlx::query_scalar::<_, i64>(tables).fetch_one(&pool).await.unwrap(), 0);
    pool.close().await;
    database.drop().await;
}

#[actix_web::test]
async fn tables_of_another_version_are_left_alone() {
    let Some(database) = TestDatabase::create().await else { return };
    database.open().await.close().await;
    Store::open(&database.settings(), IfMissing::Fail).await.unwrap().close().await;
    let pool = database.raw().await;
    let latest = "DELETE FROM _sqlx_migrations WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)";
    sqlx::query(latest).execute(&pool).await.unwrap();
    assert!(matches!(refused(&database.settings(), IfMissing::Fail).await, StoreError::Older));
    let row = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
               VALUES (99990101000000, 'from the future', TRUE, '', 0)";
    sqlx::query(row).execute(&pool).await.unwrap();
    for if_missing in [IfMissing::Fail, IfMissing::Create] {
        assert!(matches!(refused(&database.settings(), if_missing).await, StoreError::Newer(99_990_101_000_000)));
    }
    database.drop().await;
}

#[actix_web::test]
async fn several_instances_may_start_at_the_same_moment() {
    let Some(database) = TestDatabase::create().await else { return };
    let settings = database.settings();
    let _first = DataLock::take(&settings, "serve").unwrap();
    let _second = DataLock::take(&settings, "serve").unwrap();
    let open = || Store::open(&settings, IfMissing::Create);
    let opened = futures_util::future::join_all([open(), open(), open(), open()]).await;
    for store in opened {
        store.unwrap().check().await.unwrap();
    }
    database.drop().await;
}

#[actix_web::test]
async fn one_instance_has_a_job_until_it_gives_it_up_or_dies() {
    let Some(database) = TestDatabase::create().await else { return };
    let (one, two) = (database.open().await, database.open().await);
    let mut held = one.job_lock("refit").await.unwrap().unwrap();
    assert!(held.is_held().await);
    assert!(two.job_lock("refit").await.unwrap().is_none());
    assert!(two.job_lock("sweep").await.unwrap().is_some(), "another job is free");
    held.release().await;
    let dropped = two.job_lock("refit").await.unwrap().unwrap();
    drop(dropped);
    let mut lost = soon(&one, "refit").await;
    database.end_sessions("idle_session_timeout").await;
    assert!(!lost.is_held().await, "its session was ended");
    assert!(soon(&two, "refit").await.is_held().await);
    database.drop().await;
}

#[actix_web::test]
#[ignore = "slow: tests/run runs it"]
async fn an_instance_that_is_stopped_loses_its_job_although_its_connection_stays() {
    let Some(database) = TestDatabase::create().await else { return };
    let version: String = sqlx::query_scalar("SHOW server_version_num").fetch_one(&database.raw().await).await.unwrap();
    let version: u32 = version.parse().unwrap();
    assert!(version >= 140_000, "idle_session_timeout needs PostgreSQL 14 or newer, and this is {version}");
    let (one, two) = (database.open().await, database.open().await);
    let mut stopped = one.job_lock("refit").await.unwrap().unwrap();
    let command = one.command_lock("bench").await.unwrap().unwrap();
    let mut taken = until(async || two.job_lock("refit").await.unwrap()).await;
    assert!(taken.is_held().await && !stopped.is_held().await);
    assert!(two.command_lock("bench").await.unwrap().is_none(), "a command may be silent for hours");
    drop(command);
    database.drop().await;
}

/// The lock, as soon as the server has seen that its former holder is gone.
async fn soon(store: &Store, job: &str) -> JobLock {
    let asking = async {
        loop {
            if let Some(lock) = store.job_lock(job).await.unwrap() {
                return lock;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), asking).await.expect("the lock is free again")
}
