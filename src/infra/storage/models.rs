//! Register of every model that ever took part, with the state of its circuit breaker.

use super::{Store, StoreError, on_reader, on_writer, signed, unsigned};
use crate::domain::battle::ModelId;
use crate::domain::time::Timestamp;
use crate::llm::ModelCard;
use crate::metrics::store_time;
use sqlx::Connection;

const UPSERT: &str = "INSERT INTO models (id, name, organization, license, practice, first_seen_at) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE SET name = excluded.name, \
     organization = excluded.organization, license = excluded.license, practice = excluded.practice";
const SET_BREAKER: &str =
    "UPDATE models SET breaker = $2, breaker_failures = $3, breaker_changed_at = $4 WHERE id = $1";
const SELECT_ALL: &str = "SELECT id, name, organization, license, practice, breaker, breaker_failures \
     FROM models ORDER BY id";

/// A model with its latest known health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredModel {
    /// Public model card.
    pub card: ModelCard,
    /// State of its circuit breaker.
    pub breaker: BreakerReport,
}

/// State of a circuit breaker as shown to the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerReport {
    /// `closed`, `open` or `half_open`.
    pub state: String,
    /// Consecutive failures.
    pub failures: u64,
}

impl Store {
    /// Adds models to the register, or updates their names.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn register_models(&self, cards: &[ModelCard], now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("register_models");
        on_writer!(self, |connection| {
            let mut tx = connection.begin().await?;
            for card in cards {
                sqlx::query(UPSERT)
                    .bind(card.id.as_str())
                    .bind(&card.name)
                    .bind(&card.organization)
                    .bind(&card.license)
                    .bind(card.practice)
                    .bind(now.0)
                    .execute(&mut *tx)
                    .await?;
            }
            tx.commit().await
        })
    }

    /// Stores the state of a model's circuit breaker.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn put_breaker(&self, model: &ModelId, report: &BreakerReport, now: Timestamp) -> Result<(), StoreError> {
        let _time = store_time("put_breaker");
        on_writer!(self, |connection| {
            sqlx::query(SET_BREAKER)
                .bind(model.as_str())
                .bind(&report.state)
                .bind(signed(report.failures))
                .bind(now.0)
                .execute(connection)
                .await
                .map(drop)
        })
    }

    /// Reads every model that ever took part, by id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn registered_models(&self) -> Result<Vec<RegisteredModel>, StoreError> {
        let _time = store_time("registered_models");
        type Row = (String, String, String, String, bool, String, i64);
        let rows: Vec<Row> = on_reader!(self, |pool| sqlx::query_as(SELECT_ALL).fetch_all(pool).await)?;
        rows.into_iter()
            .map(|(id, name, organization, license, practice, state, failures)| {
                let failures = unsigned(failures, "models", "breaker_failures", &id)?;
                Ok(RegisteredModel {
                    card: ModelCard { id: ModelId::new(id), name, organization, license, practice },
                    breaker: BreakerReport { state, failures },
                })
            })
            .collect()
    }
}
