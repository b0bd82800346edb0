//! Batches of requests that were sent to providers: a later run fetches their replies instead of sending the requests again.

use std::str::FromStr;

use sqlx_macros::FromRow;

use crate::domain::battle::ModelId;
use crate::domain::benchmark::suite_id::SuiteId;
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer};

const INSERT: &str = "INSERT INTO bench_batches (id, suite, model, provider_id, requests, state, created_at, changed_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT DO NOTHING";
const UPDATE: &str =
    "UPDATE bench_batches SET state = $2, provider_id = COALESCE($3, provider_id), changed_at = $4 WHERE id = $1";
const SELECT_OPEN: &str = "SELECT id, suite, model, provider_id, requests, state, created_at FROM bench_batches \
     WHERE suite = $1 AND state IN ('intended', 'sent', 'ended') ORDER BY id";
const SELECT_ALL_OPEN: &str = "SELECT id, suite, model, provider_id, requests, state, created_at FROM bench_batches \
     WHERE state IN ('intended', 'sent', 'ended') ORDER BY id";
const FORGET: &str =
    "UPDATE bench_batches SET state = $2, changed_at = $3 WHERE id = $1 AND state IN ('intended', 'sent', 'ended')";

/// State of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchRowState {
    /// About to be sent; it is unknown whether it was.
    Intended,
    /// Accepted by the provider.
    Sent,
    /// Ended by the provider, and its replies were read.
    Ended,
    /// All of its replies are stored.
    Taken,
    /// Never reached the provider.
    Unsent,
    /// The provider processed none of it.
    Failed,
    /// No longer known to the provider.
    Gone,
    /// Given up by an operator.
    Forgotten,
}

impl BatchRowState {
    const ALL: [Self; 8] =
        [Self::Intended, Self::Sent, Self::Ended, Self::Taken, Self::Unsent, Self::Failed, Self::Gone, Self::Forgotten];

    /// Returns the name in tables and files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Sent => "sent",
            Self::Ended => "ended",
            Self::Taken => "taken",
            Self::Unsent => "unsent",
            Self::Failed => "failed",
            Self::Gone => "gone",
            Self::Forgotten => "forgotten",
        }
    }
}

impl FromStr for BatchRowState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(())
    }
}

/// A batch of requests to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchBatchRow {
    /// Id, also sent to providers that accept one.
    pub id: String,
    /// Suite of the requests.
    pub suite: SuiteId,
    /// Model or judge.
    pub model: ModelId,
    /// Provider's id; `None` until it is known.
    pub provider_id: Option<String>,
    /// Digest of each request.
    pub requests: Vec<String>,
    /// State of the batch.
    pub state: BatchRowState,
    /// Creation time.
    pub created_at: Timestamp,
}

impl Store {
    /// Inserts a batch before it is sent.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_bench_batch(&self, row: &BenchBatchRow) -> Result<(), StoreError> {
        let _time = store_time("insert_bench_batch");
        let requests = row.requests.join("\n");
        on_writer!(self, |connection| {
            let query = sqlx::query(INSERT).bind(&row.id).bind(row.suite.as_str()).bind(row.model.as_str());
            let query = query.bind(&row.provider_id).bind(&requests).bind(row.state.as_str()).bind(row.created_at.0);
            query.execute(connection).await.map(drop)
        })
    }

    /// Updates the state of a batch, and the provider's id if it is known.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn update_bench_batch(
        &self,
        id: &str,
        state: BatchRowState,
        provider_id: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let _time = store_time("update_bench_batch");
        on_writer!(self, |connection| {
            let query = sqlx::query(UPDATE).bind(id).bind(state.as_str()).bind(provider_id).bind(now.0);
            query.execute(connection).await.map(drop)
        })
    }

    /// Reads the batches of a suite whose replies may not all be stored yet, the oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open_bench_batches(&self, suite: &SuiteId) -> Result<Vec<BenchBatchRow>, StoreError> {
        let _time = store_time("open_bench_batches");
        let rows: Vec<RawBatch> =
            on_reader!(self, |pool| sqlx::query_as(SELECT_OPEN).bind(suite.as_str()).fetch_all(pool).await)?;
        rows.into_iter().map(BenchBatchRow::try_from).collect()
    }

    /// Reads the open batches of all suites, the oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn all_open_bench_batches(&self) -> Result<Vec<BenchBatchRow>, StoreError> {
        let _time = store_time("all_open_bench_batches");
        let rows: Vec<RawBatch> = on_reader!(self, |pool| sqlx::query_as(SELECT_ALL_OPEN).fetch_all(pool).await)?;
        rows.into_iter().map(BenchBatchRow::try_from).collect()
    }

    /// Marks a batch so that later runs ignore it. Returns `false` if it is not open.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn forget_bench_batch(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let _time = store_time("forget_bench_batch");
        let state = BatchRowState::Forgotten.as_str();
        on_writer!(self, |connection| {
            let query = sqlx::query(FORGET).bind(id).bind(state).bind(now.0);
            query.execute(connection).await.map(|done| done.rows_affected() > 0)
        })
    }
}

#[derive(FromRow)]
struct RawBatch {
    id: String,
    suite: String,
    model: String,
    provider_id: Option<String>,
    requests: String,
    state: String,
    created_at: i64,
}

impl TryFrom<RawBatch> for BenchBatchRow {
    type Error = StoreError;

    fn try_from(raw: RawBatch) -> Result<Self, StoreError> {
        let state = raw.state.parse().map_err(|()| StoreError::Inconsistent {
            table: "bench_batches",
            column: "state",
            row: raw.id.clone(),
            value: raw.state.chars().take(80).collect(),
        })?;
        Ok(Self {
            id: raw.id,
            suite: SuiteId::new(raw.suite),
            model: ModelId::new(raw.model),
            provider_id: raw.provider_id,
            requests: raw.requests.lines().map(str::to_owned).collect(),
            state,
            created_at: Timestamp(raw.created_at),
        })
    }
}
