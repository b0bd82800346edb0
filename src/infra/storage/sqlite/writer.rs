//! The one connection that writes to an embedded database.
//!
//! Every write is a transaction that begins on a connection in autocommit mode and has ended when its caller gets the result. A connection
//! is kept only after a clean end. After a full disk, an I/O error, a failed commit or rollback, or a cancelled caller, its state is
//! unknown: a later statement could join an open transaction, succeed, and never be committed. Such a connection is closed, and the next
//! write opens another one.

use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{Sqlite, SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection, Transaction};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::storage::StoreError;
use crate::storage::outage::OutageKind;
use crate::storage::sqlite::durability::check_durable;

/// Takes the write lock at once. SQLite refuses it within an open transaction, so its success also proves that the connection was in
/// autocommit mode.
const BEGIN: &str = "BEGIN IMMEDIATE";
/// Lock timeout of a write while another program is known to hold the lock: writes are serialised, and each would wait for the full
/// timeout.
const LOCKED_TIMEOUT: Duration = Duration::from_millis(500);

/// Lends the writing connection to one caller at a time, in the order of requests.
#[derive(Debug, Clone)]
pub(in crate::storage) struct SqliteWriter {
    options: Arc<SqliteConnectOptions>,
    idle: Arc<Mutex<IdleConnection>>,
}

#[derive(Debug)]
enum IdleConnection {
    Connection(SqliteConnection),
    /// The last connection was closed, or is in use.
    None,
    /// The store is closed.
    Closed,
}

impl SqliteWriter {
    pub(in crate::storage) fn new(options: SqliteConnectOptions, connection: SqliteConnection) -> Self {
        Self { options: Arc::new(options), idle: Arc::new(Mutex::new(IdleConnection::Connection(connection))) }
    }

    /// Creates the writer of a read-only store: it has no connection and opens none.
    pub(in crate::storage) fn closed(options: SqliteConnectOptions) -> Self {
        Self { options: Arc::new(options), idle: Arc::new(Mutex::new(IdleConnection::Closed)) }
    }

    /// Waits for the connection, and opens a new one if the last one was not kept. After the wait, `outage` returns the current outage:
    /// while another program holds the write lock, a new connection waits only [`LOCKED_TIMEOUT`] for it, and serves one write.
    pub(in crate::storage) async fn acquire(
        &self,
        outage: impl Fn() -> Option<OutageKind>,
    ) -> Result<WriteConnection, StoreError> {
        let mut idle = Arc::clone(&self.idle).lock_owned().await;
        let is_locked = outage() == Some(OutageKind::WriteLocked);
        let (connection, was_kept) = match std::mem::replace(&mut *idle, IdleConnection::None) {
            IdleConnection::Connection(connection) => (connection, true),
            IdleConnection::None => (self.connect(is_locked).await?, false),
            IdleConnection::Closed => {
                *idle = IdleConnection::Closed;
                return Err(sqlx::Error::PoolClosed.into());
            }
        };
        Ok(WriteConnection { connection, was_kept, serves_once: is_locked && !was_kept, idle })
    }

    async fn connect(&self, is_locked: bool) -> Result<SqliteConnection, StoreError> {
        let mut options = SqliteConnectOptions::clone(&self.options);
        if is_locked {
            options = options.busy_timeout(LOCKED_TIMEOUT);
        }
        let mut connection = SqliteConnection::connect_with(&options).await?;
        check_durable(&mut connection).await?;
        Ok(connection)
    }

    /// Waits for the current write and closes the connection.
    pub(in crate::storage) async fn close(&self) {
        let connection = std::mem::replace(&mut *self.idle.lock().await, IdleConnection::Closed);
        if let IdleConnection::Connection(connection) = connection
            && let Err(error) = connection.close().await
        {
            tracing::warn!(error = %error, "the writing connection did not close cleanly");
        }
    }
}

/// The writing connection, lent to one caller. Dropping it closes the connection, which rolls back.
pub(in crate::storage) struct WriteConnection {
    connection: SqliteConnection,
    was_kept: bool,
    /// Whether the connection is closed after this write even if it succeeds.
    serves_once: bool,
    idle: OwnedMutexGuard<IdleConnection>,
}

impl WriteConnection {
    /// Whether the connection was already open.
    pub(in crate::storage) fn was_kept(&self) -> bool {
        self.was_kept
    }

    pub(in crate::storage) async fn begin(&mut self) -> sqlx::Result<Transaction<'_, Sqlite>> {
        self.connection.begin_with(BEGIN).await
    }

    /// Keeps the connection for the next write; only after [`end`] found it clean.
    pub(in crate::storage) fn keep(self) {
        let Self { connection, mut idle, serves_once, .. } = self;
        if !serves_once {
            *idle = IdleConnection::Connection(connection);
        }
    }
}

/// Commits a successful write and rolls back a failed one. `Ok` contains its result, and proves that the connection is in autocommit mode
/// again: SQLite refuses a `COMMIT` or `ROLLBACK` without an open transaction.
///
/// # Errors
/// [`StoreError`] if the state of the connection is unknown; the write may or may not be stored.
pub(in crate::storage) async fn end<T>(
    transaction: Transaction<'_, Sqlite>,
    written: Result<T, StoreError>,
) -> Result<Result<T, StoreError>, StoreError> {
    match written {
        Ok(written) => {
            transaction.commit().await?;
            Ok(Ok(written))
        }
        Err(error) if may_have_rolled_back(&error) => Err(error),
        Err(error) => match transaction.rollback().await {
            Ok(()) => Ok(Err(error)),
            Err(_) => Err(error),
        },
    }
}

/// Whether SQLite may have rolled back by itself, or may have failed to: a full disk, an I/O error, out of memory.
fn may_have_rolled_back(error: &StoreError) -> bool {
    let StoreError::Database(error) = error else { return false };
    OutageKind::from_error(error).is_some() || error.as_database_error().is_none()
}

#[cfg(test)]
mod tests {
    use sqlx::sqlite::SqliteJournalMode;
    use tempfile::TempDir;

    use super::*;

    async fn writer() -> (TempDir, SqliteWriter) {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("test.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql("CREATE TABLE words (word TEXT NOT NULL)").execute(&mut connection).await.unwrap();
        (folder, SqliteWriter::new(options, connection))
    }

    /// Writes one word like [`crate::storage::attempt_write`].
    async fn write(writer: &SqliteWriter, word: Option<&str>) -> Result<(), StoreError> {
        let mut writing = writer.acquire(|| None).await?;
        let mut transaction = writing.begin().await?;
        let written = sqlx::query("INSERT INTO words VALUES ($1)").bind(word).execute(&mut *transaction).await;
        let written = end(transaction, written.map(drop).map_err(StoreError::from)).await?;
        writing.keep();
        written
    }

    /// Reads the committed words over another connection.
    async fn committed(writer: &SqliteWriter) -> Vec<String> {
        let mut other = SqliteConnection::connect_with(&writer.options).await.unwrap();
        sqlx::query_scalar("SELECT word FROM words WHERE LENGTH(word) < 100").fetch_all(&mut other).await.unwrap()
    }

    /// Simulates a full disk on the kept connection, until it is closed.
    async fn fill_disk(writer: &SqliteWriter) {
        let mut writing = writer.acquire(|| None).await.unwrap();
        sqlx::raw_sql("PRAGMA max_page_count = 1").execute(&mut writing.connection).await.unwrap();
        writing.keep();
    }

    #[tokio::test]
    async fn a_connection_that_found_the_disk_full_writes_nothing_more() {
        let (_folder, writer) = writer().await;
        let long = "x".repeat(100_000);
        fill_disk(&writer).await;
        let full = write(&writer, Some(&long)).await.unwrap_err();
        assert!(full.is_outage(), "{full:?}");
        write(&writer, Some("after")).await.unwrap();
        assert_eq!(committed(&writer).await, ["after"], "acknowledged is committed");
    }

    #[tokio::test]
    async fn a_caller_that_leaves_in_the_middle_leaves_no_transaction_open() {
        let (_folder, writer) = writer().await;
        {
            let mut writing = writer.acquire(|| None).await.unwrap();
            let mut transaction = writing.begin().await.unwrap();
            sqlx::query("INSERT INTO words VALUES ('left')").execute(&mut *transaction).await.unwrap();
        }
        write(&writer, Some("after")).await.unwrap();
        assert_eq!(committed(&writer).await, ["after"]);
    }

    #[tokio::test]
    async fn a_transaction_that_somebody_left_open_is_not_joined() {
        let (_folder, writer) = writer().await;
        let mut writing = writer.acquire(|| None).await.unwrap();
        sqlx::raw_sql("BEGIN; INSERT INTO words VALUES ('open')").execute(&mut writing.connection).await.unwrap();
        writing.keep();
        write(&writer, Some("refused")).await.unwrap_err();
        write(&writer, Some("after")).await.unwrap();
        assert_eq!(committed(&writer).await, ["after"]);
    }

    #[tokio::test]
    async fn a_lock_that_another_program_holds_is_an_outage_that_each_write_waits_for_shortly() {
        let (_folder, writer) = writer().await;
        let wait = async |writing: &mut WriteConnection| -> i64 {
            sqlx::query_scalar("PRAGMA busy_timeout").fetch_one(&mut writing.connection).await.unwrap()
        };
        let locked = || Some(OutageKind::WriteLocked);
        let mut other = SqliteConnection::connect_with(&writer.options).await.unwrap();
        sqlx::raw_sql(BEGIN).execute(&mut other).await.unwrap();
        let mut writing = writer.acquire(|| None).await.unwrap();
        sqlx::raw_sql("PRAGMA busy_timeout = 0").execute(&mut writing.connection).await.unwrap();
        writing.keep();
        let refused = write(&writer, Some("locked")).await.unwrap_err();
        assert!(refused.is_outage() && refused.stops_writes_only() && !refused.is_permanent(), "{refused:?}");
        sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
        let mut writing = writer.acquire(locked).await.unwrap();
        assert_eq!(wait(&mut writing).await, 500);
        writing.keep();
        let mut writing = writer.acquire(|| None).await.unwrap();
        assert_eq!(
            (wait(&mut writing).await, writing.was_kept()),
            (5_000, false),
            "the short wait ends with its write"
        );
        writing.keep();
        write(&writer, Some("after")).await.unwrap();
        assert_eq!(committed(&writer).await, ["after"]);
    }

    #[tokio::test]
    async fn a_refused_row_is_rolled_back_and_the_connection_kept() {
        let (_folder, writer) = writer().await;
        write(&writer, None).await.unwrap_err();
        assert!(matches!(*writer.idle.lock().await, IdleConnection::Connection(_)));
        write(&writer, Some("after")).await.unwrap();
        assert_eq!(committed(&writer).await, ["after"]);
    }
}
