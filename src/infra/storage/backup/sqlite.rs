//! Backups of the embedded database: `VACUUM INTO` writes one consistent state, also while votes arrive.

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
use crate::storage::sqlite::access::{FileAccess, UnwrittenFile};
use crate::storage::sqlite::moved_mark::refuse_moved;
use crate::storage::sqlite::{MIGRATIONS, applied, has_log, not_found, warn_of_other_names};
use crate::storage::{DataLock, SELECT_VERSION, StoreError, compare_versions};
use crate::unfinished_files::remove_with_side_files;

/// SQLite's error code for a full disk.
const SQLITE_FULL: &str = "13";
/// Number of bytes copied between two checks for cancellation of a restore.
const BYTES_PER_CANCEL_CHECK: u64 = 1 << 22;
/// Number of SQLite virtual machine steps between two checks for cancellation; a row takes a few.
const STEPS_PER_CANCEL_CHECK: i32 = 1_000;
/// SQLite's error codes for missing permissions: read-only, cannot open, read-only folder.
const SQLITE_NO_ACCESS: [&str; 3] = ["8", "14", "1544"];

const COUNT_VOTES: &str = "SELECT COUNT(*) FROM votes";
const LOG_SIZE: &str = "SELECT COALESCE(MAX(size), 0) FROM log_checkpoint";

/// Copies a database that may be in use to an empty file; returns the number of its votes. `stop` cancels the copy.
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
    unfinished.into_complete_file();
    if kept < before { Err(BackupError::Fewer { kept, before }) } else { Ok(kept) }
}

/// Copies a database that an arena may write at the same time; returns the number of votes before.
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

/// Copies a database that no arena has open; returns the number of its votes. Detects writes of an arena of another user that starts
/// meanwhile, which would make the copy inconsistent.
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

/// Writes the copy; returns the number of votes in the database before.
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
    handle.set_progress_handler(STEPS_PER_CANCEL_CHECK, move || !stopped.is_cancelled());
    drop(handle);
    match applied(connection, database).await {
        Err(foreign @ StoreError::Foreign(_)) => return Err(foreign.into()),
        Ok(None) => return Err(StoreError::Missing(database.display().to_string()).into()),
        // Damage is detected below.
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

/// Removes the empty write-ahead log created by reading. Only a writable connection does that, if it is the last one of all processes to
/// close, so the log of an arena that has started meanwhile stays.
async fn remove_log(database: &Path) {
    if !has_log(database) {
        return;
    }
    let options = SqliteConnectOptions::new().filename(database).disable_statement_logging();
    if let Ok(mut connection) = options.connect().await {
        // If either fails, an empty log stays, which is harmless.
        let _ = sqlx::query("PRAGMA schema_version").execute(&mut connection).await;
        let _ = connection.close().await;
    }
}

/// An unfinished copy: dropping it removes its file and SQLite's files beside it.
struct UnfinishedCopy<'p>(&'p Path);

impl UnfinishedCopy<'_> {
    /// Keeps the complete file.
    fn into_complete_file(self) {
        std::mem::forget(self);
    }
}

impl Drop for UnfinishedCopy<'_> {
    fn drop(&mut self) {
        remove_with_side_files(self.0);
    }
}

/// Restores a backup to a location without a database. Creates nothing before the backup was verified: the lock creates the folder. The
/// database gets its name when it is complete, so a killed restore leaves no arena; one that fails or is dropped leaves nothing: the lock
/// is removed with its folders.
pub(super) async fn restore(
    settings: &StorageSettings,
    file: &Path,
    database: &Path,
    now: Timestamp,
) -> Result<RestoreReport, BackupError> {
    // Verifying a large backup takes minutes, and this location would refuse it.
    if let Some(taken) = first_existing_file(database) {
        // If an arena is running, the error says so. No lock is created beside the file of another program.
        if database.with_extension("lock").exists() {
            lock_free_place(settings, database)?;
        }
        return Err(BackupError::Occupied(taken));
    }
    if fs::metadata(side_file(file, "-wal")).is_ok_and(|log| log.len() > 0) {
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

/// Copies only the bytes: `fs::copy` would copy the permissions too, and a backup may be read-only or world-readable. Copies in chunks, so
/// that it can be cancelled.
async fn copy_bytes(file: &Path, mut to: &fs::File) -> io::Result<()> {
    let mut kept = fs::File::open(file)?;
    while io::copy(&mut (&mut kept).take(BYTES_PER_CANCEL_CHECK), &mut to)? > 0 {
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Locks a location without a database.
fn lock_free_place(settings: &StorageSettings, database: &Path) -> Result<DataLock, BackupError> {
    let lock = DataLock::take(settings, "restore")?;
    first_existing_file(database).map_or(Ok(lock), |taken| Err(BackupError::Occupied(taken)))
}

/// Returns the first existing one of a database's files.
fn first_existing_file(database: &Path) -> Option<PathBuf> {
    let mut files = ["", "-wal", "-shm"].map(|ending| side_file(database, ending)).into_iter();
    files.find(|file| file.symlink_metadata().is_ok())
}

fn side_file(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Verifies all of a file that is not being written.
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
    // An older backup is migrated when an arena opens it.
    if let Err(newer @ StoreError::Newer(_)) = compare_versions(version, &MIGRATIONS) {
        return Err(newer.into());
    }
    let votes = sqlx::query_scalar(COUNT_VOTES).fetch_one(&mut connection).await.map_err(&damaged)?;
    // Backups of earlier versions have no public log.
    let log_entries = sqlx::query_scalar(LOG_SIZE).fetch_one(&mut connection).await.unwrap_or(0);
    connection.close().await.map_err(&damaged)?;
    Ok(RestoreReport { votes, log_entries })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    /// Others may write the file.
    Beside,
    /// The file is not being written, so nothing is created beside it.
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

/// Returns the error for a copy that does not fit on its disk.
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

    /// Creates a database of ten thousand votes.
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
            fs::write(side_file(&database, ending), "").unwrap();
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
