//! Health of the models: their statistics and failures of the last 24 hours.

use crate::domain::battle::ModelId;
use crate::domain::model_register::changes::{ModelChange, ModelState};
use crate::domain::time::Timestamp;
use crate::infra::storage::{FailureCount, RecentModelStats, Store, StoreError};

const DAY_MS: i64 = 24 * 3_600_000;
/// Maximum number of failure kinds read, over all models.
const MAX_FAILURE_KINDS: u32 = 500;

/// Health of the models, as stored in the database.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelHealth {
    /// Statistics of battles that began in the last 24 hours and are over.
    pub stats: RecentModelStats,
    /// Failures of the last 24 hours, the latest first.
    pub failures: Vec<FailureCount>,
    /// The changes of each model in their order.
    pub changes: Vec<ModelChange>,
}

impl ModelHealth {
    /// Reads statistics, failures and changes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn read(store: &Store, now: Timestamp) -> Result<Self, StoreError> {
        let since = Timestamp(now.0 - DAY_MS);
        Ok(Self {
            stats: store.model_stats_since(since).await?,
            failures: store.failures_since(since, MAX_FAILURE_KINDS).await?,
            changes: store.model_changes().await?,
        })
    }

    /// Iterates over the failures of one model, the latest first.
    pub fn failures_of(&self, id: &ModelId) -> impl Iterator<Item = &FailureCount> {
        self.failures.iter().filter(move |failure| failure.model == id.as_str())
    }

    /// Returns the latest pairing weight above 0 of a model; 1 if it never had one.
    #[must_use]
    pub fn last_weight(&self, id: &ModelId) -> f64 {
        let drawn = self.changes.iter().rev().find(|change| change.model == *id && change.snapshot.weight > 0.0);
        drawn.map_or(1.0, |change| change.snapshot.weight)
    }

    /// Iterates over the last change of every model that is no longer in the settings.
    pub fn retired(&self) -> impl Iterator<Item = &ModelChange> {
        let is_last = |at: usize| self.changes.get(at + 1).is_none_or(|next| next.model != self.changes[at].model);
        let last = self.changes.iter().enumerate().filter(move |(at, _)| is_last(*at)).map(|(_, change)| change);
        last.filter(|change| change.snapshot.state == ModelState::Retired)
    }
}
