//! Clients of the configured models for benchmark runs, with their limits and prices.

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::loading::LoadedSuite;
use super::run_error::RunError;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::runs::run_manifest::RunManifest;
use crate::domain::judging::budget::Budget;
use crate::infra::config::{BenchSettings, ModelSettings, Settings};
use crate::infra::llm::failure_advice::advice;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::llm::roster::{Roster, entries};
use crate::infra::rng::SharedRng;

/// Creates clients of the configured models.
pub struct ModelClients {
    settings: Arc<Settings>,
    roster: Arc<Roster>,
    /// Randomness of the run.
    pub rng: Arc<SharedRng>,
}

impl ModelClients {
    /// Creates the factory for a roster built from these settings.
    #[must_use]
    pub fn new(settings: Arc<Settings>, roster: Arc<Roster>, rng: Arc<SharedRng>) -> Self {
        Self { settings, roster, rng }
    }

    /// Returns the ids of all models.
    #[must_use]
    pub fn all(&self) -> Vec<ModelId> {
        self.roster.all().iter().map(|model| model.card.id.clone()).collect()
    }

    /// Returns the benchmark settings.
    #[must_use]
    pub fn bench_settings(&self) -> BenchSettings {
        self.settings.bench.clone()
    }

    /// Returns clients of models, with their limits and prices.
    ///
    /// # Errors
    /// [`RunError`] for a model that is not configured, or that has no prices where cost is limited.
    pub fn asked(&self, ids: &[ModelId], budget: Budget) -> Result<Vec<ModelClient>, RunError> {
        ids.iter().map(|id| self.one(id, budget)).collect()
    }

    /// Returns the client of one model, with its limits and prices. A run counts its own attempts, and ignores the arena's circuit breaker.
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

    /// Creates the manifest of a run over a suite, with these models and judges.
    pub fn manifest<'i>(
        &self,
        LoadedSuite { suite, data, .. }: &LoadedSuite,
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

    /// Returns, for each model that was given up, the reason and the remedy.
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

    /// Returns the error for a model that is not configured.
    #[must_use]
    pub fn unknown(&self, id: &ModelId) -> RunError {
        RunError::UnknownModel { model: id.clone(), known: self.all() }
    }
}
