//! Scores published by others, stored separately from this arena's own.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer_once};

const UPSERT: &str = "INSERT INTO bench_scores (series, suite, part, model, score, source, imported_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (series, suite, part, model) DO UPDATE SET score = excluded.score, \
     source = excluded.source, imported_at = excluded.imported_at";
const SELECT: &str =
    "SELECT series, suite, part, model, score, source FROM bench_scores ORDER BY series, suite, part, model";

/// A published score.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct PublishedScoreRow {
    /// Name of the series, or of its publisher.
    pub series: String,
    /// Name of the suite.
    pub suite: String,
    /// Part of the suite; empty for the whole.
    pub part: String,
    /// Name of the model in the series.
    pub model: String,
    /// The score.
    pub score: f64,
    /// Reference of the publication.
    pub source: String,
}

impl Store {
    /// Imports published scores, all or none; existing scores are replaced.
    ///
    /// # Errors
    /// [`StoreError`]; then none was stored.
    pub async fn import_scores(&self, rows: &[PublishedScoreRow], now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("import_scores");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            for row in rows {
                sqlx::query(UPSERT)
                    .bind(&row.series)
                    .bind(&row.suite)
                    .bind(&row.part)
                    .bind(&row.model)
                    .bind(row.score)
                    .bind(&row.source)
                    .bind(now.0)
                    .execute(&mut *tx)
                    .await?;
            }
            tx.commit().await
        })
    }

    /// Reads every imported score.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn published_scores(&self) -> Result<Vec<PublishedScoreRow>, StoreError> {
        let _time = store_time("published_scores");
        on_reader!(self, |pool| sqlx::query_as(SELECT).fetch_all(pool).await)
    }
}
