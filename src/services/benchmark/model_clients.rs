//! The models of the settings as runs ask them, with their limits and prices.

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::loading::Loaded;
use super::run_error::RunError;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::run_manifest::RunManifest;
use crate::domain::judging::budget::Budget;
use crate::infra::config::{BenchSettings, ModelSettings, Settings};
use crate::infra::llm::failure_advice::advice;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::llm::roster::{Roster, entries};
use crate::infra::rng::SharedRng;

/// The models of the settings.
pub struct ModelClients {
    settings: Arc<Settings>,
    roster: Arc<Roster>,
    /// Randomness of the run.
    pub rng: Arc<SharedRng>,
}

impl ModelClients {
    /// The models of a roster, which these settings describe.
    #[must_use]
    pub fn new(settings: Arc<Settings>, roster: Arc<Roster>, rng: Arc<SharedRng>) -> Self {
        Self { settings, roster, rng }
    }

    /// Ids of all models.
    #[must_use]
    pub fn all(&self) -> Vec<ModelId> {
        self.roster.all().iter().map(|model| model.card.id.clone()).collect()
    }

    /// How runs ask.
    #[must_use]
    pub fn bench_settings(&self) -> BenchSettings {
        self.settings.bench.clone()
    }

    /// Models with their limits and prices.
    ///
    /// # Errors
    /// [`RunError`] for one that the settings do not have, or that has no prices where money is limited.
    pub fn asked(&self, ids: &[ModelId], budget: Budget) -> Result<Vec<ModelClient>, RunError> {
        ids.iter().map(|id| self.one(id, budget)).collect()
    }

    /// A model with its limits and prices. A run counts its own tries, and goes on asking where an arena would let a model rest.
    ///
    /// # Errors
    /// As [`Self::asked`].
    pub fn one(&self, id: &ModelId, budget: Budget) -> Result<ModelClient, RunError> {
        let model = self.roster.get(id).ok_or_else(|| self.unknown(id))?;
        let rng = || ChaCha8Rng::seed_from_u64(self.rng.seed());
        let model = Arc::new(model.without_retries(rng()));
        let asked = ModelClient::configured(id.clone(), model, &self.settings, rng());
        if budget.max_cost.is_some() && asked.prices.is_none() {
            return Err(RunError::NoPrices { model: id.clone() });
        }
        Ok(asked)
    }

    /// What a run over a suite is made of, by these models and judges.
    pub fn manifest<'i>(
        &self,
        Loaded { suite, data, .. }: &Loaded,
        ids: impl Iterator<Item = &'i String>,
        canaries: bool,
    ) -> RunManifest {
        let entries = entries(&self.settings);
        let settings = |id: &String| entries.iter().find(|entry| entry.id == *id).map(ModelSettings::participant);
        let participants = ids.filter_map(|id| Some((id.clone(), settings(id)?))).collect();
        RunManifest {
            program: concat!("langya ", env!("CARGO_PKG_VERSION")).to_owned(),
            canaries,
            ..RunManifest::new(suite.as_ref(), &data.items, participants)
        }
    }

    /// For each model that was given up: why, and what to change.
    pub fn given_up<'m>(&self, models: impl IntoIterator<Item = &'m ModelClient>) -> Vec<String> {
        let entries = entries(&self.settings);
        let words = |model: &ModelClient| {
            let (failures, error) = model.given_up()?;
            let entry = entries.iter().find(|entry| entry.id == model.id.as_str());
            let advice = entry.map(|entry| format!("; {}", advice(&error, entry))).unwrap_or_default();
            let after = if failures > 1 { format!(" after {failures} failures in a row") } else { String::new() };
            Some(format!("model {} was given up{after}: {error}{advice}", model.id))
        };
        models.into_iter().filter_map(words).collect()
    }

    /// The error for a model that the settings do not have.
    #[must_use]
    pub fn unknown(&self, id: &ModelId) -> RunError {
        RunError::UnknownModel { model: id.clone(), known: self.all() }
    }
}
