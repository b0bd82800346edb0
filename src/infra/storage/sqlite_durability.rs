//! Checks that SQLite keeps commits through a crash.

use sqlx::sqlite::SqliteConnection;

use super::StoreError;

/// Queries the two settings that keep acknowledged votes through a crash.
pub(super) async fn check_durable(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *connection).await?;
    if journal != "wal" {
        return Err(StoreError::NotDurable { setting: "journal_mode", value: journal, wanted: "wal" });
    }
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(connection).await?;
    if synchronous != 2 {
        return Err(StoreError::NotDurable { setting: "synchronous", value: synchronous.to_string(), wanted: "2" });
    }
    Ok(())
}
