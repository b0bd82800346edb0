//! Everything that is kept, behind [`Store`]: one file per table, the SQL beside the method that runs it.
//!
//! `Store` is an enum over database backends. The statements use `$1` placeholders, `RETURNING` and `ON CONFLICT`, which
//! SQLite and PostgreSQL read alike, so that a second backend is a second arm in `on_reader` and `on_writer`.
//! Numbers are cast here, checked, and nowhere else.

mod battles;
mod error;
mod leaderboards;
mod models;
mod votes;

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

pub use battles::{BattleRow, NewReply, ReplyEnding, ReplyRow, SideFailure, TurnRow};
pub use error::StoreError;
pub use leaderboards::StoredLeaderboard;
pub use models::{BreakerReport, RegisteredModel};
pub use votes::{ComparisonRow, NewVoteRow, VoteInsert, VoteRow};

use crate::config::StorageSettings;

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// The arena's database.
#[derive(Debug, Clone)]
pub enum Store {
    /// The embedded default: one writer, a few readers.
    Sqlite(SqlitePools),
}

/// SQLite takes one writer at a time, so it gets one; readers see the last commit and never wait for it.
#[derive(Debug, Clone)]
pub struct SqlitePools {
    writer: SqlitePool,
    reader: SqlitePool,
}

/// Runs an expression with `$pool` bound to the pool that reads.
macro_rules! on_reader {
    ($store:expr, |$pool:ident| $body:expr) => {
        match $store {
            $crate::storage::Store::Sqlite(pools) => {
                let $pool = &pools.reader;
                $body
            }
        }
    };
}

/// Runs an expression with `$pool` bound to the pool that writes.
macro_rules! on_writer {
    ($store:expr, |$pool:ident| $body:expr) => {
        match $store {
            $crate::storage::Store::Sqlite(pools) => {
                let $pool = &pools.writer;
                $body
            }
        }
    };
}

pub(crate) use {on_reader, on_writer};

/// What [`Store::open`] does where there is no database yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    /// Make a new one.
    Create,
    /// Fail with [`StoreError::Missing`].
    Fail,
}

impl Store {
    /// Opens the database and checks that its commits last. Who may create it brings its tables up to date too; who
    /// may not leaves that to the serving process, and takes them only as this program knows them.
    ///
    /// # Errors
    /// [`StoreError`] names the folder or setting and the way out.
    pub async fn open(settings: &StorageSettings, if_missing: IfMissing) -> Result<Self, StoreError> {
        let path = database_path(settings)?;
        if if_missing == IfMissing::Fail && !path.exists() {
            return Err(StoreError::Missing(path));
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        let unusable = |reason: String| StoreError::DataDir { path: folder.to_owned(), reason };
        std::fs::create_dir_all(folder).map_err(|error| unusable(error.to_string()))?;
        let options = sqlite_options(&path)?;
        // A connection to a file needs no test before each use, which would be a round trip to its thread.
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .test_before_acquire(false)
            .connect_with(options.clone())
            .await
            .map_err(|error| {
                if is_foreign(&error) { StoreError::Foreign(path.clone()) } else { unusable(error.to_string()) }
            })?;
        check_durable(&writer).await?;
        match if_missing {
            IfMissing::Create => SQLITE_MIGRATIONS.run(&writer).await.map_err(|error| match error {
                MigrateError::VersionMissing(version) => StoreError::Newer(version),
                MigrateError::Execute(reason) if is_read_only(&reason) => unusable(reason.to_string()),
                other => StoreError::Migrate(other),
            })?,
            IfMissing::Fail => check_version(&writer).await?,
        }
        let reader = SqlitePoolOptions::new()
            .max_connections(2)
            .test_before_acquire(false)
            .connect_with(options.read_only(true))
            .await?;
        Ok(Self::Sqlite(SqlitePools { writer, reader }))
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// [`StoreError::Database`] where it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        on_reader!(self, |pool| sqlx::query("SELECT 1").execute(pool).await)?;
        Ok(())
    }

    /// Waits for running statements and closes all connections.
    pub async fn close(&self) {
        on_writer!(self, |pool| pool.close().await);
        on_reader!(self, |pool| pool.close().await);
    }
}

/// The lock that one serving process holds on a database; it ends with the process.
#[derive(Debug)]
pub struct DataLock {
    _file: std::fs::File,
}

impl DataLock {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`StoreError::Locked`] where another process holds it, [`StoreError::DataDir`] where the folder cannot be written.
    pub fn take(settings: &StorageSettings) -> Result<Self, StoreError> {
        let database = database_path(settings)?;
        let folder = database.parent().unwrap_or(Path::new(".")).to_owned();
        let unusable = |error: std::io::Error| StoreError::DataDir { path: folder.clone(), reason: error.to_string() };
        std::fs::create_dir_all(&folder).map_err(unusable)?;
        let file = std::fs::File::create(database.with_extension("lock")).map_err(unusable)?;
        file.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => StoreError::Locked(folder.clone()),
            std::fs::TryLockError::Error(error) => unusable(error),
        })?;
        Ok(Self { _file: file })
    }
}

fn database_path(settings: &StorageSettings) -> Result<PathBuf, StoreError> {
    match settings.database.expose() {
        "" => Ok(settings.data_dir.join("langya.db")),
        address => address
            .strip_prefix("sqlite:")
            .map(|path| PathBuf::from(path.trim_start_matches("//")))
            .filter(|path| !path.as_os_str().is_empty())
            // An address may hold a password, so only its scheme is repeated.
            .ok_or_else(|| StoreError::UnknownBackend(address.split(':').next().unwrap_or_default().to_owned() + ":…")),
    }
}

fn sqlite_options(path: &Path) -> Result<SqliteConnectOptions, StoreError> {
    Ok(SqliteConnectOptions::from_str("sqlite:")?
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(10)))
}

/// Reads back the two settings on which the promise of kept votes rests.
async fn check_durable(pool: &SqlitePool) -> Result<(), StoreError> {
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(pool).await?;
    if journal != "wal" {
        return Err(StoreError::NotDurable { setting: "journal_mode", value: journal, wanted: "wal" });
    }
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(pool).await?;
    if synchronous != 2 {
        return Err(StoreError::NotDurable { setting: "synchronous", value: synchronous.to_string(), wanted: "2" });
    }
    Ok(())
}

async fn check_version(pool: &SqlitePool) -> Result<(), StoreError> {
    let applied: Option<i64> = sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations").fetch_one(pool).await?;
    let known = SQLITE_MIGRATIONS.iter().map(|migration| migration.version).max();
    match applied.cmp(&known) {
        Ordering::Less => Err(StoreError::Older),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(StoreError::Newer(applied.unwrap_or_default())),
    }
}

/// Whether the file is there and is no SQLite database, or a damaged one.
fn is_foreign(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| ["not a database", "malformed"].iter().any(|said| error.message().contains(said)))
}

fn is_read_only(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.message().contains("readonly"))
}

/// A count or duration out of a column that never holds a negative number.
fn unsigned(value: i64, table: &'static str, column: &'static str, row: &str) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|_| StoreError::Inconsistent {
        table,
        column,
        row: row.to_owned(),
        value: value.to_string(),
    })
}

/// A number on its way into a `BIGINT` column.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
