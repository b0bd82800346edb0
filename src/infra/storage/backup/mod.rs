//! Backups of a running arena's database to one file, and restores. SQLite copies itself; PostgreSQL's own programs copy its databases. A
//! file gets its name only when it is complete and was verified, and existing files are never overwritten.

mod last_backup;
mod postgres;
mod sqlite;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use tokio_util::sync::CancellationToken;

use super::{Backend, StoreError};
use crate::config::StorageSettings;
use crate::domain::plural::counted;
use crate::domain::time::Timestamp;
use crate::unfinished_files::{COPY_PREFIX, COPY_SUFFIX, is_unfinished_copy, remove_abandoned};

pub use last_backup::LastBackup;

/// Permissions of a backup: it holds the keys that sign sessions and the public log.
const BACKUP_FILE_MODE: u32 = 0o600;

/// Result of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// Path of the backup.
    pub path: PathBuf,
    /// Size of the backup in bytes.
    pub bytes: u64,
    /// Number of votes in the backup.
    pub votes: i64,
}

/// Result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// Number of votes.
    pub votes: i64,
    /// Number of signed entries of the public log.
    pub log_entries: i64,
}

/// Error of a backup or restore.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database is unusable.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The path is already in use.
    #[error("{} exists already: choose another name, move it away, or name an existing folder, for a file named after the time", .0.display())]
    Exists(PathBuf),
    /// The location already has an arena.
    #[error("{} exists already, and a restore replaces nothing: move it away with its -wal and -shm, or name another --data-dir", .0.display())]
    Occupied(PathBuf),
    /// A file cannot be read or written.
    #[error("cannot use {path}: {source}; check that it exists, who owns it and the free space")]
    Io {
        /// Its path.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is not a backup of an arena.
    #[error("{} is not a backup of an arena: give a file that `langya backup` wrote", .0.display())]
    NotABackup(PathBuf),
    /// The file is a database in use: its latest votes are in its write-ahead log.
    #[error("{} is the database of an arena and not whole without the -wal file beside it: copy it with `langya backup`, and restore the copy", .0.display())]
    InUse(PathBuf),
    /// The backup is of the other kind of database.
    #[error("{path} is a copy of {kind}: {advice}")]
    OtherKind {
        /// Its path.
        path: PathBuf,
        /// The kind of database.
        kind: &'static str,
        /// Remedy.
        advice: &'static str,
    },
    /// The database or its backup is corrupt.
    #[error("{path} is damaged, or holds no arena: {reason}")]
    Damaged {
        /// Its path.
        path: PathBuf,
        /// Error message of the database.
        reason: String,
    },
    /// An arena has opened a database that was copied without locking.
    #[error("an arena began to use {} while it was copied, and the copy was discarded: run the backup again", .0.display())]
    Started(PathBuf),
    /// The operation was cancelled.
    #[error("the backup was stopped, and no file was written")]
    Stopped,
    /// The backup has fewer votes than the database.
    #[error(
        "the copy holds {}, but the database held {before}: the copy was discarded; check the disk for errors",
        counted(.kept, "vote", "votes")
    )]
    Fewer {
        /// Number of votes in the backup.
        kept: i64,
        /// Number of votes in the database before.
        before: i64,
    },
    /// The target database is not empty.
    #[error("the database {0} is not empty: make a new one (createdb) and restore into that")]
    NotEmpty(String),
    /// A program of PostgreSQL is missing.
    #[error(
        "{0} is not installed: install the client programs of the server's version or newer (Debian: postgresql-client)"
    )]
    NoTool(&'static str),
    /// A program of PostgreSQL failed; it has printed the reason.
    #[error("{0} failed, and nothing was {1}: see its output above")]
    Tool(&'static str, &'static str),
    /// The password is in a place of the address where it cannot be hidden.
    #[error(
        "write the password before the @ of the address: after the ? it cannot be hidden from other users of this machine"
    )]
    PasswordInOptions,
}

/// Kinds of backups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sqlite,
    Postgres,
}

/// Backs up the database while the arena runs. `out` is a file, or a folder that gets one named by the time. `stop` cancels the backup and
/// removes its file. So does dropping the future, but then SQLite's write-ahead log may stay beside the database.
///
/// # Errors
/// [`BackupError`]; then no backup was created.
pub async fn back_up(
    settings: &StorageSettings,
    out: &Path,
    now: Timestamp,
    stop: &CancellationToken,
) -> Result<BackupReport, BackupError> {
    let backend = Backend::new(settings)?;
    let ending = if matches!(backend, Backend::Sqlite(_)) { "db" } else { "dump" };
    let path = if out.is_dir() { out.join(format!("langya-{}.{ending}", file_time(now))) } else { out.to_owned() };
    if path.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(path));
    }
    // A missing folder, which would be detected only at the final rename.
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(unusable(&path)(ErrorKind::NotFound.into()));
    }
    let partial = partial_beside(&path, now)?;
    let votes = match backend {
        Backend::Sqlite(database) => sqlite::copy(&database, partial.path(), stop).await?,
        Backend::Postgres => tokio::select! {
            dumped = postgres::dump(settings, partial.path()) => dumped?,
            () = stop.cancelled() => return Err(BackupError::Stopped),
        },
    };
    let bytes = name(partial, &path)?;
    LastBackup { at: now, path: fs::canonicalize(&path).unwrap_or_else(|_| path.clone()) }.write(settings);
    Ok(BackupReport { path, bytes, votes })
}

/// Restores a backup to an empty location: the database of the settings. Dropping the future leaves nothing there.
///
/// # Errors
/// [`BackupError`]; then nothing was restored.
pub async fn restore(settings: &StorageSettings, file: &Path, now: Timestamp) -> Result<RestoreReport, BackupError> {
    let path = || file.to_owned();
    match (kind(file)?, Backend::new(settings)?) {
        (Kind::Sqlite, Backend::Sqlite(database)) => sqlite::restore(settings, file, &database, now).await,
        (Kind::Postgres, Backend::Postgres) => postgres::restore(settings, file).await,
        (Kind::Sqlite, Backend::Postgres) => Err(BackupError::OtherKind {
            path: path(),
            kind: "SQLite",
            advice: "restore it to a file, and move that with `langya import arena`",
        }),
        (Kind::Postgres, Backend::Sqlite(_)) => Err(BackupError::OtherKind {
            path: path(),
            kind: "PostgreSQL",
            advice: "restore it into a PostgreSQL database, named by --database",
        }),
    }
}

fn kind(file: &Path) -> Result<Kind, BackupError> {
    // Opening a pipe could block.
    if !fs::metadata(file).map_err(unusable(file))?.is_file() {
        return Err(BackupError::NotABackup(file.to_owned()));
    }
    let mut head = [0; 5];
    let read = File::open(file).and_then(|mut opened| opened.read_exact(&mut head));
    match (read, &head) {
        (Ok(()), b"PGDMP") => Ok(Kind::Postgres),
        (Ok(()), b"SQLit") => Ok(Kind::Sqlite),
        (Err(source), _) if source.kind() != ErrorKind::UnexpectedEof => Err(unusable(file)(source)),
        _ => Err(BackupError::NotABackup(file.to_owned())),
    }
}

/// Creates a private temporary file beside the target; dropping it removes it.
fn partial_beside(path: &Path, now: Timestamp) -> Result<NamedTempFile, BackupError> {
    let folder = folder_of(path);
    remove_abandoned(folder, now, is_unfinished_copy);
    let mut builder = tempfile::Builder::new();
    builder.prefix(COPY_PREFIX).suffix(COPY_SUFFIX).permissions(fs::Permissions::from_mode(BACKUP_FILE_MODE));
    // Only the error kind: the message names the temporary file.
    builder.tempfile_in(folder).map_err(|error| unusable(folder)(error.kind().into()))
}

/// Renames a complete file to its target, unless that exists by now; returns its size.
fn name(partial: NamedTempFile, path: &Path) -> Result<u64, BackupError> {
    let synced = File::open(partial.path()).and_then(|file| file.sync_all().and_then(|()| file.metadata()));
    let bytes = synced.map_err(unusable(path))?.len();
    match partial.persist_noclobber(path) {
        Ok(_) => {}
        Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => {
            return Err(BackupError::Exists(path.to_owned()));
        }
        Err(failed) => return Err(unusable(path)(failed.error)),
    }
    File::open(folder_of(path)).and_then(|folder| folder.sync_all()).map_err(unusable(path))?;
    Ok(bytes)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unusable(path: &Path) -> impl FnOnce(io::Error) -> BackupError + use<> {
    let path = path.to_owned();
    move |source| BackupError::Io { path, source }
}

fn file_time(now: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(now.0)
        .map_or_else(|_| now.0.to_string(), |at| at.strftime("%Y-%m-%dT%H%M%SZ").to_string())
}
