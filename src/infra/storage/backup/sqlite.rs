//! Copies of the embedded database: `VACUUM INTO` gives one consistent state, also while votes come in.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use std::{fs, io};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio_util::sync::CancellationToken;

use super::{BackupError, RestoreReport, folder_of, name, partial_beside, unusable};
use crate::config::StorageSettings;
use crate::domain::time::Timestamp;
use crate::storage::moved_mark::refuse_moved;
use crate::storage::sqlite::{MIGRATIONS, applied, has_log, not_found, warn_of_other_names};
use crate::storage::sqlite_access::{FileAccess, UnwrittenFile};
use crate::storage::{DataLock, SELECT_VERSION, StoreError, compare_versions};
use crate::unfinished_files::remove_with_side_files;

/// SQLite's code for a disk without space.
const SQLITE_FULL: &str = "13";
/// Bytes of a copy between two moments at which a signal can end a restore.
const COPIED_AT_ONCE: u64 = 1 << 22;
/// Steps of SQLite's virtual machine between two moments at which a copy can be stopped; a row takes a few.
const STEPS_AT_ONCE: i32 = 1_000;
/// Its codes for files that may not be read, or beside which nothing may be made: read-only, not to be opened, a read-only folder.
const SQLITE_NO_ACCESS: [&str; 3] = ["8", "14", "1544"];

const COUNT_VOTES: &str = "SELECT COUNT(*) FROM votes";
const LOG_SIZE: &str = "SELECT COALESCE(MAX(size), 0) FROM log_checkpoint";

/// Copies a database that may be served meanwhile into an empty file; returns its votes. `stop` ends the copy early.
pub(super) async fn copy(database: &Path, partial: &Path, stop: &CancellationToken) -> Result<i64, BackupError> {
    let found = fs::metadata(database).map_err(|error| not_found(database, &error))?;
    if !found.is_file() {
        return Err(StoreError::Missing(database.display().to_string()).into());
    }
    if found.len() == 0 {
        return Err(StoreError::Empty(database.to_owned()).into());
    }
    warn_of_other_names(database, &found);
    let unfinished = UnfinishedCopy(partial);
    let before = if FileAccess::of(database) == FileAccess::ReadImmutable {
        copy_unserved(database, partial, stop).await?
    } else {
        copy_served(database, partial, stop).await?
    };
    let kept = tokio::select! {
        checked = check(partial) => checked?.votes,
        () = stop.cancelled() => return Err(BackupError::Stopped),
    };
    unfinished.keep();
    if kept < before { Err(BackupError::Fewer { kept, before }) } else { Ok(kept) }
}

/// Copies a database that an arena may write meanwhile; returns the votes that it held before.
async fn copy_served(database: &Path, partial: &Path, stop: &CancellationToken) -> Result<i64, BackupError> {
    let had_log = has_log(database);
    let mut connection = open(database, Opened::Beside).await.map_err(damaged(database))?;
    let written = write_copy(&mut connection, database, partial, stop).await;
    let closed = connection.close().await;
    if !had_log {
        remove_log(database).await;
    }
    let before = written?;
    closed.map_err(damaged(database))?;
    Ok(before)
}

/// Copies a database that no arena has open; returns the votes that it holds. What an arena of another user that starts meanwhile writes
/// would make a mixture of the copy.
async fn copy_unserved(database: &Path, partial: &Path, stop: &CancellationToken) -> Result<i64, BackupError> {
    let unwritten = UnwrittenFile::new(database);
    let mut connection = open(database, Opened::Alone).await.map_err(damaged(database))?;
    let written = write_copy(&mut connection, database, partial, stop).await;
    let closed = connection.close().await;
    let votes = written?;
    closed.map_err(damaged(database))?;
    if unwritten.may_have_changed() {
        return Err(BackupError::Started(database.to_owned()));
    }
    Ok(votes)
}

/// Writes the copy; returns the votes that the database held before.
async fn write_copy(
    connection: &mut SqliteConnection,
    database: &Path,
    partial: &Path,
    stop: &CancellationToken,
) -> Result<i64, BackupError> {
    let stopped = stop.clone();
    let damaged =
        |error: sqlx::Error| if stop.is_cancelled() { BackupError::Stopped } else { damaged(database)(error) };
    let mut handle = connection.lock_handle().await.map_err(damaged)?;
    handle.set_progress_handler(STEPS_AT_ONCE, move || !stopped.is_cancelled());
    drop(handle);
    match applied(connection, database).await {
        Err(foreign @ StoreError::Foreign(_)) => return Err(foreign.into()),
        Ok(None) => return Err(StoreError::Missing(database.display().to_string()).into()),
        // What is damaged is found below.
        Ok(Some(_)) | Err(_) => {}
    }
    refuse_moved(connection, database).await.map_err(|error| match error {
        StoreError::Database(error) => damaged(error),
        moved => moved.into(),
    })?;
    let before: i64 = sqlx::query_scalar(COUNT_VOTES).fetch_one(&mut *connection).await.map_err(damaged)?;
    let to = partial.display().to_string();
    let written = sqlx::query("VACUUM INTO $1").bind(to).execute(&mut *connection).await;
    written.map_err(|error| no_space(partial, &error).unwrap_or_else(|| damaged(error)))?;
    Ok(before)
}

/// Removes the empty write-ahead log that reading has made. Only a connection that may write does that, when it is closed as the last one of
/// all programs, so the log of an arena that has started meanwhile stays.
async fn remove_log(database: &Path) {
    if !has_log(database) {
        return;
    }
    let options = SqliteConnectOptions::new().filename(database).disable_statement_logging();
    if let Ok(mut connection) = options.connect().await {
        // Where either fails, an empty log stays, which does no harm.
        let _ = sqlx::query("PRAGMA schema_version").execute(&mut connection).await;
        let _ = connection.close().await;
    }
}

/// An unfinished copy: dropping it removes its file and what SQLite has made beside that.
struct UnfinishedCopy<'p>(&'p Path);

impl UnfinishedCopy<'_> {
    /// It is whole: the file stays.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for UnfinishedCopy<'_> {
    fn drop(&mut self) {
        remove_with_side_files(self.0);
    }
}

/// Puts a copy where no database is. Nothing is made before the copy was read: the lock makes the folder. The database gets its name when it
/// is whole, so what a killed restore leaves is no arena; one that fails or is dropped leaves nothing: the lock goes with its folders.
pub(super) async fn restore(
    settings: &StorageSettings,
    file: &Path,
    database: &Path,
    now: Timestamp,
) -> Result<RestoreReport, BackupError> {
    // To read a large copy takes minutes, and this place would not take it.
    if let Some(taken) = occupying(database) {
        // Where an arena is served, the error says so. Beside the file of another program no lock is made.
        if database.with_extension("lock").exists() {
            lock_free_place(settings, database)?;
        }
        return Err(BackupError::Occupied(taken));
    }
    if fs::metadata(beside(file, "-wal")).is_ok_and(|log| log.len() > 0) {
        return Err(BackupError::InUse(file.to_owned()));
    }
    check(file).await?;
    let _lock = lock_free_place(settings, database)?;
    let partial = partial_beside(database, now)?;
    copy_bytes(file, partial.as_file()).await.map_err(unusable(database))?;
    let copied = check(partial.path()).await?;
    name(partial, database)?;
    Ok(copied)
}

/// The bytes alone: `fs::copy` takes the permissions over, and a backup may be kept read-only or where everybody reads it. Part by part, so
/// that a signal can end it.
async fn copy_bytes(file: &Path, mut to: &fs::File) -> io::Result<()> {
    let mut kept = fs::File::open(file)?;
    while io::copy(&mut (&mut kept).take(COPIED_AT_ONCE), &mut to)? > 0 {
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Takes the lock of a place where no database is.
fn lock_free_place(settings: &StorageSettings, database: &Path) -> Result<DataLock, BackupError> {
    let lock = DataLock::take(settings, "restore")?;
    occupying(database).map_or(Ok(lock), |taken| Err(BackupError::Occupied(taken)))
}

/// The first of a database's files that is there.
fn occupying(database: &Path) -> Option<PathBuf> {
    let mut files = ["", "-wal", "-shm"].map(|ending| beside(database, ending)).into_iter();
    files.find(|file| file.symlink_metadata().is_ok())
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Reads all of a file that nobody writes.
async fn check(file: &Path) -> Result<RestoreReport, BackupError> {
    let damaged = damaged(file);
    let mut connection = open(file, Opened::Alone).await.map_err(&damaged)?;
    if let Err(StoreError::Foreign(_)) | Ok(None) = applied(&mut connection, file).await {
        return Err(BackupError::NotABackup(file.to_owned()));
    }
    let said: String =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.map_err(&damaged)?;
    let lost = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut connection).await.map_err(&damaged)?;
    let wrong = |reason: &str| BackupError::Damaged { path: file.to_owned(), reason: reason.to_owned() };
    if said != "ok" {
        return Err(wrong(said.lines().next().unwrap_or_default()));
    }
    if !lost.is_empty() {
        return Err(wrong("rows refer to others that are missing"));
    }
    let version = sqlx::query_scalar(SELECT_VERSION).fetch_one(&mut connection).await.map_err(&damaged)?;
    // An older copy is brought up to date when it is served.
    if let Err(newer @ StoreError::Newer(_)) = compare_versions(version, &MIGRATIONS) {
        return Err(newer.into());
    }
    let votes = sqlx::query_scalar(COUNT_VOTES).fetch_one(&mut connection).await.map_err(&damaged)?;
    // Copies of earlier versions have no public log.
    let log_entries = sqlx::query_scalar(LOG_SIZE).fetch_one(&mut connection).await.unwrap_or(0);
    connection.close().await.map_err(&damaged)?;
    Ok(RestoreReport { votes, log_entries })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    /// Others may write it.
    Beside,
    /// Nobody writes it, so nothing is made beside it.
    Alone,
}

async fn open(file: &Path, opened: Opened) -> Result<SqliteConnection, sqlx::Error> {
    let options = SqliteConnectOptions::from_str("sqlite:")?
        .filename(file)
        .read_only(true)
        .immutable(opened == Opened::Alone)
        .busy_timeout(Duration::from_secs(10));
    options.disable_statement_logging().connect().await
}

/// The error where a copy is not written because its disk is full.
fn no_space(to: &Path, error: &sqlx::Error) -> Option<BackupError> {
    let is_full = error.as_database_error()?.code().is_some_and(|code| code == SQLITE_FULL);
    is_full.then(|| unusable(folder_of(to))(io::ErrorKind::StorageFull.into()))
}

fn damaged(path: &Path) -> impl Fn(sqlx::Error) -> BackupError + use<> {
    let path = path.to_owned();
    move |error| {
        let code = error.as_database_error().and_then(|error| error.code());
        if code.is_some_and(|code| SQLITE_NO_ACCESS.contains(&code.as_ref())) {
            return unusable(&path)(io::ErrorKind::PermissionDenied.into());
        }
        let reason = error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
        BackupError::Damaged { path: path.clone(), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database of ten thousand votes.
    async fn with_votes(database: &Path) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(database).create_if_missing(true);
        let mut connection = options.connect().await.unwrap();
        let rows = "CREATE TABLE _sqlx_migrations (version BIGINT); INSERT INTO _sqlx_migrations VALUES (1); \
                    CREATE TABLE votes (seq INTEGER PRIMARY KEY); \
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO votes SELECT i FROM n";
        sqlx::raw_sql(rows).execute(&mut connection).await.unwrap();
        connection
    }

    #[tokio::test]
    async fn a_copy_of_a_file_that_an_arena_begins_to_use_is_discarded() {
        let folder = tempfile::tempdir().unwrap();
        let (database, partial) = (folder.path().join("a.db"), folder.path().join("copy"));
        with_votes(&database).await.close().await.unwrap();
        let stop = CancellationToken::new();
        assert_eq!(copy_unserved(&database, &partial, &stop).await.unwrap(), 10_000);
        fs::remove_file(&partial).unwrap();
        for ending in ["-wal", "-shm"] {
            fs::write(beside(&database, ending), "").unwrap();
        }
        let begun = copy_unserved(&database, &partial, &stop).await.unwrap_err();
        assert!(matches!(begun, BackupError::Started(_)), "{begun}");
    }

    #[tokio::test]
    async fn a_copy_that_is_stopped_ends_in_the_middle_of_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let (database, partial) = (folder.path().join("a.db"), folder.path().join("copy"));
        let mut connection = with_votes(&database).await;
        let stop = CancellationToken::new();
        assert_eq!(write_copy(&mut connection, &database, &partial, &stop).await.unwrap(), 10_000);
        fs::remove_file(&partial).unwrap();
        stop.cancel();
        let stopped = write_copy(&mut connection, &database, &partial, &stop).await.unwrap_err();
        assert!(matches!(stopped, BackupError::Stopped), "{stopped}");
    }

    #[tokio::test]
    async fn a_copy_has_all_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let bytes: Vec<u8> = (0..=250_u8).cycle().take(2 * 4_194_304 + 1).collect();
        fs::write(&from, &bytes).unwrap();
        copy_bytes(&from, &fs::File::create(&to).unwrap()).await.unwrap();
        assert!(fs::read(&to).unwrap() == bytes);
    }
}
