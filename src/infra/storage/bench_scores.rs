//! Scores that others published, kept apart from this arena's own.

use sqlx::Connection;
use sqlx_macros::FromRow;

use super::{Store, StoreError, on_reader, on_writer_once};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;

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
    /// The suite.
    pub suite: String,
    /// The part of the suite; empty for the whole.
    pub part: String,
    /// The model, under the series' own name.
    pub model: String,
    /// The score.
    pub score: f64,
    /// Where it can be read.
    pub source: String,
}

impl Store {
    /// Keeps published scores, all or none; a score that was there is replaced.
    ///
    /// # Errors
    /// [`StoreError`]; none was kept then.
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

    /// Every published score that was imported.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn published_scores(&self) -> Result<Vec<PublishedScoreRow>, StoreError> {
        let _time = store_time("published_scores");
        on_reader!(self, |pool| sqlx::query_as(SELECT).fetch_all(pool).await)
    }
}
