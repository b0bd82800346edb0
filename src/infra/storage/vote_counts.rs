//! What was counted of the votes: derived from them, one row, so that a process that starts reads only the votes after it.

use super::{Store, StoreError, on_reader, on_writer};
use crate::metrics::store_time;

const UPSERT: &str = "INSERT INTO vote_counts (id, last_vote_seq, body) VALUES (1, $1, $2) \
     ON CONFLICT (id) DO UPDATE SET last_vote_seq = excluded.last_vote_seq, body = excluded.body \
     WHERE vote_counts.last_vote_seq < excluded.last_vote_seq";
const SELECT: &str = "SELECT last_vote_seq, body FROM vote_counts WHERE id = 1";

/// Counts as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCounts {
    /// The last vote in them.
    pub last_vote_seq: i64,
    /// The counts as JSON.
    pub body: String,
}

impl Store {
    /// Keeps counts in place of those of fewer votes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn put_vote_counts(&self, counts: &StoredCounts) -> Result<(), StoreError> {
        let _time = store_time("put_vote_counts");
        on_writer!(self, |connection| {
            sqlx::query(UPSERT).bind(counts.last_vote_seq).bind(&counts.body).execute(connection).await.map(drop)
        })
    }

    /// The counts, if there are any.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn vote_counts(&self) -> Result<Option<StoredCounts>, StoreError> {
        let _time = store_time("vote_counts");
        let row: Option<(i64, String)> = on_reader!(self, |pool| sqlx::query_as(SELECT).fetch_optional(pool).await)?;
        Ok(row.map(|(last_vote_seq, body)| StoredCounts { last_vote_seq, body }))
    }
}
