//! Writes the register: changes of the settings in force, reasons stated by commands, and the battles of finished days.

use std::sync::Arc;

use crate::arena::models::Models;
use crate::domain::battle::ModelId;
use crate::domain::model_register::changes::{due_changes, due_pairing, stated_reason};
use crate::domain::model_register::days::first_uncountable_day;
use crate::domain::time::Timestamp;
use crate::infra::config::CurrentSettings;
use crate::infra::llm::registered_models::registered_models;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{Store, StoreError};
use crate::infra::time::clock::Clock;

/// Name of the digest key among the database's secrets.
const KEY_NAME: &str = "register_key";

/// Writes the register of an arena.
pub struct Recorder {
    /// The database.
    pub store: Store,
    /// Current models.
    pub models: Arc<Models>,
    /// The settings in force.
    pub settings: CurrentSettings,
    /// Clock of the changes.
    pub clock: Arc<dyn Clock>,
    /// Source of the key, generated once per database.
    pub rng: Arc<SharedRng>,
}

impl Recorder {
    /// Records differences between the settings in force and the register. Returns the number of new rows.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn record_settings(&self) -> Result<u64, StoreError> {
        let now = self.clock.now();
        let key = self.store.secret(KEY_NAME, &(self.rng.token() + &self.rng.token()), now).await?;
        let configured = registered_models(&self.models.current(), &key);
        let due = due_changes(&self.store.model_changes().await?, &configured, now);
        let mut added = if due.is_empty() { 0 } else { self.store.add_model_changes(&due).await? };
        let pairing = self.store.pairing_changes().await?;
        if let Some(change) = due_pairing(pairing.last(), &self.settings.now().pairing.rules(), now) {
            added += u64::from(self.store.add_pairing_change(&change).await?);
        }
        Ok(added)
    }

    /// Counts the battles of finished, not yet counted days and imports. Returns their number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn count_battles(&self) -> Result<u64, StoreError> {
        let until = first_uncountable_day(self.clock.now(), self.store.oldest_open_battle().await?);
        let days = self.store.count_battle_days(until).await?;
        Ok(days + self.store.count_imported_battles().await?)
    }
}

/// Error of recording a reason.
#[derive(Debug, thiserror::Error)]
pub enum ReasonError {
    /// The register does not have this model.
    #[error("the register has no change of a model {0:?}: `langya models register` lists the models")]
    UnknownModel(String),
    /// Another change was recorded concurrently.
    #[error("model {0:?} was changed at the same time: try again")]
    Concurrent(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Records the reason why a model was added, paused, changed or retired.
///
/// # Errors
/// [`ReasonError`].
pub async fn state_reason(store: &Store, model: &str, reason: &str, now: Timestamp) -> Result<(), ReasonError> {
    let id = ModelId::new(model);
    let changes = store.model_changes().await?;
    let last = changes.iter().rev().find(|change| change.model == id);
    let last = last.ok_or_else(|| ReasonError::UnknownModel(model.to_owned()))?;
    match store.add_model_changes(&[stated_reason(last, reason, now)]).await? {
        0 => Err(ReasonError::Concurrent(model.to_owned())),
        _ => Ok(()),
    }
}
