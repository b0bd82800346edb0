//! A database that cannot be used ends the start with one line that says why and what to do, and no password. The code is 1
//! where a later start may succeed, so that who watches over the process tries again, and 2 elsewhere.

use std::path::Path;

use sqlx::Connection;

use crate::support::postgres::OwnServer;
use crate::support::program::langya;

#[track_caller]
fn check_refused(folder: &Path, code: i32, database: &str, words: &[&str]) {
    let run = langya(folder, ["serve", "--listen", "127.0.0.1:0", "--data-dir", "data", "--database", database]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{database}: {}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{database}: {}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "{database}: no {word:?} in {}", run.stderr);
    }
    assert!(!run.stderr.contains("horse"), "{}", run.stderr);
}

#[actix_web::test]
async fn a_postgresql_that_cannot_be_used_ends_the_start_with_one_line() {
    let Some(server) = OwnServer::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let refused = |database: &str, words: &[&str]| check_refused(folder.path(), 2, database, words);
    let passes = |database: &str, words: &[&str]| check_refused(folder.path(), 1, database, words);
    let as_locked = |password: &str| server.url("postgres").replace("arena@", &format!("locked:{password}@"));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nowhere = format!("postgres://me:horse@127.0.0.1:{port}/arena");
    passes(&nowhere, &["cannot reach the database", &format!("postgres://127.0.0.1:{port}/arena"), "storage.database"]);
    refused(&server.url("absent"), &["has no database", "absent", "createdb"]);
    server.as_admin("CREATE ROLE locked LOGIN PASSWORD 'correct-horse'").await.unwrap();
    refused(&as_locked("wrong-horse"), &["refuses the user or the password", "storage.database"]);
    refused(&as_locked("correct-horse"), &["may not create its tables", "owner"]);

    server.alter_database("default_transaction_read_only", Some("on")).await;
    passes(&server.url("postgres"), &["read-only", "the address of the primary server"]);
    server.alter_database("default_transaction_read_only", None).await;
    server.alter_database("synchronous_commit", Some("off")).await;
    refused(&server.url("postgres"), &["synchronous_commit = off", "power cut"]);
    server.alter_database("synchronous_commit", None).await;
    server.restart_with("fast", "-c fsync=off").await;
    refused(&server.url("postgres"), &["fsync = off", "power cut"]);
    server.restart("fast").await;

    server.as_admin("CREATE DATABASE foreign_tables").await.unwrap();
    let foreign = server.url("foreign_tables");
    let mut connection = sqlx::PgConnection::connect(&foreign).await.unwrap();
    sqlx::query("CREATE TABLE battles (id TEXT)").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    refused(&foreign, &["already exists", "restore a backup", "an empty database of its own"]);

    server.open().await.close().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (99990101000000, 'from the future', TRUE, '', 0)";
    server.as_admin(newer).await.unwrap();
    refused(&server.url("postgres"), &["newer langya", "99990101000000", "backup"]);
    server.crash().await;
    passes(&server.url("postgres"), &["cannot reach the database", "start its server"]);
}
