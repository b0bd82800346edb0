//! Locks that end with their holder: one process serves an embedded database, one instance runs a job.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use sqlx::Connection;
use sqlx::postgres::PgConnection;
use tokio::time::timeout;

use super::{Backend, Database, Store, StoreError};
use crate::config::StorageSettings;
use crate::formats::locked_file::LockedFile;
use crate::storage::sqlite::access::FileAccess;
use crate::unfinished_files::NewFolders;

/// The server computes the key: advisory locks belong to a database, and arenas may share one in two schemas.
const TRY_LOCK: &str =
    "SELECT pg_try_advisory_lock(hashtextextended('langya job ' || current_schema() || ' ' || $1, 0))";

/// Makes the server close a session that sends nothing for this long, which releases the lock: a suspended process or machine keeps its
/// connection open. PostgreSQL 13 lacks this setting.
const SET_IDLE_TIMEOUT: &str =
    "SELECT set_config('idle_session_timeout', '15s', false) FROM pg_settings WHERE name = 'idle_session_timeout'";

/// Maximum number of attempts to open a lock file whose folder other processes remove at the same time.
const MAX_OPEN_ATTEMPTS: usize = 10;

/// Lock of the one serving process on an embedded database; it ends with the process. Any number of processes serve a PostgreSQL database,
/// so there it locks nothing. If no database was created beside it, as on a full disk, its files are removed.
#[derive(Debug)]
pub struct DataLock {
    // Removed before the lock is released: a process that finds the file locked may still wait for its holder.
    _place: Option<LockPlace>,
    _file: Option<LockedFile>,
}

/// Path of a lock, with the folders created for it. Dropping it removes both if there is no database.
#[derive(Debug)]
struct LockPlace {
    database: PathBuf,
    _folders: NewFolders,
}

impl Drop for LockPlace {
    fn drop(&mut self) {
        let found = self.database.symlink_metadata();
        if found.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            // A remaining file is reused by the next command.
            let _ = fs::remove_file(self.database.with_extension("lock"));
        }
    }
}

impl DataLock {
    /// Takes the lock. Errors of other processes name the `command`, such as `serve`, that holds it.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process holds it, [`StoreError::DataDir`] if the folder cannot be written.
    pub fn take(settings: &StorageSettings, command: &str) -> Result<Self, StoreError> {
        match Backend::new(settings)? {
            Backend::Sqlite(database) => lock_beside(&behind_link(database), command),
            Backend::Postgres => Ok(Self { _place: None, _file: None }),
        }
    }

    /// Takes the lock like [`Self::take`], of an existing database; creates nothing if there is none.
    ///
    /// # Errors
    /// Same as [`Store::pending_migrations`] and [`Self::take`].
    pub async fn acquire_existing(settings: &StorageSettings, command: &str) -> Result<Self, StoreError> {
        Store::pending_migrations(settings).await?;
        Self::take(settings, command)
    }

    /// Takes the lock like [`Self::take`], for a command that only reads an existing database. If this user cannot write it or beside it,
    /// takes the lock if its file is readable, and creates nothing.
    ///
    /// # Errors
    /// Same as [`Self::take`]; [`StoreError::LockUnavailable`] if an arena may write the database and this user cannot take its lock.
    pub fn acquire_to_read(settings: &StorageSettings, command: &str) -> Result<Self, StoreError> {
        if let Backend::Sqlite(database) = Backend::new(settings)? {
            let database = behind_link(database);
            let access = FileAccess::of(&database);
            if access != FileAccess::Write {
                return lock_read_only(&database, access);
            }
        }
        Self::take(settings, command)
    }

    /// Takes the lock like [`Self::take`], of a database that may not exist yet; creates nothing beside a file that this program cannot
    /// use.
    ///
    /// # Errors
    /// [`StoreError::Foreign`], [`StoreError::Empty`], [`StoreError::Moved`] or [`StoreError::Newer`] for such a file, and those of
    /// [`Self::take`].
    pub async fn acquire_usable(settings: &StorageSettings, command: &str) -> Result<Self, StoreError> {
        // A server manages its own files, and is checked when its database is opened.
        if let Backend::Sqlite(database) = Backend::new(settings)? {
            let found = Store::pending_migrations(settings).await;
            // Other problems are reported when the lock is taken or the database is opened.
            if let Err(
                refused @ (StoreError::Foreign(_)
                | StoreError::Empty(_)
                | StoreError::Moved { .. }
                | StoreError::Newer(_)),
            ) = found
            {
                // A file that another process is creating may look like that.
                return Err(other_holder_error(&behind_link(database)).unwrap_or(refused));
            }
        }
        Self::take(settings, command)
    }
}

/// Resolves a symlink: one to the file of another arena leads to that arena's lock.
fn behind_link(database: PathBuf) -> PathBuf {
    database.canonicalize().unwrap_or(database)
}

/// Returns the error if another process holds the lock of a database. Does not create a missing lock.
fn other_holder_error(database: &Path) -> Option<StoreError> {
    let path = database.with_extension("lock");
    let file = File::options().read(true).write(true).open(&path).ok()?;
    match LockedFile::lock(file) {
        Err(TryLockError::WouldBlock) => Some(locked(database, &path)),
        Ok(_) | Err(TryLockError::Error(_)) => None,
    }
}

/// Takes a lock whose file this user cannot create or write; the file still names its last writer.
fn lock_read_only(database: &Path, access: FileAccess) -> Result<DataLock, StoreError> {
    let path = database.with_extension("lock");
    match lock_opened_to_read(&path) {
        Ok(file) => Ok(DataLock { _place: None, _file: Some(file) }),
        Err(TryLockError::WouldBlock) => Err(locked(database, &path)),
        // The database is not in use. A process that opens it meanwhile is detected at the end.
        Err(TryLockError::Error(_)) if access == FileAccess::ReadImmutable => {
            Ok(DataLock { _place: None, _file: None })
        }
        Err(TryLockError::Error(error)) => {
            let (database, reason) = (database.to_owned(), error.to_string());
            Err(StoreError::LockUnavailable { database, lock: path, reason })
        }
    }
}

/// Locks a file opened for reading. NFS gives an exclusive lock only to files opened for writing; a shared one also keeps an arena from
/// taking its own.
fn lock_opened_to_read(path: &Path) -> Result<LockedFile, TryLockError> {
    let open = || File::open(path).map_err(TryLockError::Error);
    match LockedFile::lock(open()?) {
        Err(TryLockError::Error(error)) if error.raw_os_error() == Some(Errno::BADF.raw_os_error()) => {
            LockedFile::lock_shared(open()?)
        }
        taken => taken,
    }
}

fn locked(database: &Path, lock: &Path) -> StoreError {
    StoreError::Locked { folder: folder_of(database).to_owned(), holder: holder(lock) }
}

fn folder_of(database: &Path) -> &Path {
    database.parent().unwrap_or(Path::new("."))
}

fn lock_beside(database: &Path, command: &str) -> Result<DataLock, StoreError> {
    let (folder, path) = (folder_of(database), database.with_extension("lock"));
    let unusable = |error: std::io::Error| StoreError::of_folder(folder, &error);
    let (folders, file) = open_lock(folder, &path).map_err(unusable)?;
    let file = LockedFile::lock(file).map_err(|error| match error {
        TryLockError::WouldBlock => locked(database, &path),
        TryLockError::Error(error) => unusable(error),
    })?;
    if !is_at(&file, &path) {
        // Its last holder has removed it, and another process may lock the file that has its name now.
        return lock_beside(database, command);
    }
    // On a full disk the lock file stays empty, and the lock is still effective.
    let _ = write_holder(&file, command);
    Ok(DataLock { _place: Some(LockPlace { database: database.to_owned(), _folders: folders }), _file: Some(file) })
}

/// Opens a lock file; creates it and its folder if they are missing. Another process that ends without a database may remove the folder in
/// between, so this is retried.
fn open_lock(folder: &Path, path: &Path) -> std::io::Result<(NewFolders, File)> {
    let open = || -> std::io::Result<(NewFolders, File)> {
        let folders = NewFolders::make(folder)?;
        // Not truncated before it is locked: it names its holder.
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        Ok((folders, file))
    };
    for _ in 1..MAX_OPEN_ATTEMPTS {
        match open() {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
            opened => return opened,
        }
    }
    open()
}

/// Whether an open file still has its name.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    file.metadata().is_ok_and(|open| path.metadata().is_ok_and(|named| identity(named) == identity(open)))
}

fn write_holder(mut lock: &File, command: &str) -> std::io::Result<()> {
    lock.set_len(0)?;
    writeln!(lock, "{command}, process {}", std::process::id())
}

/// Reads the holder's name from a lock file.
fn holder(lock: &Path) -> Option<String> {
    let text = std::fs::read_to_string(lock).ok()?;
    text.lines().next().map(str::to_owned)
}

/// Lock of a job that must run once across instances. Dropping it releases the lock.
#[derive(Debug)]
pub struct JobLock {
    /// Lock file on an embedded database, where other commands may run the job too.
    _file: Option<LockedFile>,
    /// Session that holds the lock; `None` if this is the only process.
    session: Option<PgConnection>,
    patience: Duration,
}

impl Store {
    /// Takes the lock of a job, if no instance holds it. On PostgreSQL it is an advisory lock of a separate session, so it is free as soon
    /// as that session has ended; on SQLite the only process always has it. A holder that does not call [`JobLock::is_held`] for 15 seconds
    /// loses it.
    ///
    /// # Errors
    /// [`StoreError`] if the server is unreachable.
    pub async fn job_lock(&self, job: &str) -> Result<Option<JobLock>, StoreError> {
        let mut lock = self.session_lock(job).await?;
        if let Some(session) = lock.as_mut().and_then(|lock| lock.session.as_mut()) {
            sqlx::query(SET_IDLE_TIMEOUT).execute(session).await?;
        }
        Ok(lock)
    }

    async fn session_lock(&self, job: &str) -> Result<Option<JobLock>, StoreError> {
        let Database::Postgres(postgres) = &self.database else {
            return Ok(Some(JobLock { _file: None, session: None, patience: Duration::ZERO }));
        };
        let mut session = postgres.server.connect().await?;
        let taken: bool = sqlx::query_scalar(TRY_LOCK).bind(job).fetch_one(&mut session).await?;
        if taken {
            return Ok(Some(JobLock {
                _file: None,
                session: Some(session),
                patience: postgres.server.response_timeout(),
            }));
        }
        session.close().await?;
        Ok(None)
    }

    /// Takes a lock like [`Store::job_lock`], for a job that commands run beside the serving process: the lock does not expire when the
    /// holder is silent, and on SQLite it is a file lock beside the database.
    ///
    /// # Errors
    /// [`StoreError`] if the server is unreachable, or the folder cannot be written.
    pub async fn command_lock(&self, job: &str) -> Result<Option<JobLock>, StoreError> {
        let Database::Sqlite(pools) = &self.database else { return self.session_lock(job).await };
        let unusable = |error: std::io::Error| StoreError::of_folder(&pools.folder, &error);
        let file = File::create(pools.folder.join(format!("langya.{job}.lock"))).map_err(unusable)?;
        match LockedFile::lock(file) {
            Ok(file) => Ok(Some(JobLock { _file: Some(file), session: None, patience: Duration::ZERO })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(unusable(error)),
        }
    }
}

impl JobLock {
    /// Whether its session still responds, and with it the lock is held; `false` also on a timeout.
    pub async fn is_held(&mut self) -> bool {
        match &mut self.session {
            None => true,
            Some(session) => timeout(self.patience, session.ping()).await.is_ok_and(|answer| answer.is_ok()),
        }
    }

    /// Releases the lock; it is free when this returns.
    pub async fn release(self) {
        if let Some(mut session) = self.session {
            // A session that does not respond is closed by dropping it, which releases its lock.
            let _ = timeout(self.patience, sqlx::query("SELECT pg_advisory_unlock_all()").execute(&mut session)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_can_only_read_takes_the_lock_where_its_file_is_and_goes_without_one_where_nobody_writes() {
        let folder = tempfile::tempdir().unwrap();
        let (database, lock) = (folder.path().join("langya.db"), folder.path().join("langya.lock"));
        let take = |access| lock_read_only(&database, access);
        assert!(take(FileAccess::ReadImmutable).unwrap()._file.is_none());
        let unavailable = take(FileAccess::ReadOnly).unwrap_err();
        assert!(matches!(unavailable, StoreError::LockUnavailable { .. }), "an arena may write it: {unavailable}");
        let told = unavailable.to_string();
        assert!(told.contains("langya.lock cannot be taken (No such file or directory"), "{told}");
        assert!(told.ends_with("run the command as the user that runs the arena"), "{told}");
        assert!(!lock.exists(), "nothing is made");
        fs::write(&lock, "serve, process 1\n").unwrap();
        let held = take(FileAccess::ReadOnly).unwrap();
        for access in [FileAccess::ReadOnly, FileAccess::ReadImmutable] {
            assert!(matches!(take(access), Err(StoreError::Locked { .. })), "another process has it: {access:?}");
        }
        drop(held);
        assert!(take(FileAccess::ReadImmutable).unwrap()._file.is_some());
    }
}
