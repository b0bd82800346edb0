//! SQLite backend, the embedded default: one connection that writes, a few that read, in a folder of its own.

pub(super) mod access;
pub(super) mod durability;
pub(super) mod moved_mark;
pub(super) mod writer;

use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::outage::message_contains;
use super::retry::Outage;
use super::{IfMissing, SELECT_VERSION, StoreError, compare_versions};
use crate::storage::outage::OutageKind;
use crate::storage::sqlite::access::{FileAccess, UnwrittenFile};
use crate::storage::sqlite::durability::{check_durable, move_log_into_file};
use crate::storage::sqlite::moved_mark::refuse_moved;
use crate::storage::sqlite::writer::{SqliteWriter, WriteConnection, end};
use crate::time::clock::{Clock, SystemClock};
use crate::unfinished_files::{is_unfinished_copy, remove_abandoned, remove_with_side_files};

pub(super) static MIGRATIONS: Migrator = sqlx_macros::migrate!("../../migrations/sqlite");

const SELECT_TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'";

/// SQLite's error message for a file that is not a database.
const NO_DATABASE: &str = "not a database";

/// Free space in bytes that a disk must have before it counts as recovered.
const RECOVERY_FREE_BYTES: usize = 256 * 1024;
/// Maximum time for which truncating the write-ahead log waits for readers, while commits wait for it.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_secs(1);

/// SQLite allows one writer at a time, so there is one; readers see the last commit and never wait for it.
#[derive(Debug, Clone)]
pub(super) struct SqlitePools {
    pub(super) writer: SqliteWriter,
    pub(super) reader: SqlitePool,
    pub(super) outage: Arc<Outage>,
    /// Time of the last successful write probe; locked during one.
    pub(super) probed_at: Arc<Mutex<Option<Instant>>>,
    pub(super) folder: PathBuf,
    pub(super) path: PathBuf,
    /// Write-ahead log, which exists while a connection is open.
    log: PathBuf,
    file: Option<FileIdentity>,
    access: FileAccess,
    /// Set for a file that is read as immutable.
    unwritten: Option<UnwrittenFile>,
}

/// Identity of the open file, even if its path is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    #[cfg(unix)]
    fn new(file: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self { device: file.dev(), inode: file.ino() })
    }

    #[cfg(not(unix))]
    fn new(_: &Metadata) -> Option<Self> {
        None
    }
}

impl SqlitePools {
    pub(super) async fn open(path: PathBuf, if_missing: IfMissing) -> Result<Self, StoreError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let log = path.with_file_name(format!("{}-wal", path.file_name().unwrap_or_default().display()));
        match (path.metadata(), if_missing) {
            (Err(_), _) if log.metadata().is_ok_and(|log| log.len() > 0) => {
                return Err(StoreError::WalWithoutDatabase(log));
            }
            (Ok(found), _) if found.is_dir() => return Err(StoreError::Foreign(path)),
            // Not even a header: an interrupted copy. A new arena in its place would hide that the old one is lost.
            (Ok(file), _) if file.len() == 0 => return Err(StoreError::Empty(path)),
            (Ok(_), _) => refuse_foreign(&path).await?,
            (Err(error), IfMissing::Fail) => return Err(not_found(&path, &error)),
            (Err(_), IfMissing::Create) => match unfinished_copy(folder) {
                // A new arena in its place would look like the one to be restored.
                Some(copy) => return Err(StoreError::UnfinishedCopy(copy)),
                None => create(&path, folder).await?,
            },
        }
        if if_missing == IfMissing::Create {
            // Remains of a killed first start or restore.
            remove_abandoned(folder, SystemClock.now(), |name| is_unfinished(name, &path) || is_unfinished_copy(name));
        }
        let access = FileAccess::of(&path);
        if if_missing == IfMissing::Fail && access != FileAccess::Write {
            if !crate::disk::is_readable_file(&path) {
                return Err(StoreError::Unreadable(path));
            }
            return Self::open_to_read(path, log, access).await;
        }
        let options = options(&path)?;
        // At most 16 MB of pages instead of 2: the changes of a group of a thousand votes stay in memory until its commit.
        let writing = options.clone().pragma("cache_size", "-16000");
        let mut writer = connect(&writing, &path).await?;
        let usable = match if_missing {
            IfMissing::Create => migrate(&mut writer, &path).await,
            IfMissing::Fail => check_version(&mut writer, &path).await,
        };
        if let Err(refused) = usable {
            // The process may end before a dropped connection has removed its log.
            let _ = writer.close().await;
            return Err(refused);
        }
        let reader = reading_pool(options.read_only(true)).await?;
        Ok(Self::new(path, log, SqliteWriter::new(writing, writer), reader, FileAccess::Write))
    }

    /// Opens a database that this user cannot write.
    async fn open_to_read(path: PathBuf, log: PathBuf, access: FileAccess) -> Result<Self, StoreError> {
        let unwritten = (access == FileAccess::ReadImmutable).then(|| UnwrittenFile::new(&path));
        let options = access.reading(&path);
        let explained = |error: StoreError| match error {
            StoreError::DataDir { .. } if access == FileAccess::ReadOnly => StoreError::UnreadableLog(log.clone()),
            other => other,
        };
        let opened = reading_pool(options.clone()).await;
        let reader = opened.map_err(|error| explained(cannot_open(&path, &error)))?;
        let usable = match reader.acquire().await {
            Ok(mut connection) => check_version(&mut connection, &path).await,
            Err(error) => Err(cannot_open(&path, &error)),
        };
        if let Err(refused) = usable {
            reader.close().await;
            return Err(explained(refused));
        }
        Ok(Self { unwritten, ..Self::new(path, log, SqliteWriter::closed(options), reader, access) })
    }

    fn new(path: PathBuf, log: PathBuf, writer: SqliteWriter, reader: SqlitePool, access: FileAccess) -> Self {
        let found = path.metadata().ok();
        found.iter().for_each(|found| warn_of_other_names(&path, found));
        let file = found.as_ref().and_then(FileIdentity::new);
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        let (outage, probed_at) = (Arc::default(), Arc::default());
        Self { writer, reader, outage, probed_at, folder, path, log, file, access, unwritten: None }
    }

    /// Closes all connections.
    pub(super) async fn close(&self) {
        self.warn_if_changed();
        // The writer last: the last connection to close a file writes its log into it, which a reader may not.
        self.reader.close().await;
        self.writer.close().await;
    }

    /// Returns the path if the file was opened as immutable and may have changed since.
    pub(super) fn changed_file(&self) -> Option<&Path> {
        self.unwritten.as_ref().filter(|file| file.may_have_changed()).map(|_| self.path.as_path())
    }

    fn warn_if_changed(&self) {
        if let Some(path) = self.changed_file().filter(|_| !self.reader.is_closed()) {
            tracing::warn!(
                path = %path.display(),
                "an arena began to use the database while this command read it, so its result may be wrong: run the command again"
            );
        }
    }

    /// Waits for the writing connection; refuses it if its writes would be lost.
    pub(super) async fn acquire_writer(&self) -> Result<WriteConnection, StoreError> {
        self.check_file()?;
        if self.access != FileAccess::Write {
            return Err(StoreError::OnlyReadable(self.path.clone()));
        }
        if let Some(kind) = self.outage.kind().filter(|kind| kind.needs_restart()) {
            return Err(StoreError::Outage(kind));
        }
        let writing = self.writer.acquire(|| self.outage.kind()).await?;
        if writing.was_kept() && self.log.metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Err(self.replaced());
        }
        Ok(writing)
    }

    /// Checks that the path still leads to the open file: a write to a removed file succeeds, and is lost with the process.
    pub(super) fn check_file(&self) -> Result<(), StoreError> {
        let is_replaced = match self.path.metadata() {
            Ok(found) => FileIdentity::new(&found) != self.file,
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        if is_replaced { Err(self.replaced()) } else { Ok(()) }
    }

    fn replaced(&self) -> StoreError {
        self.outage.note(OutageKind::FileReplaced);
        StoreError::Outage(OutageKind::FileReplaced)
    }

    /// Truncates the write-ahead log, which contains deleted data until it is overwritten. If a read takes longer than the wait, this
    /// happens at a later commit.
    pub(super) async fn empty_log(&self) {
        let emptied = async {
            let options = options(&self.path)?.busy_timeout(CHECKPOINT_TIMEOUT);
            let mut connection = SqliteConnection::connect_with(&options).await?;
            sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await?;
            Ok::<_, StoreError>(connection.close().await?)
        };
        if let Err(error) = emptied.await {
            tracing::warn!(error = ?error, "the write-ahead log could not be emptied after a deletion: it holds the deleted texts until it is written over");
        }
    }

    /// Verifies every page of the file.
    pub(super) async fn check_pages(&self) -> Result<(), StoreError> {
        let said: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&self.reader).await?;
        if said == "ok" {
            return Ok(());
        }
        self.outage.note(OutageKind::Damaged);
        Err(StoreError::Outage(OutageKind::Damaged))
    }

    /// Commits a number and reads it back over another connection, which proves that acknowledged writes are really stored.
    pub(super) async fn probe_write(&self) -> Result<(), StoreError> {
        let written = self.commit_probe().await?;
        let read: i32 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&self.reader).await?;
        if read == written {
            return Ok(());
        }
        Err(StoreError::Inconsistent {
            table: "PRAGMA user_version",
            column: "the number committed last",
            row: written.to_string(),
            value: read.to_string(),
        })
    }

    /// Commits a number without meaning to SQLite or this program.
    async fn commit_probe(&self) -> Result<i32, StoreError> {
        let mut writing = self.acquire_writer().await?;
        let mut transaction = writing.begin().await?;
        let former: i32 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await?;
        let next = former.wrapping_add(1);
        let set = sqlx::AssertSqlSafe(format!("PRAGMA user_version = {next}"));
        let written = sqlx::raw_sql(set).execute(&mut *transaction).await;
        let written = end(transaction, written.map(|_| next).map_err(StoreError::from)).await?;
        writing.keep();
        written
    }
}

/// Connections to a file need no test before each use, which would be a round trip to their thread.
async fn reading_pool(options: SqliteConnectOptions) -> sqlx::Result<SqlitePool> {
    SqlitePoolOptions::new().max_connections(2).test_before_acquire(false).connect_with(options).await
}

/// Finds the remains of a killed restore in a folder.
fn unfinished_copy(folder: &Path) -> Option<PathBuf> {
    let mut entries = std::fs::read_dir(folder).ok()?.flatten();
    let unfinished = entries.find(|entry| entry.file_name().to_str().is_some_and(is_unfinished_copy));
    unfinished.map(|entry| entry.path())
}

/// Warns of other names of the file: the write-ahead log and the lock of a database belong to one name, and a program that opens it by
/// another one misses the latest votes, or damages it.
pub(super) fn warn_of_other_names(path: &Path, file: &Metadata) {
    use std::os::unix::fs::MetadataExt as _;
    if file.nlink() > 1 {
        tracing::warn!(
            path = %path.display(),
            "the database file has another name (a hard link): under that name it lacks the latest votes; keep one name, and copy the \
             database with `langya backup`"
        );
    }
}

/// Refuses another program's database before the writing connection opens it, which would change its journal mode. Other errors are left to
/// that connection.
async fn refuse_foreign(path: &Path) -> Result<(), StoreError> {
    match read_applied(path).await {
        Err(foreign @ StoreError::Foreign(_)) => Err(foreign),
        _ => Ok(()),
    }
}

/// Reads the latest migration of a file without changing it: one without a write-ahead log gets none. Refuses a file whose arena was moved.
pub(super) async fn read_applied(path: &Path) -> Result<Option<i64>, StoreError> {
    let options = SqliteConnectOptions::new().filename(path).read_only(true).busy_timeout(Duration::from_secs(10));
    // Without a log the file is complete and not in use. Opened otherwise, it would get a log that is never removed.
    let is_immutable = !has_log(path) || FileAccess::of(path) == FileAccess::ReadImmutable;
    let connected = options.immutable(is_immutable).disable_statement_logging().connect().await;
    let mut connection = connected.map_err(|error| cannot_open(path, &error))?;
    let applied = match applied(&mut connection, path).await {
        Ok(Some(version)) => refuse_moved(&mut connection, path).await.map(|()| Some(version)),
        unusable => unusable,
    };
    let closed = connection.close().await;
    applied.and_then(|applied| closed.map(|()| applied).map_err(StoreError::from))
}

/// Whether there is a write-ahead log beside the file of a path.
pub(super) fn has_log(path: &Path) -> bool {
    let mut log = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    log.push("-wal");
    Path::new(&log).symlink_metadata().is_ok()
}

/// Creates a database under a temporary name and renames it when it is complete, so that a killed process leaves no partial one. If another
/// process was faster, its database stays.
async fn create(path: &Path, folder: &Path) -> Result<(), StoreError> {
    let unusable = |error: std::io::Error| StoreError::of_folder(folder, &error);
    std::fs::create_dir_all(folder).map_err(unusable)?;
    let unfinished = UnfinishedDatabase(path.with_extension(format!("db.new{}", std::process::id())));
    // Remains of a start with the same process id, as in containers; mostly there are none.
    remove_with_side_files(&unfinished.0);
    make(&unfinished.0, folder).await?;
    let named = match std::fs::hard_link(&unfinished.0, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // A file system without hard links.
        Err(_) => std::fs::rename(&unfinished.0, path),
    };
    named.map_err(unusable)?;
    drop(unfinished);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(unusable)
}

/// Temporary name of a database during its creation. Dropping it removes the file and SQLite's files beside it, also if a signal ends the
/// command.
struct UnfinishedDatabase(PathBuf);

impl Drop for UnfinishedDatabase {
    fn drop(&mut self) {
        remove_with_side_files(&self.0);
    }
}

/// Whether a file name is one of the temporary files that [`create`] or SQLite makes for the database at a path.
fn is_unfinished(name: &str, path: &Path) -> bool {
    let prefix = format!("{}.db.new", path.file_stem().unwrap_or_default().display());
    name.strip_prefix(&prefix).is_some_and(|rest| {
        let (process, side) = rest.split_once('-').unwrap_or((rest, ""));
        let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
        is_number && (rest == process || ["wal", "shm", "journal"].contains(&side))
    })
}

/// Creates a database with all tables in one file.
async fn make(path: &Path, folder: &Path) -> Result<(), StoreError> {
    // The files beside it get the permissions of the first one.
    private_file(path).map_err(|error| StoreError::of_folder(folder, &error))?;
    let mut connection = connect(&options(path)?.create_if_missing(true), path).await?;
    let made = match migrate(&mut connection, path).await {
        Ok(()) => move_log_into_file(&mut connection).await,
        refused => refused,
    };
    let closed = connection.close().await;
    made.and(closed.map_err(StoreError::from))
}

/// Creates an empty file readable by its owner only: the database contains keys, and visitors' texts.
fn private_file(path: &Path) -> std::io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Opens a connection and checks that its commits are durable.
async fn connect(options: &SqliteConnectOptions, path: &Path) -> Result<SqliteConnection, StoreError> {
    let mut connection = SqliteConnection::connect_with(options).await.map_err(|error| cannot_open(path, &error))?;
    check_durable(&mut connection).await?;
    Ok(connection)
}

async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    // Tables of another program must not be mixed with those of an arena.
    applied(connection, path).await?;
    MIGRATIONS.run(connection).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) => StoreError::Newer(version),
        MigrateError::Execute(reason) if is_read_only(&reason) => cannot_open(path, &reason),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)
            if is_transient(&error) || OutageKind::from_error(&error).is_some() =>
        {
            error.into()
        }
        other => StoreError::Migrate(other),
    })
}

/// Reads the latest migration of a database. A file without tables has none, and one with another program's tables is refused.
pub(super) async fn applied(connection: &mut SqliteConnection, path: &Path) -> Result<Option<i64>, StoreError> {
    let failed = |error: sqlx::Error| match OutageKind::from_error(&error) {
        Some(OutageKind::FolderUnusable) => cannot_open(path, &error),
        _ if message_contains(&error, NO_DATABASE) => StoreError::Foreign(path.to_owned()),
        _ => error.into(),
    };
    let tables: Vec<String> = sqlx::query_scalar(SELECT_TABLES).fetch_all(&mut *connection).await.map_err(failed)?;
    if tables.is_empty() {
        return Ok(None);
    }
    if tables.iter().all(|table| table != "_sqlx_migrations") {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    sqlx::query_scalar(SELECT_VERSION).fetch_one(connection).await.map_err(failed)
}

impl SqlitePools {
    /// Whether the disk has space for more than the next page: a full disk may still accept a short statement after a longer one has
    /// failed.
    pub(super) async fn has_room(&self) -> bool {
        let path = self.folder.join("langya.room");
        let tried = tokio::task::spawn_blocking(move || {
            let written = std::fs::write(&path, vec![0; RECOVERY_FREE_BYTES]);
            // If it could not be created, there is nothing to remove.
            let _ = std::fs::remove_file(&path);
            written.is_ok()
        });
        tried.await.unwrap_or(false)
    }
}

pub(super) fn options(path: &Path) -> Result<SqliteConnectOptions, StoreError> {
    Ok(SqliteConnectOptions::from_str("sqlite:")?
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        // 16 MB instead of 4: under many votes, frequently changed pages are copied to the database less often.
        .pragma("wal_autocheckpoint", "4000")
        // A long read lets the log grow to gigabytes; without a limit the file would stay as large for as long as the arena runs.
        .pragma("journal_size_limit", "67108864")
        // Deleted data is overwritten: visitors are told that their texts are gone.
        .pragma("secure_delete", "ON")
        .busy_timeout(Duration::from_secs(10)))
}

async fn check_version(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    match applied(connection, path).await? {
        None => Err(StoreError::Missing(path.display().to_string())),
        applied => compare_versions(applied, &MIGRATIONS),
    }
}

/// Builds the error for a file that is not a database, or cannot be opened.
pub(super) fn cannot_open(path: &Path, error: &sqlx::Error) -> StoreError {
    if is_foreign(error) {
        return StoreError::Foreign(path.to_owned());
    }
    if let Some(full @ OutageKind::FolderFull) = OutageKind::of_embedded(error, path) {
        return StoreError::Outage(full);
    }
    // SQLite's message without its code.
    let reason = error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
    StoreError::DataDir { path: path.parent().unwrap_or(Path::new(".")).to_owned(), reason }
}

/// Whether another process was writing at the same time. Extended codes contain the primary code in their last byte.
pub(super) fn is_transient(error: &sqlx::Error) -> bool {
    const BUSY: u32 = 5;
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
    code.is_some_and(|code| code & 0xff == BUSY)
}

/// Builds the error for a database that is missing or inaccessible to this user.
pub(super) fn not_found(database: &Path, error: &std::io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => StoreError::Missing(database.display().to_string()),
        _ => StoreError::DataDir {
            path: database.parent().unwrap_or(Path::new(".")).to_owned(),
            reason: error.to_string(),
        },
    }
}

/// Whether the file exists but is not a SQLite database, or is damaged.
fn is_foreign(error: &sqlx::Error) -> bool {
    message_contains(error, NO_DATABASE) || message_contains(error, "malformed")
}

fn is_read_only(error: &sqlx::Error) -> bool {
    message_contains(error, "readonly")
}
