//! Background judging in rounds: the trait, dependencies and outcomes that its jobs share.

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio_util::sync::CancellationToken;

use crate::arena::models::Models;
use crate::domain::battle::ModelId;
use crate::infra::config::Settings;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{Store, StoreError};
use crate::infra::time::clock::Clock;

/// Outcome of a judging round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundOutcome {
    /// No pending work, or no budget.
    Done,
    /// More requests are pending.
    More,
    /// Models fail: the next round should wait.
    Failing,
}

/// Work in rounds, repeated by a job.
pub trait BackgroundJudging: Send {
    /// Runs one round, if these settings enable it. Requests in flight are completed when `stop` fires.
    fn round(
        &mut self,
        settings: &Settings,
        stop: CancellationToken,
    ) -> impl Future<Output = Result<RoundOutcome, StoreError>> + Send;

    /// Whether settings that the rounds depend on differ.
    fn is_changed(before: &Settings, after: &Settings) -> bool;
}

/// Dependencies of judging rounds.
pub struct RoundDependencies {
    /// The database.
    pub store: Store,
    /// All models, including the judges.
    pub models: Arc<Models>,
    /// Random number generator.
    pub rng: Arc<SharedRng>,
    /// Clock of the stored rows.
    pub clock: Arc<dyn Clock>,
}

impl RoundDependencies {
    /// Returns a client with the limits and prices of these settings; `None` for an unknown model id.
    #[must_use]
    pub fn client(&self, id: &ModelId, settings: &Settings) -> Option<ModelClient> {
        let rng = || ChaCha8Rng::seed_from_u64(self.rng.seed());
        let model = Arc::new(self.models.current().get(id)?.without_retries(rng()));
        Some(ModelClient::configured(id.clone(), model, settings, rng()))
    }
}
