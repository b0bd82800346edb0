//! Work that models do in rounds beside the arena, with what is common to it: who is asked, and how a round ends.

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tokio_util::sync::CancellationToken;

use crate::arena::models::Models;
use crate::domain::battle::ModelId;
use crate::infra::clock::Clock;
use crate::infra::config::Settings;
use crate::infra::llm::model_client::ModelClient;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{Store, StoreError};

/// How a round ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundOutcome {
    /// No pending work, or no budget.
    Done,
    /// There is more to ask.
    More,
    /// Models fail: it is better to wait.
    Failing,
}

/// Rounds of work. A job repeats them.
pub trait JudgingRounds: Send {
    /// Does a little of the work, where these settings want it. What is under way is finished when `stop` fires.
    fn round(
        &mut self,
        settings: &Settings,
        stop: CancellationToken,
    ) -> impl Future<Output = Result<RoundOutcome, StoreError>> + Send;

    /// Whether what the rounds go by is another in other settings.
    fn is_changed(before: &Settings, after: &Settings) -> bool;
}

/// What rounds work with.
pub struct RoundDependencies {
    /// The database.
    pub store: Store,
    /// The models, among them those that are asked.
    pub models: Arc<Models>,
    /// Randomness.
    pub rng: Arc<SharedRng>,
    /// Clock of the stored rows.
    pub clock: Arc<dyn Clock>,
}

impl RoundDependencies {
    /// A model with the limits and prices of these settings; `None` where no model has this id.
    #[must_use]
    pub fn client(&self, id: &ModelId, settings: &Settings) -> Option<ModelClient> {
        let rng = || ChaCha8Rng::seed_from_u64(self.rng.seed());
        let model = Arc::new(self.models.current().get(id)?.without_retries(rng()));
        Some(ModelClient::configured(id.clone(), model, settings, rng()))
    }
}
