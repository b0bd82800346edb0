//! Dated leaderboards: derived from the votes, one for each minute in which a fit ran.

use super::{Store, StoreError, on_reader, on_writer};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

const UPSERT: &str = "INSERT INTO leaderboards (minute, fitted_at, last_vote_seq, body, fit) VALUES ($1, $2, $3, $4, \
     (SELECT MAX(number) + 1 FROM (SELECT MAX(fit) AS number FROM leaderboards UNION ALL SELECT $5) AS fits)) \
     ON CONFLICT (minute) DO UPDATE SET fitted_at = excluded.fitted_at, last_vote_seq = excluded.last_vote_seq, \
     body = excluded.body, fit = excluded.fit WHERE leaderboards.last_vote_seq <= excluded.last_vote_seq RETURNING fit";
const SELECT_LATEST: &str = "SELECT fit, fitted_at, last_vote_seq, body FROM leaderboards \
     ORDER BY last_vote_seq DESC, fit DESC LIMIT 1";

const SELECT_BEFORE: &str = "SELECT fit, fitted_at, last_vote_seq, body FROM leaderboards WHERE minute < $1 \
     ORDER BY minute DESC LIMIT 1";

/// A stored leaderboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLeaderboard {
    /// Number of the fit: of two leaderboards with the same votes, the one with the greater number is newer.
    pub fit: i64,
    /// Time of the fit.
    pub fitted_at: Timestamp,
    /// Number of the last included vote.
    pub last_vote_seq: i64,
    /// The leaderboard as JSON.
    pub body: String,
}

impl Store {
    /// Stores a leaderboard as that of its minute and returns its number, which is greater than `leaderboard.fit` and than all stored ones.
    /// `None` if one with later votes is already stored for that minute.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn put_leaderboard(&self, leaderboard: &StoredLeaderboard) -> Result<Option<i64>, StoreError> {
        let _time = store_time("put_leaderboard");
        on_writer!(self, |connection| {
            sqlx::query_scalar(UPSERT)
                .bind(leaderboard.fitted_at.0.div_euclid(60_000))
                .bind(leaderboard.fitted_at.0)
                .bind(leaderboard.last_vote_seq)
                .bind(&leaderboard.body)
                .bind(leaderboard.fit)
                .fetch_optional(connection)
                .await
        })
    }

    /// Reads the leaderboard with the latest votes.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn latest_leaderboard(&self) -> Result<Option<StoredLeaderboard>, StoreError> {
        let _time = store_time("latest_leaderboard");
        let row: Option<Columns> = on_reader!(self, |pool| sqlx::query_as(SELECT_LATEST).fetch_optional(pool).await)?;
        Ok(row.map(StoredLeaderboard::from))
    }

    /// Reads the last leaderboard whose minute began before a time.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn leaderboard_before(&self, moment: Timestamp) -> Result<Option<StoredLeaderboard>, StoreError> {
        let _time = store_time("leaderboard_before");
        let minute = moment.0.div_euclid(60_000);
        let row: Option<Columns> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_BEFORE).bind(minute).fetch_optional(pool).await)?;
        Ok(row.map(StoredLeaderboard::from))
    }
}

type Columns = (i64, i64, i64, String);

impl From<Columns> for StoredLeaderboard {
    fn from((fit, fitted_at, last_vote_seq, body): Columns) -> Self {
        Self { fit, fitted_at: Timestamp(fitted_at), last_vote_seq, body }
    }
}
