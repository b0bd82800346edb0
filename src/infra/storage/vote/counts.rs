//! Stored vote counts: derived from the votes, one row, so that a new process reads only the votes after them.

use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer};

const UPSERT: &str = "INSERT INTO vote_counts (id, last_vote_seq, body) VALUES (1, $1, $2) \
     ON CONFLICT (id) DO UPDATE SET last_vote_seq = excluded.last_vote_seq, body = excluded.body \
     WHERE vote_counts.last_vote_seq < excluded.last_vote_seq";
const SELECT: &str = "SELECT last_vote_seq, body FROM vote_counts WHERE id = 1";

/// Counts with the number of the last counted vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCounts {
    /// Number of the last counted vote.
    pub last_vote_seq: i64,
    /// The counts as JSON.
    pub body: String,
}

impl Store {
    /// Stores counts, replacing those of fewer votes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn put_vote_counts(&self, counts: &StoredCounts) -> Result<(), StoreError> {
        let _time = store_time("put_vote_counts");
        on_writer!(self, |connection| {
            sqlx::query(UPSERT).bind(counts.last_vote_seq).bind(&counts.body).execute(connection).await.map(drop)
        })
    }

    /// Reads the counts, if any.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn vote_counts(&self) -> Result<Option<StoredCounts>, StoreError> {
        let _time = store_time("vote_counts");
        let row: Option<(i64, String)> = on_reader!(self, |pool| sqlx::query_as(SELECT).fetch_optional(pool).await)?;
        Ok(row.map(|(last_vote_seq, body)| StoredCounts { last_vote_seq, body }))
    }
}
