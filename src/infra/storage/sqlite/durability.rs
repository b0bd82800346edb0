//! Checks that SQLite's commits are durable: through a crash, and in the file itself.

use sqlx::sqlite::SqliteConnection;

use crate::storage::StoreError;
use crate::storage::outage::OutageKind;

/// Checks the two settings that make acknowledged votes survive a crash.
pub(in crate::storage) async fn check_durable(connection: &mut SqliteConnection) -> Result<(), StoreError> {
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

/// Checkpoints the whole write-ahead log into the file. Closing the last connection does the same, but reports no error on a full disk.
pub(in crate::storage) async fn move_log_into_file(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let (busy, logged, moved): (i64, i64, i64) =
        sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(connection).await?;
    // Only another program that has the file open keeps pages in the log.
    if busy == 0 && logged == moved { Ok(()) } else { Err(StoreError::Outage(OutageKind::WriteLocked)) }
}
