//! Migrations that this version of the program would apply to an older database.

use std::path::Path;

use sqlx::Connection;
use sqlx::migrate::Migrator;

use super::postgres::{self, Server};
use super::{Backend, IfMissing, Store, StoreError, sqlite};
use crate::config::StorageSettings;

/// A migration that the database lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingMigration {
    /// Version number, which determines the order.
    pub version: i64,
    /// Short description.
    pub description: String,
}

impl Store {
    /// Returns the pending migrations in the order in which they would run. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if there is no arena, [`StoreError::Moved`] if it was moved to PostgreSQL, [`StoreError::Newer`] if a later
    /// version has changed it, [`StoreError`] if it cannot be read.
    pub async fn pending_migrations(settings: &StorageSettings) -> Result<Vec<PendingMigration>, StoreError> {
        match Backend::new(settings)? {
            Backend::Sqlite(path) => pending(applied_on_sqlite(&path).await?, &sqlite::MIGRATIONS),
            Backend::Postgres => pending(applied_on_postgres(settings).await?, &postgres::MIGRATIONS),
        }
    }

    /// Migrates an existing database to this version.
    ///
    /// # Errors
    /// Same as [`Self::pending_migrations`], and of a failed migration; those before it stay.
    pub async fn migrate(settings: &StorageSettings) -> Result<Vec<PendingMigration>, StoreError> {
        let pending = Self::pending_migrations(settings).await?;
        if !pending.is_empty() {
            Self::open(settings, IfMissing::Create).await?.close().await;
        }
        Ok(pending)
    }
}

/// Opens the file unchanged: a restored copy has no write-ahead log yet, and a check creates none.
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
