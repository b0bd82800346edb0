//! The services and settings that battles need.

use crate::arena::instances::ArenaInstances;
use crate::arena::models::Models;
use crate::arena::pair_selection::Matchmaker;
use crate::arena::prompt_images::PromptImages;
use crate::arena::prompt_rules::PromptRules;
use crate::domain::battle::event_log::EPOCH_GAP;
use crate::infra::config::CurrentSettings;
use crate::infra::events::EventBus;
use crate::infra::pacing_class_draws::ClassDraws;
use crate::infra::raw_pacing_ticks::RawPacingTicks;
use crate::infra::rng::SharedRng;
use crate::infra::storage::Store;
use crate::infra::tasks::Tasks;
use crate::infra::time::clock::Clock;
use rand::RngExt;
use std::sync::Arc;

/// Services and settings that battles use.
pub struct BattleDependencies {
    /// The database.
    pub store: Store,
    /// The instances of the arena.
    pub instances: Arc<ArenaInstances>,
    /// Event bus between instances.
    pub events: Arc<dyn EventBus>,
    /// Models of the arena.
    pub models: Arc<Models>,
    /// Selects the pair of models.
    pub matchmaker: Arc<Matchmaker>,
    /// Source of ids and of random distances.
    pub rng: Arc<SharedRng>,
    /// Clock of the rows.
    pub clock: Arc<dyn Clock>,
    /// Sampler of latency and tempo classes.
    pub class_draws: ClassDraws,
    /// Release times of raw text.
    pub raw_pacing_ticks: RawPacingTicks,
    /// Owner of the running turns.
    pub tasks: Tasks,
    /// Prompt validation and moderation.
    pub prompts: Arc<PromptRules>,
    /// Images attached to prompts.
    pub images: Arc<PromptImages>,
    /// Current settings, for limits and pacing.
    pub settings: CurrentSettings,
}

impl BattleDependencies {
    /// Returns a random gap between the event numbers of two epochs, so that two instances do not choose the same numbers.
    pub(super) fn random_epoch_gap(&self) -> u64 {
        EPOCH_GAP * self.rng.with(|rng| rng.random_range(1..EPOCH_GAP))
    }

    /// Returns the first event number of a new log, for a visitor who has the events up to `after` of another one.
    pub(super) fn first_number(&self, after: u64) -> u64 {
        after + self.random_epoch_gap()
    }
}
