//! Register of models: [`recording`] writes changes and battle counts, and [`ModelRegister`] reads them for the page, `/api/v1/models` and
//! the command.

pub mod recording;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::domain::model_register::days::{Period, RECENT_DAYS, day_of_number};
use crate::domain::model_register::report::{Register, RegisterData};
use crate::infra::storage::{RegisterVersion, Store, StoreError};

/// Error of reading the register.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The computation panicked, or the arena is shutting down.
    #[error("the register of models could not be computed")]
    Thread(#[from] tokio::task::JoinError),
}

impl RegisterError {
    /// Whether the database is unavailable.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_outage())
    }
}

/// Register, cached in memory until it changes.
pub struct ModelRegister {
    store: Store,
    cached: Mutex<Option<Cached>>,
}

struct Cached {
    version: RegisterVersion,
    on_leaderboard: BTreeSet<String>,
    data: Arc<RegisterData>,
    registers: BTreeMap<&'static str, Arc<Register>>,
}

impl ModelRegister {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store, cached: Mutex::new(None) }
    }

    /// Returns the register with battles by this period, marking models on the leaderboard.
    ///
    /// # Errors
    /// [`RegisterError`].
    pub async fn get(&self, period: Period, on_leaderboard: BTreeSet<String>) -> Result<Arc<Register>, RegisterError> {
        let version = self.store.register_version().await?;
        let mut cached = self.cached.lock().await;
        let kept = match cached.take() {
            Some(kept) if kept.version == version && kept.on_leaderboard == on_leaderboard => kept,
            Some(kept) if kept.version == version => Cached { on_leaderboard, registers: BTreeMap::new(), ..kept },
            _ => {
                Cached { version, on_leaderboard, data: Arc::new(read(&self.store).await?), registers: BTreeMap::new() }
            }
        };
        let kept = cached.insert(kept);
        if let Some(register) = kept.registers.get(period.as_str()) {
            return Ok(Arc::clone(register));
        }
        let (data, on_leaderboard) = (Arc::clone(&kept.data), kept.on_leaderboard.clone());
        let made = tokio::task::spawn_blocking(move || Register::new(&data, &on_leaderboard, period, period.shown()));
        let register = Arc::new(made.await?);
        kept.registers.insert(period.as_str(), Arc::clone(&register));
        Ok(register)
    }
}

/// Reads the data of the register.
///
/// # Errors
/// [`StoreError`].
pub async fn read(store: &Store) -> Result<RegisterData, StoreError> {
    let models = store.registered_models().await?;
    let counted_through = store.counted_through().await?;
    let failures = match counted_through {
        Some(last) => store.failed_battles(last - (RECENT_DAYS - 1), last).await?,
        None => BTreeMap::new(),
    };
    Ok(RegisterData {
        models: models.into_iter().map(|model| model.card).collect(),
        changes: store.model_changes().await?,
        pairing: store.pairing_changes().await?,
        days: store.battle_days().await?,
        failures,
        counted_through: counted_through.map(day_of_number),
    })
}
