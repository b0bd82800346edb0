//! Rate limit counters while Redis is unavailable: in PostgreSQL, which all instances share.

use sqlx::postgres::PgQueryResult;

use super::{Database, Store, StoreError, on_postgres};
use crate::metrics::store_time;

/// The function is in the migrations. A single statement, so that a stopped instance holds no row lock.
const CHARGE: &str = "SELECT charge_limits($1, $2, $3, $4)";
/// Skips rows that a charge has locked: waiting for one while holding others could deadlock.
const DELETE_RETURNED: &str = "DELETE FROM limit_counts WHERE name IN (SELECT name FROM limit_counts \
     WHERE GREATEST(minute_due, hour_due, day_due) < CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) \
     FOR UPDATE SKIP LOCKED)";

/// Limits on which one more use is counted. The numbers are microseconds, for each name and then for each window.
#[derive(Debug)]
pub struct LimitCharge {
    /// Counter name of each limit.
    pub names: Vec<String>,
    /// Time in which one use is replenished; 0 if the window has no limit.
    pub intervals: Vec<i64>,
    /// Time in which the whole quota is replenished.
    pub spans: Vec<i64>,
    /// Time until the quota is full again, as far as this instance knows.
    pub known: Vec<i64>,
}

impl Store {
    /// Counts one more use on all of these limits if all of them grant it. The answer is that of the script in Redis: 0, and then the times
    /// until the quotas are full again; or the time to wait, and the number of the refusing limit. `None` on SQLite, where the only process
    /// counts by itself.
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

    /// Deletes counters that are full again.
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
