//! Changes of models and of the pairing policy, append-only.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::battle::ModelId;
use crate::domain::model_register::changes::{ChangeAuthor, ModelChange, ModelSnapshot, ModelState, PairingChange};
use crate::domain::time::Timestamp;
use crate::metrics::store_time;
use crate::storage::{Store, StoreError, on_reader, on_writer, signed, unsigned};

const INSERT_CHANGE: &str = "INSERT INTO model_changes (model, number, changed_at, state, weight, name, organization, license, \
     practice, provider_model, reason, author) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
     ON CONFLICT (model, number) DO NOTHING";
const SELECT_CHANGES: &str = "SELECT model, number, changed_at, state, weight, name, organization, license, practice, \
     provider_model, reason, author FROM model_changes ORDER BY model, number";
const INSERT_PAIRING: &str = "INSERT INTO pairing_changes (number, changed_at, policy, policy_version, uniform_share, \
     elo_width, new_model_votes, new_model_boost) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (number) DO NOTHING";
const SELECT_PAIRING: &str = "SELECT number, changed_at, policy, policy_version, uniform_share, elo_width, new_model_votes, \
     new_model_boost FROM pairing_changes ORDER BY number";
const SELECT_VERSION: &str = "SELECT (SELECT COUNT(*) FROM models), (SELECT COUNT(*) FROM model_changes), \
     (SELECT COUNT(*) FROM pairing_changes), (SELECT COUNT(*) FROM counted_sources), \
     (SELECT COALESCE(MAX(through_day), -1) FROM counted_sources WHERE source = 'arena')";

/// Version of the register: numbers that change whenever it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRow)]
pub struct RegisterVersion(i64, i64, i64, i64, i64);

#[derive(FromRow)]
struct RawModelChange {
    model: String,
    number: i64,
    changed_at: i64,
    state: String,
    weight: f64,
    name: String,
    organization: String,
    license: String,
    practice: bool,
    provider_model: Option<String>,
    reason: String,
    author: String,
}

impl RawModelChange {
    fn change(self) -> Result<ModelChange, StoreError> {
        let inconsistent = |column, value: String| StoreError::Inconsistent {
            table: "model_changes",
            column,
            row: format!("{} {}", self.model, self.number),
            value,
        };
        Ok(ModelChange {
            number: u32::try_from(self.number).map_err(|_| inconsistent("number", self.number.to_string()))?,
            changed_at: Timestamp(self.changed_at),
            snapshot: ModelSnapshot {
                state: ModelState::parse(&self.state).ok_or_else(|| inconsistent("state", self.state.clone()))?,
                weight: self.weight,
                name: self.name,
                organization: self.organization,
                license: self.license,
                practice: self.practice,
                provider_model: self.provider_model,
            },
            author: ChangeAuthor::parse(&self.author).ok_or_else(|| inconsistent("author", self.author.clone()))?,
            reason: self.reason,
            model: ModelId::new(self.model),
        })
    }
}

#[derive(FromRow)]
struct RawPairing {
    number: i64,
    changed_at: i64,
    policy: String,
    policy_version: i64,
    uniform_share: f64,
    elo_width: f64,
    new_model_votes: i64,
    new_model_boost: f64,
}

impl RawPairing {
    fn change(self) -> Result<PairingChange, StoreError> {
        let row = self.number.to_string();
        let small = |value: i64, column| {
            let inconsistent = StoreError::Inconsistent {
                table: "pairing_changes",
                column,
                row: row.clone(),
                value: value.to_string(),
            };
            u32::try_from(value).map_err(|_| inconsistent)
        };
        Ok(PairingChange {
            number: small(self.number, "number")?,
            changed_at: Timestamp(self.changed_at),
            policy: self.policy,
            policy_version: small(self.policy_version, "policy_version")?,
            uniform_share: self.uniform_share,
            elo_width: self.elo_width,
            new_model_votes: unsigned(self.new_model_votes, "pairing_changes", "new_model_votes", &row)?,
            new_model_boost: self.new_model_boost,
        })
    }
}

impl Store {
    /// Adds changes of models: all of them, or none on an error. Existing change numbers are skipped. Returns the number of added changes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn add_model_changes(&self, changes: &[ModelChange]) -> Result<u64, StoreError> {
        let _time = store_time("add_model_changes");
        on_writer!(self, |connection| {
            let (mut tx, mut added) = (connection.begin().await?, 0);
            for ModelChange { model, number, changed_at, snapshot, reason, author } in changes {
                let inserted = sqlx::query(INSERT_CHANGE)
                    .bind(model.as_str())
                    .bind(i64::from(*number))
                    .bind(changed_at.0)
                    .bind(snapshot.state.as_str())
                    .bind(snapshot.weight)
                    .bind(&snapshot.name)
                    .bind(&snapshot.organization)
                    .bind(&snapshot.license)
                    .bind(snapshot.practice)
                    .bind(&snapshot.provider_model)
                    .bind(reason)
                    .bind(author.as_str())
                    .execute(&mut *tx)
                    .await?;
                added += inserted.rows_affected();
            }
            tx.commit().await.map(|()| added)
        })
    }

    /// Reads all changes of models, those of each model in their order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn model_changes(&self) -> Result<Vec<ModelChange>, StoreError> {
        let _time = store_time("model_changes");
        let rows: Vec<RawModelChange> = on_reader!(self, |pool| sqlx::query_as(SELECT_CHANGES).fetch_all(pool).await)?;
        rows.into_iter().map(RawModelChange::change).collect()
    }

    /// Adds a change of the pairing policy, unless its number exists. Returns whether it was added.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn add_pairing_change(&self, change: &PairingChange) -> Result<bool, StoreError> {
        let _time = store_time("add_pairing_change");
        let added: Result<u64, StoreError> = on_writer!(self, |connection| {
            sqlx::query(INSERT_PAIRING)
                .bind(i64::from(change.number))
                .bind(change.changed_at.0)
                .bind(&change.policy)
                .bind(i64::from(change.policy_version))
                .bind(change.uniform_share)
                .bind(change.elo_width)
                .bind(signed(change.new_model_votes))
                .bind(change.new_model_boost)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        });
        Ok(added? > 0)
    }

    /// Reads all changes of the pairing policy in their order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn pairing_changes(&self) -> Result<Vec<PairingChange>, StoreError> {
        let _time = store_time("pairing_changes");
        let rows: Vec<RawPairing> = on_reader!(self, |pool| sqlx::query_as(SELECT_PAIRING).fetch_all(pool).await)?;
        rows.into_iter().map(RawPairing::change).collect()
    }

    /// Reads the version of the register.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn register_version(&self) -> Result<RegisterVersion, StoreError> {
        let _time = store_time("register_version");
        on_reader!(self, |pool| sqlx::query_as(SELECT_VERSION).fetch_one(pool).await)
    }
}
