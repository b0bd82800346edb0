//! Secrets that the arena makes for itself and that all of its instances share. Nothing prints or exports them.

use secrecy::SecretString;

use super::{Store, StoreError, on_reader, on_writer};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

const INSERT: &str = "INSERT INTO secrets (name, value, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING";
const SELECT: &str = "SELECT value FROM secrets WHERE name = $1";

impl Store {
    /// The secret of this name: the one that is kept, or `fresh`, which is kept from now on.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn secret(&self, name: &str, fresh: &str, now: Timestamp) -> Result<SecretString, StoreError> {
        let _time = store_time("secret");
        // Two instances may start at once: the first one's secret is everybody's.
        on_writer!(self, |connection| {
            sqlx::query(INSERT).bind(name).bind(fresh).bind(now.0).execute(connection).await.map(drop)
        })?;
        let value: String = on_reader!(self, |pool| sqlx::query_scalar(SELECT).bind(name).fetch_one(pool).await)?;
        Ok(value.into())
    }

    /// The secret of this name, if one is kept.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn stored_secret(&self, name: &str) -> Result<Option<SecretString>, StoreError> {
        let _time = store_time("stored_secret");
        let value: Option<String> =
            on_reader!(self, |pool| sqlx::query_scalar(SELECT).bind(name).fetch_optional(pool).await)?;
        Ok(value.map(SecretString::from))
    }
}
