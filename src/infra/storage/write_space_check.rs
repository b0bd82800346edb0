//! Checks whether a database server has space for new rows: one with a full disk still answers queries.

use sqlx::Connection;
use sqlx::postgres::PgConnection;

use super::postgres::{code, is};
use super::{Database, Store, StoreError, on_postgres};
use crate::metrics::store_time;

/// A new table allocates a disk block with its first row; an existing one may have space for it.
const CREATE_AND_FILL_TABLE: &str =
    "CREATE TABLE langya_write_space_check (filler TEXT NOT NULL); INSERT INTO langya_write_space_check VALUES ('x')";

impl Store {
    /// Creates a table with a row on a database server, and rolls both back. The embedded database is checked by [`Store::check`].
    ///
    /// # Errors
    /// [`StoreError`] with the outage, such as a full disk.
    pub async fn check_write_space(&self) -> Result<(), StoreError> {
        let Database::Postgres(postgres) = &self.database else { return Ok(()) };
        let _time = store_time("check_write_space");
        on_postgres!(postgres, |connection| fill_and_roll_back(connection).await)
    }
}

async fn fill_and_roll_back(connection: &mut PgConnection) -> sqlx::Result<()> {
    let mut transaction = connection.begin().await?;
    let filled = sqlx::raw_sql(CREATE_AND_FILL_TABLE).execute(&mut *transaction).await;
    transaction.rollback().await?;
    match filled {
        // A user who may only write rows detects a full disk with the first of them, and an existing table of that name is not ours.
        Err(error) if [code::NO_PRIVILEGE, code::TABLE_EXISTS].iter().any(|code| is(&error, code)) => Ok(()),
        filled => filled.map(drop),
    }
}
