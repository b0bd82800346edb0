//! Why storage failed.

use std::path::PathBuf;
use std::sync::Arc;

/// Storage did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data folder or its database cannot be written.
    #[error("cannot use the data folder {}: {reason}; make it writable, or choose another with --data-dir", .path.display())]
    DataDir {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// Another process serves from this folder.
    #[error("another langya serves from the data folder {}: stop it, or choose another with --data-dir", .0.display())]
    Locked(PathBuf),
    /// The file is no database, or a damaged one.
    #[error("{} is not a database, or is damaged: put it aside or restore a backup", .0.display())]
    Foreign(PathBuf),
    /// There is no database yet, or no arena in it.
    #[error("there is no arena at {0}: run `langya serve` first, or name another with --data-dir or --database")]
    Missing(String),
    /// The address cannot be read.
    #[error("cannot use the database address {address}: {reason}")]
    BadAddress {
        /// Without its password.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server cannot be reached, or takes no connection.
    #[error("cannot reach the database {address}: {reason}; start its server, or mend the address (storage.database)")]
    Unreachable {
        /// Without its password.
        address: String,
        /// The system's or the server's reason.
        reason: String,
    },
    /// The server does not let this user in.
    #[error("the database {0} refuses the user or the password: mend them in the address (storage.database)")]
    Denied(String),
    /// The server has no such database.
    #[error("the server has no database {0}: create it with createdb, or mend the address (storage.database)")]
    NoDatabase(String),
    /// The user may not create tables.
    #[error("the user of the database {0} may not create its tables: make that user the database's owner")]
    NoPrivilege(String),
    /// The server is older than the statements.
    #[error("the database server is PostgreSQL {found}: use {oldest} or newer")]
    TooOld {
        /// Its major version.
        found: i64,
        /// The oldest that serves.
        oldest: i64,
    },
    /// The server takes no writes.
    #[error("the database {0} is read-only: name the primary, and turn default_transaction_read_only off")]
    ReadOnly(String),
    /// The database cannot hold every text.
    #[error("the database {address} keeps its texts as {encoding}: create it anew with the encoding UTF8")]
    Encoding {
        /// Without its password.
        address: String,
        /// Its encoding.
        encoding: String,
    },
    /// The database has migrations that this program does not know.
    #[error("the database was written by a newer langya (migration {0}): run that version, or restore an older backup")]
    Newer(i64),
    /// The database lacks migrations that this program knows, and only a serving process applies them.
    #[error("the database was written by an older langya: start `langya serve` on it once, which brings it up to date")]
    Older,
    /// The address names a database of a kind that is not served.
    #[error("cannot use the database address {0:?}: it has to start with postgres:// or sqlite:")]
    UnknownBackend(String),
    /// A setting that no vote may be lost without is not in force.
    #[error("the database reports {setting} = {value}, and {wanted} is needed to keep votes through a power cut")]
    NotDurable {
        /// Its name.
        setting: &'static str,
        /// What it reads back as.
        value: String,
        /// What it has to be.
        wanted: &'static str,
    },
    /// A battle's id stands for another battle already.
    #[error("the battle id {0} is in use")]
    IdInUse(String),
    /// More votes wait than the database takes.
    #[error("too many votes wait for the database: try again in a moment")]
    Busy,
    /// The group of votes failed that this one was in.
    #[error("{0}")]
    Group(Arc<StoreError>),
    /// A row that this program never writes.
    #[error("table {table}, column {column} of row {row} holds {value:?}, which this program never writes")]
    Inconsistent {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row's key.
        row: String,
        /// What stands there.
        value: String,
    },
    /// A migration failed.
    #[error("the database could not be migrated")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// The database refused or was out of reach.
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
}
