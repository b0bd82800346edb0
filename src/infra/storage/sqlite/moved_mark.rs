//! Mark of an embedded database whose arena was moved to PostgreSQL. An arena that opened the file again would continue from the state
//! before the move, and sign the same public log as the moved arena.

use std::path::Path;

use sqlx::sqlite::SqliteConnection;

use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::outage::message_contains;
use crate::storage::{Database, Store, StoreError, on_writer};

/// The mark is a row among the secrets; a copy of it in PostgreSQL has no effect.
const MARK_NAME: &str = "moved_to_postgres";
const INSERT: &str = "INSERT INTO secrets (name, value, created_at) VALUES ($1, '', $2) ON CONFLICT (name) DO NOTHING";
const SELECT: &str = "SELECT created_at FROM secrets WHERE name = $1";
const DELETE: &str = "DELETE FROM secrets WHERE name = $1";

/// SQLite's messages if the tables of an early version cannot hold the mark.
const MISSING_TABLE_MESSAGES: [&str; 2] = ["no such table", "no such column"];

/// Refuses a database that has the mark, or in which it cannot be checked.
pub(in crate::storage) async fn refuse_moved(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let marked: sqlx::Result<Option<i64>> = sqlx::query_scalar(SELECT).bind(MARK_NAME).fetch_optional(connection).await;
    match marked {
        Ok(Some(moved_at)) => Err(StoreError::Moved { database: path.to_owned(), at: Timestamp(moved_at) }),
        Ok(None) => Ok(()),
        Err(error) if MISSING_TABLE_MESSAGES.iter().any(|words| message_contains(&error, words)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Store {
    /// Refuses an embedded database whose arena was moved to PostgreSQL.
    ///
    /// # Errors
    /// [`StoreError::Moved`]; another [`StoreError`] if the mark cannot be read.
    pub async fn refuse_moved(&self) -> Result<(), StoreError> {
        let Database::Sqlite(pools) = &self.database else { return Ok(()) };
        let mut connection = pools.reader.acquire().await?;
        refuse_moved(&mut connection, &pools.path).await
    }

    /// Marks a database as moved to PostgreSQL. An existing mark keeps its date.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn mark_moved(&self, now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("mark_moved");
        on_writer!(self, |connection| sqlx::query(INSERT)
            .bind(MARK_NAME)
            .bind(now.0)
            .execute(connection)
            .await
            .map(drop))
    }

    /// Removes the mark; returns whether there was one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unmark_moved(&self) -> Result<bool, StoreError> {
        let _time = store_time("unmark_moved");
        on_writer!(self, |connection| {
            let removed = sqlx::query(DELETE).bind(MARK_NAME).execute(connection).await;
            removed.map(|removed| removed.rows_affected() > 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqlx::Connection;
    use sqlx::sqlite::SqliteConnectOptions;

    use super::*;

    #[tokio::test]
    async fn a_file_that_cannot_be_read_is_not_taken_for_one_without_the_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("langya.db");
        let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
        let options = options.busy_timeout(Duration::ZERO);
        let mut holder = SqliteConnection::connect_with(&options).await.unwrap();
        refuse_moved(&mut holder, &path).await.expect("a file of an early version is used");
        let create = "CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT, created_at BIGINT)";
        sqlx::raw_sql(create).execute(&mut holder).await.unwrap();
        let mut reader = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::raw_sql("BEGIN EXCLUSIVE").execute(&mut holder).await.unwrap();
        let refused = refuse_moved(&mut reader, &path).await.unwrap_err();
        assert!(matches!(refused, StoreError::Database(_)), "{refused:?}");
        sqlx::raw_sql("ROLLBACK").execute(&mut holder).await.unwrap();
        refuse_moved(&mut reader, &path).await.expect("it has no mark");
    }
}
