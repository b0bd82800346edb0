//! Why storage failed.

use std::path::PathBuf;

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
    /// There is no database yet.
    #[error("there is no database at {}: run `langya serve` first, or name its folder with --data-dir", .0.display())]
    Missing(PathBuf),
    /// The database has migrations that this program does not know.
    #[error("the database was written by a newer langya (migration {0}): run that version, or restore an older backup")]
    Newer(i64),
    /// The database lacks migrations that this program knows, and only a serving process applies them.
    #[error("the database was written by an older langya: start `langya serve` on it once, which brings it up to date")]
    Older,
    /// The address names a database of a kind that is not served.
    #[error("cannot use the database address {0:?}: it has to start with sqlite:")]
    UnknownBackend(String),
    /// SQLite did not take a setting that no vote may be lost without.
    #[error("the database reports {setting} = {value}, and {wanted} is needed to keep votes through a power cut")]
    NotDurable {
        /// The pragma.
        setting: &'static str,
        /// What it reads back as.
        value: String,
        /// What it has to be.
        wanted: &'static str,
    },
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
