//! What of the rate limits is used while Redis cannot be asked: counted in PostgreSQL, which all instances share.

use std::collections::HashMap;

use sqlx::postgres::{PgConnection, PgQueryResult};
use sqlx::{Connection, FromRow};

use super::{Database, Store, StoreError, on_postgres};
use crate::metrics::store_time;

/// Locks the rows in the order of their names, so that two instances never wait for each other, and makes those that are missing.
/// The clock is read behind the lock.
const LOCK: &str = "INSERT INTO limit_counts AS counts (name, minute_due, hour_due, day_due) \
     SELECT name, 0, 0, 0 FROM unnest($1) AS name ORDER BY name \
     ON CONFLICT (name) DO UPDATE SET name = excluded.name \
     RETURNING name, minute_due, hour_due, day_due, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) AS now";
const UPDATE: &str = "UPDATE limit_counts SET minute_due = new.minute_due, hour_due = new.hour_due, day_due = new.day_due \
     FROM unnest($1, $2, $3, $4) AS new (name, minute_due, hour_due, day_due) WHERE limit_counts.name = new.name";
const DELETE_RETURNED: &str = "DELETE FROM limit_counts WHERE GREATEST(minute_due, hour_due, day_due) < \
     CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";

/// For the minute, the hour and the day: when everything that was used will have come back, in microseconds since 1970.
pub type LimitDues = [i64; 3];

/// The used part of some limits, locked until it is written.
#[derive(Debug)]
pub struct LockedLimits {
    /// The server's time, in microseconds since 1970.
    pub now: i64,
    /// In the order in which the names were given; 0 where nothing is known.
    pub dues: Vec<LimitDues>,
}

/// What becomes of locked limits.
#[derive(Debug)]
pub enum LimitUpdate<T> {
    /// They stay as they are.
    Keep(T),
    /// These are written, in the same order.
    Write(Vec<LimitDues>, T),
}

impl Store {
    /// Has `charge` decide about the used part of the limits of these names, which no other instance reads or changes meanwhile.
    /// `None` on SQLite, where one process serves the database and counts by itself.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn charge_limits<T: Send>(
        &self,
        names: &[&str],
        charge: impl FnOnce(LockedLimits) -> LimitUpdate<T> + Send,
    ) -> Result<Option<T>, StoreError> {
        let Database::Postgres(postgres) = &self.database else { return Ok(None) };
        let _time = store_time("charge_limits");
        let charged: Result<T, StoreError> =
            on_postgres!(postgres, |connection| charge_on(connection, names, charge).await);
        charged.map(Some)
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

async fn charge_on<T>(
    connection: &mut PgConnection,
    names: &[&str],
    charge: impl FnOnce(LockedLimits) -> LimitUpdate<T>,
) -> Result<T, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    let rows: Vec<LimitRow> = sqlx::query_as(LOCK).bind(names).fetch_all(&mut *transaction).await?;
    match charge(locked(names, &rows)) {
        LimitUpdate::Keep(answer) => {
            transaction.rollback().await?;
            Ok(answer)
        }
        LimitUpdate::Write(dues, answer) => {
            let column = |window: usize| -> Vec<i64> { dues.iter().map(|due| due[window]).collect() };
            let update = sqlx::query(UPDATE).bind(names).bind(column(0)).bind(column(1)).bind(column(2));
            update.execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(answer)
        }
    }
}

/// The rows in the order of the names.
fn locked(names: &[&str], rows: &[LimitRow]) -> LockedLimits {
    let dues: HashMap<&str, LimitDues> =
        rows.iter().map(|row| (row.name.as_str(), [row.minute_due, row.hour_due, row.day_due])).collect();
    LockedLimits {
        now: rows.iter().map(|row| row.now).max().unwrap_or_default(),
        dues: names.iter().map(|name| dues.get(name).copied().unwrap_or_default()).collect(),
    }
}

#[derive(Debug, FromRow)]
struct LimitRow {
    name: String,
    minute_due: i64,
    hour_due: i64,
    day_due: i64,
    now: i64,
}
