//! Backups of a PostgreSQL database by `pg_dump` and `pg_restore`. The password is passed in the environment, where other users of the
//! machine do not see it.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use sqlx::Connection;
use sqlx::postgres::PgConnection;

use super::{BackupError, RestoreReport};
use crate::config::StorageSettings;
use crate::storage::StoreError;
use crate::storage::postgres::Server;

/// Begins a snapshot transaction without an idle timeout, which stays open while `pg_dump` starts.
const BEGIN_SNAPSHOT: [&str; 2] =
    ["BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", "SET LOCAL idle_in_transaction_session_timeout = 0"];
const EXPORT_SNAPSHOT: &str = "SELECT pg_export_snapshot()";
const COUNT_VOTES: &str = "SELECT COUNT(*) FROM votes";
const LOG_SIZE: &str = "SELECT COALESCE(MAX(size), 0) FROM log_checkpoint";
const COUNT_RELATIONS: &str = "SELECT COUNT(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace \
     WHERE relkind IN ('r', 'p', 'v', 'S') AND nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'";

/// Dumps the database to a file and verifies it; returns the number of votes in it.
pub(super) async fn dump(settings: &StorageSettings, partial: &Path) -> Result<i64, BackupError> {
    let mut connection = Server::from_settings(settings)?.connect().await?;
    let (snapshot, votes) = count_in_snapshot(&mut connection).await?;
    let address = PostgresAddress::new(settings)?;
    let mut dump = Command::new("pg_dump");
    // Unlogged tables hold only data that is dispensable after a crash.
    dump.args(["--format=custom", "--no-owner", "--no-privileges", "--no-unlogged-table-data", "--snapshot"]);
    dump.arg(snapshot).arg("--file").arg(partial);
    run("pg_dump", "kept", address.with_credentials(dump)).await?;
    // The dump is complete, even if the server has ended the snapshot's session in the meantime.
    let _ = connection.close().await;
    // Reads and unpacks everything.
    let mut read_back = Command::new("pg_restore");
    read_back.args(["--file=/dev/null"]).arg(partial);
    run("pg_restore", "kept", read_back).await?;
    Ok(votes)
}

/// Restores a dump to an empty database, all or nothing.
pub(super) async fn restore(settings: &StorageSettings, file: &Path) -> Result<RestoreReport, BackupError> {
    let server = Server::from_settings(settings)?;
    let mut connection = server.connect().await?;
    if count(&mut connection, COUNT_RELATIONS).await? > 0 {
        return Err(BackupError::NotEmpty(settings.database.to_string()));
    }
    let mut restore = Command::new("pg_restore");
    restore.args(["--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges"]);
    let mut restore = PostgresAddress::new(settings)?.with_credentials(restore);
    restore.arg("--").arg(file);
    run("pg_restore", "restored", restore).await?;
    sqlx::query("ANALYZE").execute(&mut connection).await.map_err(StoreError::from)?;
    let votes = count(&mut connection, COUNT_VOTES).await?;
    // Backups of earlier versions have no public log.
    let log_entries = count(&mut connection, LOG_SIZE).await.unwrap_or(0);
    connection.close().await.map_err(StoreError::from)?;
    Ok(RestoreReport { votes, log_entries })
}

/// Exports a snapshot for `pg_dump` and counts the votes in it. The snapshot lasts as long as the connection.
async fn count_in_snapshot(connection: &mut PgConnection) -> Result<(String, i64), BackupError> {
    for statement in BEGIN_SNAPSHOT {
        sqlx::query(statement).execute(&mut *connection).await.map_err(StoreError::from)?;
    }
    let votes = count(connection, COUNT_VOTES).await?;
    let export = sqlx::query_scalar(EXPORT_SNAPSHOT);
    Ok((export.fetch_one(connection).await.map_err(StoreError::from)?, votes))
}

async fn count(connection: &mut PgConnection, statement: &'static str) -> Result<i64, BackupError> {
    Ok(sqlx::query_scalar(statement).fetch_one(connection).await.map_err(StoreError::from)?)
}

/// Runs a program to its end; dropping the future kills it.
async fn run(tool: &'static str, done: &'static str, command: Command) -> Result<(), BackupError> {
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    match command.status().await {
        Ok(status) if status.success() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(BackupError::NoTool(tool)),
        _ => Err(BackupError::Tool(tool, done)),
    }
}

/// Address of a database for the programs, with the password separate.
struct PostgresAddress {
    without_password: String,
    password: Option<String>,
}

impl PostgresAddress {
    fn new(settings: &StorageSettings) -> Result<Self, BackupError> {
        let address = settings.database.expose();
        let (place, options) = address.split_at(address.find('?').unwrap_or(address.len()));
        if options.contains("?password=") || options.contains("&password=") {
            return Err(BackupError::PasswordInOptions);
        }
        let parts = place.split_once("://").and_then(|(scheme, rest)| {
            let (user, host) = rest.rsplit_once('@')?;
            let (user, password) = user.split_once(':')?;
            Some((format!("{scheme}://{user}@{host}{options}"), decoded(password)))
        });
        Ok(match parts {
            Some((without_password, password)) => Self { without_password, password: Some(password) },
            None => Self { without_password: address.to_owned(), password: None },
        })
    }

    fn with_credentials(&self, mut command: Command) -> Command {
        command.arg(format!("--dbname={}", self.without_password));
        if let Some(password) = &self.password {
            command.env("PGPASSWORD", password);
        }
        command
    }
}

/// Decodes a percent-encoded text of an address.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| byte == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(escaped) => {
                bytes.push(escaped);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: &str, password: Option<&str>) {
        let settings = StorageSettings { database: address.into(), ..StorageSettings::default() };
        let address = PostgresAddress::new(&settings).unwrap();
        assert_eq!((address.without_password.as_str(), address.password.as_deref()), (expected, password));
    }

    #[test]
    fn a_password_is_taken_out_of_the_address() {
        check(
            "postgres://u:s%C3%BCss%25%zz@h:5/n?sslmode=require",
            "postgres://u@h:5/n?sslmode=require",
            Some("süss%%zz"),
        );
        check("postgres://u@h/n", "postgres://u@h/n", None);
        check("postgresql:///n?host=/run", "postgresql:///n?host=/run", None);
        let settings =
            StorageSettings { database: "postgres://u@h/n?a=1&password=x".into(), ..StorageSettings::default() };
        assert!(matches!(PostgresAddress::new(&settings), Err(BackupError::PasswordInOptions)));
    }
}
