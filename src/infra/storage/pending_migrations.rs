//! What this version of the program would change in a database of an earlier one.

use std::path::Path;

use sqlx::migrate::Migrator;
use sqlx::{ConnectOptions, Connection};

use super::postgres::{self, Server};
use super::{Backend, IfMissing, SELECT_VERSION, Store, StoreError, sqlite};
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
    /// [`StoreError::Missing`] where there is no arena, [`StoreError::Newer`] where a later version has changed it,
    /// [`StoreError`] where it cannot be read.
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

async fn applied_on_sqlite(path: &Path) -> Result<Option<i64>, StoreError> {
    path.metadata().map_err(|error| sqlite::not_found(path, &error))?;
    let mut connection = sqlite::options(path)?.read_only(true).connect().await.map_err(|error| {
        if sqlite::is_foreign(&error) { StoreError::Foreign(path.to_owned()) } else { error.into() }
    })?;
    let applied = sqlx::query_scalar(SELECT_VERSION).fetch_one(&mut connection).await?;
    connection.close().await?;
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
