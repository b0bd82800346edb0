//! Models of the running arena: the current roster, and the register of all models that ever took part.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::arena::model_speeds::ModelSpeeds;
use crate::domain::battle::ModelId;
use crate::domain::battle::model_card::shared_names;
use crate::infra::llm::ModelCard;
use crate::infra::llm::model_discovery::REMOTE_TIMEOUT;
use crate::infra::llm::resilient_model::ResilientModel;
use crate::infra::llm::roster::Roster;
use crate::infra::storage::{Store, StoreError};
use crate::infra::time::clock::Clock;

/// Maximum number of models kept for running battles after they left the roster.
const MAX_RETIRED_MODELS: usize = 64;
/// Time after the start for which battles wait for model discovery: the timeout of the slowest provider, and the registration of the
/// discovered models.
const DISCOVERY_TIMEOUT: Duration = REMOTE_TIMEOUT.saturating_add(Duration::from_secs(1));

/// Current roster, and the names of all models that ever took part.
pub struct Models {
    roster: RwLock<Arc<Roster>>,
    /// Models that left the roster, the latest last: their running battles continue.
    retired: RwLock<Vec<Arc<ResilientModel>>>,
    cards: RwLock<HashMap<ModelId, ModelCard>>,
    /// Usual output speeds.
    model_speeds: ModelSpeeds,
    /// Whether the roster matches the settings and model discovery is complete; sent with every roster.
    settled: watch::Sender<bool>,
    opened_at: Instant,
}

impl Models {
    /// Registers the roster's models and loads the names of all earlier ones.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open(roster: Roster, store: &Store, clock: &dyn Clock) -> Result<Self, StoreError> {
        let models = Self::empty();
        let settled = !roster.awaits_discovery();
        models.replace(roster, store, clock).await?;
        models.settled.send_replace(settled);
        Ok(models)
    }

    fn empty() -> Self {
        Self {
            roster: RwLock::new(Arc::new(Roster::default())),
            retired: RwLock::default(),
            cards: RwLock::default(),
            model_speeds: ModelSpeeds::default(),
            settled: watch::Sender::new(false),
            opened_at: Instant::now(),
        }
    }

    /// Replaces the roster, after model discovery where the settings allow it. Running battles keep their models.
    ///
    /// # Errors
    /// [`StoreError`]; the former roster stays then.
    pub async fn exchange(&self, roster: Roster, store: &Store, clock: &dyn Clock) -> Result<(), StoreError> {
        self.replace(roster, store, clock).await?;
        self.settled.send_replace(true);
        Ok(())
    }

    async fn replace(&self, roster: Roster, store: &Store, clock: &dyn Clock) -> Result<(), StoreError> {
        let cards: Vec<ModelCard> = roster.all().iter().map(|model| model.card.clone()).collect();
        for shared in shared_names(&cards) {
            tracing::warn!("{shared}");
        }
        store.register_models(&cards, clock.now()).await?;
        let known = store.registered_models().await?.into_iter().map(|model| (model.card.id.clone(), model.card));
        *self.cards.write() = known.collect();
        self.set_roster(roster);
        Ok(())
    }

    fn set_roster(&self, roster: Roster) {
        let roster = Arc::new(roster);
        let mut current = self.roster.write();
        let former = std::mem::replace(&mut *current, Arc::clone(&roster));
        self.retire(&former, &roster);
        let stays = |id: &ModelId| {
            let both = former.get(id).zip(roster.get(id));
            both.is_some_and(|(before, now)| now.is_same_model(&before))
        };
        self.model_speeds.follow(roster.all().iter().map(|model| model.card.id.clone()), stays);
    }

    /// Returns a receiver notified of every new roster: `true` once it matches the settings.
    #[must_use]
    pub fn settled(&self) -> watch::Receiver<bool> {
        self.settled.subscribe()
    }

    /// Waits for model discovery after a start, at most five seconds: before it, a new battle would get practice models, and an interrupted
    /// one would lose its own. If discovery fails, the roster stays as it is.
    pub async fn searched(&self) {
        let mut settled = self.settled();
        let _ = timeout_at(self.opened_at + DISCOVERY_TIMEOUT, settled.wait_for(|settled| *settled)).await;
    }

    fn retire(&self, former: &Roster, current: &Roster) {
        let mut retired = self.retired.write();
        retired.extend(former.all().iter().cloned());
        retired.retain(|model| current.get(&model.card.id).is_none());
        let too_many = retired.len().saturating_sub(MAX_RETIRED_MODELS);
        retired.drain(..too_many);
    }

    /// Returns a battle's model, even if it has left the roster since; `None` if it left long ago.
    #[must_use]
    pub fn of_battle(&self, id: &ModelId) -> Option<Arc<ResilientModel>> {
        let find_retired = || {
            let retired = self.retired.read();
            retired.iter().rev().find(|model| model.card.id == *id).cloned()
        };
        self.current().get(id).or_else(find_retired)
    }

    /// Returns a roster model's usual time per byte; `None` before this instance has seen a reply of it.
    #[must_use]
    pub fn mean_byte_time(&self, id: &ModelId) -> Option<Duration> {
        self.model_speeds.byte_time(id)
    }

    /// Records the time per byte of these models' replies.
    pub(super) fn note_speeds(&self, speeds: &[(ModelId, Duration)]) {
        speeds.iter().for_each(|(model, byte_time)| self.model_speeds.note(model, *byte_time));
    }

    /// Returns the current roster.
    #[must_use]
    pub fn current(&self) -> Arc<Roster> {
        Arc::clone(&self.roster.read())
    }

    /// Returns the public card of a current or former model.
    #[must_use]
    pub fn find(&self, id: &ModelId) -> Option<ModelCard> {
        self.cards.read().get(id).cloned()
    }

    /// Returns a model's public card; for an unregistered model, one with its id.
    #[must_use]
    pub fn card(&self, id: &ModelId) -> ModelCard {
        let cards = self.cards.read();
        cards.get(id).cloned().unwrap_or_else(|| ModelCard::of_id(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::config::{Environment, Settings};
    use crate::infra::llm::model_discovery::DiscoveryTargets;

    #[test]
    fn battles_wait_longer_than_any_server_that_discovery_still_hears() {
        let DiscoveryTargets { local_wait, remote_wait, .. } = DiscoveryTargets::default();
        assert!(DISCOVERY_TIMEOUT > local_wait.max(remote_wait), "{DISCOVERY_TIMEOUT:?}");
    }

    #[test]
    fn the_usual_speed_of_a_model_stays_while_it_is_asked_as_before() {
        let (settings, env) = (Settings::default(), Environment::default());
        let build = |former: &Roster| Roster::rebuild(&settings, &env, 1, former).unwrap();
        let (models, first, byte_time) = (Models::empty(), build(&Roster::default()), Duration::from_millis(5));
        let model = first.all()[0].card.id.clone();
        models.set_roster(first.clone());
        models.model_speeds.note(&model, byte_time);
        models.set_roster(build(&first));
        assert_eq!(models.model_speeds.byte_time(&model), Some(byte_time));
        models.set_roster(build(&Roster::default()));
        assert_eq!(models.model_speeds.byte_time(&model), None, "another model under the same name");
    }
}
