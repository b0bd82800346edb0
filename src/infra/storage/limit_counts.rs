//! What of the rate limits is used while Redis cannot be asked: counted in PostgreSQL, which all instances share.

use sqlx::postgres::PgQueryResult;

use super::{Database, Store, StoreError, on_postgres};
use crate::metrics::store_time;

/// The function is in the migrations. One statement, so that an instance that is stopped holds no row.
const CHARGE: &str = "SELECT charge_limits($1, $2, $3, $4)";
/// Skips rows that a charge has locked: waiting for one while holding others could be a deadlock.
const DELETE_RETURNED: &str = "DELETE FROM limit_counts WHERE name IN (SELECT name FROM limit_counts \
     WHERE GREATEST(minute_due, hour_due, day_due) < CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) \
     FOR UPDATE SKIP LOCKED)";

/// Limits on which one more is to be counted. The numbers are microseconds, for each name and then for each window.
#[derive(Debug)]
pub struct LimitCharge {
    /// Whom or what each limit counts.
    pub names: Vec<String>,
    /// From one use to the next at an even pace; 0 where the window has no limit.
    pub intervals: Vec<i64>,
    /// How long all that may be used at once takes to come back.
    pub spans: Vec<i64>,
    /// How long everything that was used takes to come back, as far as this instance knows.
    pub known: Vec<i64>,
}

impl Store {
    /// Counts one more on all of these limits where all of them grant it. The answer is that of the script in Redis: 0, and then
    /// how long everything takes to come back; or how long to wait, and the number of the limit that says so.
    /// `None` on SQLite, where one process serves the database and counts by itself.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn charge_limits(&self, charge: &LimitCharge) -> Result<Option<Vec<i64>>, StoreError> {
        let Database::Postgres(postgres) = &self.database else { return Ok(None) };
        let _time = store_time("charge_limits");
        let answer: Result<Vec<i64>, StoreError> = on_postgres!(postgres, |connection| {
            let charged = sqlx::query_scalar(CHARGE).bind(charge.names.as_slice()).bind(charge.intervals.as_slice());
            charged.bind(charge.spans.as_slice()).bind(charge.known.as_slice()).fetch_one(connection).await
        });
        answer.map(Some)
    }

    /// Deletes what has come back.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn delete_returned_limits(&self) -> Result<(), StoreError> {
        let Database::Postgres(postgres) = &self.database else { return Ok(()) };
        let _time = store_time("delete_returned_limits");
        let deleted: Result<PgQueryResult, StoreError> =
            on_postgres!(postgres, |connection| sqlx::query(DELETE_RETURNED).execute(connection).await);
        deleted.map(drop)
    }
}
