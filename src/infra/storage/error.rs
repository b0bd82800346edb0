//! Errors of storage operations.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::migrate::MigrateError;

use crate::disk::is_full;
use crate::domain::time::Timestamp;
use crate::storage::outage::{OutageKind, always_fails};

/// Error of a storage operation.
#[derive(thiserror::Error)]
pub enum StoreError {
    /// The data folder or its database cannot be written.
    #[error(
        "cannot use the data folder {}: {reason}; check its permissions and its free space, or choose another with --data-dir",
        .path.display()
    )]
    DataDir {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the operating system.
        reason: String,
    },
    /// Another process has the lock of this folder.
    #[error(
        "another langya{} uses the data folder {}: stop it or wait until it ends, or choose another with --data-dir",
        .holder.as_ref().map_or_else(String::new, |holder| format!(" ({holder})")),
        .folder.display()
    )]
    Locked {
        /// Path of the folder.
        folder: PathBuf,
        /// Command that holds the lock, and its process, if known.
        holder: Option<String>,
    },
    /// Another process may hold the lock, and this user cannot check.
    #[error(
        "the database {} may be in use, and its lock {} cannot be taken ({reason}): run the command as the user that runs the arena",
        .database.display(), .lock.display()
    )]
    LockUnavailable {
        /// Path of the database.
        database: PathBuf,
        /// Path of its lock file.
        lock: PathBuf,
        /// Error of the operating system.
        reason: String,
    },
    /// The file is not a database, is damaged, or belongs to another program.
    #[error(
        "{} is not the database of an arena, or is damaged: move it away, name another with --database or --data-dir, or \
         restore a backup",
        .0.display()
    )]
    Foreign(PathBuf),
    /// The file exists and is empty.
    #[error("{} is empty, so its arena is lost: restore a backup, or delete the file to begin a new arena", .0.display())]
    Empty(PathBuf),
    /// Its arena was moved to PostgreSQL.
    #[error(
        "the arena of {} was moved to PostgreSQL on {}: set storage.database to the address of that database, or give it with \
         --database; to use this file again, without what was stored since, run `langya import arena {} --undo`",
        .database.display(), utc_date(*.at), .database.display()
    )]
    Moved {
        /// Path of the former database.
        database: PathBuf,
        /// Time of the move.
        at: Timestamp,
    },
    /// The write-ahead log exists without its database.
    #[error(
        "{} exists without its database: put the database file back beside it, or restore a backup into another folder; to begin a \
         new arena, delete it",
        .0.display()
    )]
    WalWithoutDatabase(PathBuf),
    /// The write-ahead log has changes that the database lacks, and this user cannot read it.
    #[error(
        "{} holds the latest changes of the database, and this user cannot read it without writing beside it: run the command as the user \
         that runs the arena, or copy the database and this file to a folder that you can write",
        .0.display()
    )]
    UnreadableLog(PathBuf),
    /// This user cannot read the file.
    #[error(
        "this user cannot read the database {}: run the command as the user that runs the arena, or get read access to the file and its folder",
        .0.display()
    )]
    Unreadable(PathBuf),
    /// This user can read the file, but not write it.
    #[error("this user can only read the database {}: run the command as the user that runs the arena", .0.display())]
    OnlyReadable(PathBuf),
    /// There is an unfinished copy, and no database.
    #[error(
        "{} is an unfinished copy, and there is no database beside it: if a backup or a restore is writing it, wait until that has ended; \
         if one was interrupted, run `langya restore` again, or delete the file to begin a new arena",
        .0.display()
    )]
    UnfinishedCopy(PathBuf),
    /// There is no database yet, or no arena in it.
    #[error("there is no arena at {0}: run `langya serve` first, or name another with --data-dir or --database")]
    Missing(String),
    /// The address is invalid.
    #[error("cannot use the database address {address}: {reason}")]
    BadAddress {
        /// Address without its password.
        address: String,
        /// Description of the problem.
        reason: String,
    },
    /// The server is unreachable.
    #[error(
        "cannot reach the database {address}: {reason}; start its server, or correct the address (storage.database)"
    )]
    Unreachable {
        /// Address without its password.
        address: String,
        /// Error of the operating system.
        reason: String,
    },
    /// The server answers, but refuses the connection.
    #[error(
        "the server of the database {address} answers with an error: {reason}; wait until it has started, look at its log, or correct the \
         address (storage.database)"
    )]
    ServerError {
        /// Address without its password.
        address: String,
        /// Error of the server.
        reason: String,
    },
    /// The server refuses the user or the password.
    #[error(
        "the database {0} refuses the user or the password: correct them in the address (storage.database), where special characters of \
         the password are percent-encoded, such as %40 for @"
    )]
    Denied(String),
    /// The server has no such database.
    #[error("the server has no database {0}: create it with createdb, or correct the address (storage.database)")]
    NoDatabase(String),
    /// The user may not create tables.
    #[error("the user of the database {0} may not create its tables: make that user the database's owner")]
    NoPrivilege(String),
    /// The user may not read or write some tables.
    #[error(
        "the user of the database lacks {rights}: run `{grant}` as the owner of the tables, or make that user the owner"
    )]
    MissingRights {
        /// Missing privileges with their tables.
        rights: String,
        /// Statements that grant them.
        grant: String,
    },
    /// The server version is too old for the statements.
    #[error("the database server is PostgreSQL {found}: use {oldest} or newer")]
    TooOld {
        /// Its major version.
        found: i64,
        /// Oldest supported version.
        oldest: i64,
    },
    /// The server is read-only.
    #[error(
        "the database {0} is read-only: use the address of the primary server, and turn default_transaction_read_only off"
    )]
    ReadOnly(String),
    /// The database cannot store every text.
    #[error("the database {address} has the encoding {encoding}: create it again with the encoding UTF8")]
    Encoding {
        /// Address without its password.
        address: String,
        /// Its encoding.
        encoding: String,
    },
    /// The database has migrations that this program does not know.
    #[error("the database was written by a newer langya (migration {0}): run that version, or restore an older backup")]
    Newer(i64),
    /// The database lacks migrations that this program knows, and only a serving process or `langya upgrade` applies them.
    #[error(
        "the database was written by an older langya: run `langya upgrade`, or start `langya serve`, which upgrades it too"
    )]
    Older,
    /// The address names an unsupported kind of database.
    #[error("cannot use the database address {0:?}: it has to start with postgres:// or sqlite:")]
    UnknownBackend(String),
    /// A setting required for durability is off.
    #[error("the database server has {setting} = {value} and could lose votes in a power cut: set it to {wanted}")]
    NotDurable {
        /// Name of the setting.
        setting: &'static str,
        /// Current value.
        value: String,
        /// Required value.
        wanted: &'static str,
    },
    /// The battle's id is already used by another battle.
    #[error("the battle id {0} is in use")]
    IdInUse(String),
    /// Too many votes are waiting.
    #[error("too many votes wait for the database: try again in a moment")]
    Busy,
    /// The commit group that contained this vote failed.
    #[error("{0}")]
    Group(Arc<StoreError>),
    /// A stored value that this program never writes.
    #[error(
        "table {table}, column {column} of row {row} holds {value:?}, which this program never writes: restore a backup, or run the version that wrote it"
    )]
    Inconsistent {
        /// Name of the table.
        table: &'static str,
        /// Name of the column.
        column: &'static str,
        /// Key of the row.
        row: String,
        /// The value.
        value: String,
    },
    /// A migration cannot be applied, or differs from the applied one.
    #[error(
        "the tables of the database were not made by this version of langya: give the arena an empty database of its own \
         (storage.database or --data-dir), restore a backup, or run the version that made them"
    )]
    Migrate(#[source] MigrateError),
    /// The database has a known outage, so no statement was sent.
    #[error("the database fails: {0}")]
    Outage(OutageKind),
    /// The database refused the statement or was unreachable.
    #[error("the database failed{}", outage_remedy(.0))]
    Database(#[from] sqlx::Error),
}

impl StoreError {
    /// Builds the error of a file in the data folder that cannot be created or written.
    pub(super) fn of_folder(folder: &Path, error: &io::Error) -> Self {
        match is_full(error) {
            true => Self::Outage(OutageKind::FolderFull),
            false => Self::DataDir { path: folder.to_owned(), reason: error.to_string() },
        }
    }

    /// Whether the database is unreachable, read-only, or has a locked table, until it is repaired. The outage is logged once when it
    /// begins, so callers need not log it.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        self.outage_kind().is_some()
    }

    /// Whether reads still succeed.
    #[must_use]
    pub fn stops_writes_only(&self) -> bool {
        self.outage_kind().is_some_and(OutageKind::stops_writes_only)
    }

    /// Whether the same call may succeed later without intervention: a server starts, or has connections again.
    #[must_use]
    pub fn may_be_transient(&self) -> bool {
        match self {
            Self::Busy | Self::ReadOnly(_) => true,
            Self::Group(error) => error.may_be_transient(),
            _ => self.outage_kind().is_some_and(|kind| {
                !matches!(kind, OutageKind::Denied | OutageKind::NoPrivilege) && !kind.needs_restart()
            }),
        }
    }

    /// Whether the same write always fails: it violates a constraint, or meets a value that this program never writes.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Inconsistent { .. } | Self::IdInUse(_) => true,
            Self::Group(error) => error.is_permanent(),
            Self::Database(error) => always_fails(error),
            _ => false,
        }
    }

    /// Whether this process has closed the database, as it does at shutdown.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match self {
            Self::Group(error) => error.is_closed(),
            Self::Database(sqlx::Error::PoolClosed) => true,
            _ => false,
        }
    }

    /// Returns the kind of the outage, if the error is one.
    #[must_use]
    pub fn outage_kind(&self) -> Option<OutageKind> {
        match self {
            Self::Group(error) => error.outage_kind(),
            Self::Database(error) => OutageKind::from_error(error),
            Self::Outage(kind) => Some(*kind),
            Self::Unreachable { .. } | Self::ServerError { .. } => Some(OutageKind::Unreachable),
            Self::MissingRights { .. } => Some(OutageKind::NoPrivilege),
            _ => None,
        }
    }
}

/// Formats a time as a UTC date, such as `2026-11-21`.
fn utc_date(moment: Timestamp) -> String {
    moment.to_string().chars().take_while(|&letter| letter != 'T').collect()
}

/// Returns the remedy for the outage that a failure indicates.
fn outage_remedy(error: &sqlx::Error) -> String {
    OutageKind::from_error(error).map_or_else(String::new, |kind| format!(": {kind}"))
}

/// Formats the messages of the errors, each once, and the server's code. The details of a server error contain the values of the refused
/// row, which are visitors' texts, so they are never logged.
impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Group(error) = self {
            return fmt::Debug::fmt(error, f);
        }
        let mut said = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !said.contains(&text) {
                said = format!("{said}: {text}");
            }
            cause = error.source();
        }
        f.write_str(&said)?;
        self.code().map_or(Ok(()), |code| write!(f, " (code {code})"))
    }
}

impl StoreError {
    /// Returns the SQLSTATE of PostgreSQL, or SQLite's error number.
    fn code(&self) -> Option<String> {
        let error = match self {
            Self::Database(error)
            | Self::Migrate(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => error,
            _ => return None,
        };
        Some(error.as_database_error()?.code()?.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use sqlx::error::{DatabaseError, ErrorKind};

    use super::*;

    /// Error like PostgreSQL's, whose derived `Debug` contains the row in its detail.
    #[derive(Debug)]
    struct DerivedDebug {
        #[expect(dead_code, reason = "only its derived Debug shows it")]
        detail: &'static str,
    }

    impl fmt::Display for DerivedDebug {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a constraint is violated")
        }
    }

    impl Error for DerivedDebug {}

    impl DatabaseError for DerivedDebug {
        fn message(&self) -> &'static str {
            "a constraint is violated"
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some("23514".into())
        }

        fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn Error + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn Error + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> ErrorKind {
            ErrorKind::CheckViolation
        }
    }

    fn refused() -> sqlx::Error {
        sqlx::Error::Database(Box::new(DerivedDebug { detail: "Failing row contains (a visitor's question)." }))
    }

    #[test]
    fn the_debug_text_has_the_code_and_no_value_of_a_row() {
        let plain = StoreError::from(refused());
        let migrated = StoreError::Migrate(MigrateError::ExecuteMigration(refused(), 7));
        for error in [plain, migrated, StoreError::Group(Arc::new(refused().into()))] {
            let told = format!("{error:?} {error:#?}");
            assert!(told.contains("23514") && told.contains("a constraint is violated"), "{told}");
            assert!(!told.contains("question"), "{told}");
        }
    }

    #[test]
    fn a_failure_that_shows_an_outage_says_what_to_do() {
        let told = StoreError::from(sqlx::Error::PoolTimedOut).to_string();
        assert!(
            told.starts_with("the database failed: it cannot be reached") && told.contains("start its server"),
            "{told}"
        );
        assert_eq!(StoreError::from(refused()).to_string(), "the database failed");
    }

    #[test]
    fn a_write_is_offered_again_unless_it_breaks_a_rule() {
        let passing = StoreError::from(sqlx::Error::WorkerCrashed);
        let outage = StoreError::Outage(OutageKind::DiskFull);
        for error in [StoreError::Busy, passing, StoreError::Group(Arc::new(StoreError::Busy)), outage] {
            assert!(!error.is_permanent(), "{error}");
        }
        let value = "paused".to_owned();
        let odd = StoreError::Inconsistent { table: "battles", column: "stage", row: "x".into(), value };
        let group = StoreError::Group(Arc::new(sqlx::Error::RowNotFound.into()));
        for error in [odd, group, StoreError::IdInUse("x".into())] {
            assert!(error.is_permanent(), "{error}");
        }
    }

    #[test]
    fn what_passes_is_distinguished_from_what_another_call_mends() {
        let address = || "postgres://db/arena".to_owned();
        let unreachable = || StoreError::Unreachable { address: address(), reason: "refused".into() };
        for passing in [
            unreachable(),
            StoreError::ServerError { address: address(), reason: "the database system is starting up".into() },
            StoreError::Group(Arc::new(unreachable())),
            StoreError::Outage(OutageKind::NoConnection),
            StoreError::ReadOnly(address()),
            StoreError::from(sqlx::Error::PoolTimedOut),
            StoreError::Busy,
        ] {
            assert!(passing.may_be_transient(), "{passing}");
        }
        for lasting in [
            StoreError::Denied(address()),
            StoreError::Outage(OutageKind::Denied),
            StoreError::MissingRights { rights: "INSERT on votes".into(), grant: String::new() },
            StoreError::NoDatabase(address()),
            StoreError::Newer(1),
            StoreError::Migrate(MigrateError::VersionMismatch(1)),
            StoreError::from(refused()),
        ] {
            assert!(!lasting.may_be_transient(), "{lasting}");
        }
    }
}
