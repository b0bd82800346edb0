//! Copies of the embedded database: `VACUUM INTO` gives one consistent state, also while votes come in.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use std::{fs, io};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};

use super::{BackupError, RestoreReport, folder_of, name, partial_beside, unusable};
use crate::config::StorageSettings;
use crate::domain::time::Timestamp;
use crate::storage::sqlite::{MIGRATIONS, not_found};
use crate::storage::{DataLock, SELECT_VERSION, StoreError, compare_versions};
use crate::unfinished_files::remove_with_side_files;

/// SQLite's code for a disk without space.
const SQLITE_FULL: &str = "13";
/// Its codes for files that may not be read, or beside which nothing may be made: read-only, not to be opened, a read-only folder.
const SQLITE_NO_ACCESS: [&str; 3] = ["8", "14", "1544"];

const COUNT_VOTES: &str = "SELECT COUNT(*) FROM votes";
const LOG_SIZE: &str = "SELECT COALESCE(MAX(size), 0) FROM log_checkpoint";

/// Copies a database that may be served meanwhile into an empty file; returns its votes.
pub(super) async fn copy(database: &Path, partial: &Path) -> Result<i64, BackupError> {
    let found = fs::metadata(database).map_err(|error| not_found(database, &error))?;
    if !found.is_file() {
        return Err(StoreError::Missing(database.display().to_string()).into());
    }
    let damaged = damaged(database);
    let unfinished = UnfinishedCopy(partial);
    let mut connection = open(database, Opened::Beside).await.map_err(&damaged)?;
    let before: i64 = sqlx::query_scalar(COUNT_VOTES).fetch_one(&mut connection).await.map_err(&damaged)?;
    let to = partial.display().to_string();
    let written = sqlx::query("VACUUM INTO $1").bind(to).execute(&mut connection).await;
    written.map_err(|error| no_space(partial, &error).unwrap_or_else(|| damaged(error)))?;
    connection.close().await.map_err(&damaged)?;
    let kept = check(partial).await?.votes;
    unfinished.keep();
    if kept < before { Err(BackupError::Fewer { kept, before }) } else { Ok(kept) }
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

/// Puts a copy where no database is. Nothing is made before the copy was read: the lock makes the folder.
pub(super) async fn restore(
    settings: &StorageSettings,
    file: &Path,
    database: &Path,
    now: Timestamp,
) -> Result<RestoreReport, BackupError> {
    if occupying(database).is_some() {
        // To read a large copy takes minutes, and this place will not take it.
        lock_free_place(settings, database)?;
    }
    if fs::metadata(beside(file, "-wal")).is_ok_and(|log| log.len() > 0) {
        return Err(BackupError::InUse(file.to_owned()));
    }
    check(file).await?;
    let _lock = lock_free_place(settings, database)?;
    let partial = partial_beside(database, now)?;
    // The bytes alone: `fs::copy` takes the permissions over, and a backup may be kept read-only or where everybody reads it.
    let mut kept = fs::File::open(file).map_err(unusable(file))?;
    io::copy(&mut kept, &mut partial.as_file()).map_err(unusable(database))?;
    let copied = check(partial.path()).await?;
    name(partial, database)?;
    Ok(copied)
}

/// Takes the lock of a place where no database is.
fn lock_free_place(settings: &StorageSettings, database: &Path) -> Result<DataLock, BackupError> {
    let lock = DataLock::take(settings)?;
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
    let applied = sqlx::query_scalar(SELECT_VERSION).fetch_one(&mut connection).await.map_err(&damaged)?;
    // An older copy is brought up to date when it is served.
    if let Err(newer @ StoreError::Newer(_)) = compare_versions(applied, &MIGRATIONS) {
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
