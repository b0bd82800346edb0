//! Monthly partitions of votes and replies, on PostgreSQL.
//!
//! They are created in advance: once the default partition holds rows of a month, that month cannot get one any more.

use sqlx::postgres::PgConnection;

use super::retry::RetryPolicy;
use super::{Database, Store, StoreError, on_postgres};
use crate::metrics::store_time;

/// Number of months after the current one that have partitions.
const MONTHS_AHEAD: i32 = 3;
const ADD_MONTHS_AHEAD: &str = "SELECT add_months_ahead($1)";
const ADD_MONTHS_OF_BATTLES: &str = "SELECT add_months_of_battles()";

impl Store {
    /// Creates the missing partitions of this month and the next ones, and returns their number: 0 on SQLite, which has no partitions.
    ///
    /// # Errors
    /// [`StoreError::Database`], also if a lock was not free within a second.
    pub async fn add_partitions(&self) -> Result<u32, StoreError> {
        let Database::Postgres(postgres) = &self.database else { return Ok(0) };
        let _time = store_time("add_partitions");
        let added = on_postgres!(postgres, |connection| add_months_ahead(connection).await);
        if let Err(error) = &added {
            RetryPolicy::writer(&self.database).note_failure(error);
        }
        added
    }
}

/// Creates the partitions on a connection before there is a store.
pub(super) async fn add_months_ahead(connection: &mut PgConnection) -> Result<u32, StoreError> {
    let added: i32 = sqlx::query_scalar(ADD_MONTHS_AHEAD).bind(MONTHS_AHEAD).fetch_one(connection).await?;
    Ok(added.unsigned_abs())
}

/// Creates the partitions of every month in which a stored battle began.
pub(super) async fn add_months_of_battles(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query(ADD_MONTHS_OF_BATTLES).execute(connection).await.map(drop)
}
