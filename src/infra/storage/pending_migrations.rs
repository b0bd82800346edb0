//! What this version of the program would change in a database of an earlier one.

use std::path::Path;

use sqlx::Connection;
use sqlx::migrate::Migrator;

use super::postgres::{self, Server};
use super::{Backend, IfMissing, Store, StoreError, sqlite};
use crate::config::StorageSettings;

/// A change of the tables that the database lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingMigration {
    /// Its number, by which migrations follow each other.
    pub version: i64,
    /// What it does, in a few words.
    pub description: String,
}

impl Store {
    /// The migrations that the database lacks, in the order in which they would run. Nothing is changed.
    ///
    /// # Errors
    /// [`StoreError::Missing`] where there is no arena, [`StoreError::Moved`] where it goes on in PostgreSQL, [`StoreError::Newer`] where a
    /// later version has changed it, [`StoreError`] where it cannot be read.
    pub async fn pending_migrations(settings: &StorageSettings) -> Result<Vec<PendingMigration>, StoreError> {
        match Backend::new(settings)? {
            Backend::Sqlite(path) => pending(applied_on_sqlite(&path).await?, &sqlite::MIGRATIONS),
            Backend::Postgres => pending(applied_on_postgres(settings).await?, &postgres::MIGRATIONS),
        }
    }

    /// Brings the tables of a database that is there up to this version.
    ///
    /// # Errors
    /// As [`Self::pending_migrations`], and where a change fails; those before it stay.
    pub async fn migrate(settings: &StorageSettings) -> Result<Vec<PendingMigration>, StoreError> {
        let pending = Self::pending_migrations(settings).await?;
        if !pending.is_empty() {
            Self::open(settings, IfMissing::Create).await?.close().await;
        }
        Ok(pending)
    }
}

/// Opens the file as it is: a restored copy has no write-ahead log yet, and a check makes none.
async fn applied_on_sqlite(path: &Path) -> Result<Option<i64>, StoreError> {
    let found = path.metadata().map_err(|error| sqlite::not_found(path, &error))?;
    if found.is_dir() {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    if found.len() == 0 {
        return Err(StoreError::Empty(path.to_owned()));
    }
    let applied = sqlite::read_applied(path).await?;
    if applied.is_none() {
        return Err(StoreError::Missing(path.display().to_string()));
    }
    Ok(applied)
}

async fn applied_on_postgres(settings: &StorageSettings) -> Result<Option<i64>, StoreError> {
    let server = Server::from_settings(settings)?;
    let mut connection = server.connect().await?;
    let applied = server.applied(&mut connection).await?;
    connection.close().await?;
    Ok(applied)
}

fn pending(applied: Option<i64>, known: &Migrator) -> Result<Vec<PendingMigration>, StoreError> {
    let last = known.iter().map(|migration| migration.version).max();
    if let Some(newer) = applied.filter(|_| applied > last) {
        return Err(StoreError::Newer(newer));
    }
    let lacking = known.iter().filter(|migration| Some(migration.version) > applied);
    Ok(lacking
        .map(|migration| PendingMigration {
            version: migration.version,
            description: migration.description.to_string(),
        })
        .collect())
}
