//! The models of the running arena: the current roster, and the register of all models that ever took part.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::arena::usual_speeds::UsualSpeeds;
use crate::domain::battle::ModelId;
use crate::domain::battle::model_card::shared_names;
use crate::infra::clock::Clock;
use crate::infra::llm::ModelCard;
use crate::infra::llm::model_discovery::REMOTE_WAIT;
use crate::infra::llm::resilient_model::ResilientModel;
use crate::infra::llm::roster::Roster;
use crate::infra::storage::{Store, StoreError};

/// Models that left the roster and are still kept for battles that have them.
const MAX_RETIRED: usize = 64;
/// How long after the start battles wait for model discovery: for the slowest provider that it still hears, and for the
/// registration of what it found.
const SEARCH_ENDS_WITHIN: Duration = REMOTE_WAIT.saturating_add(Duration::from_secs(1));

/// The current roster, and the names of everyone who ever took part.
pub struct Models {
    roster: RwLock<Arc<Roster>>,
    /// Models that left the roster, the latest last: battles that have them go on.
    retired: RwLock<Vec<Arc<ResilientModel>>>,
    cards: RwLock<HashMap<ModelId, ModelCard>>,
    /// How fast they usually write.
    usual_speeds: UsualSpeeds,
    /// Whether the roster is what the settings come to, and no models may still be found; sent with every roster.
    settled: watch::Sender<bool>,
    opened_at: Instant,
}

impl Models {
    /// Registers the roster's models and learns the names of all earlier ones.
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
            usual_speeds: UsualSpeeds::default(),
            settled: watch::Sender::new(false),
            opened_at: Instant::now(),
        }
    }

    /// Puts another roster in place, after models were looked for where the settings allow that. Battles under way keep the
    /// models that they have.
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
        self.usual_speeds.follow(roster.all().iter().map(|model| model.card.id.clone()), stays);
    }

    /// Announces every new roster: `true` once it is what the settings come to.
    #[must_use]
    pub fn settled(&self) -> watch::Receiver<bool> {
        self.settled.subscribe()
    }

    /// Waits for the model discovery that follows a start, until five seconds after the start at most: before it, a new battle would get
    /// practice models, and an interrupted one would lose its own. Where discovery fails, the roster stays as it is.
    pub async fn searched(&self) {
        let mut settled = self.settled();
        let _ = timeout_at(self.opened_at + SEARCH_ENDS_WITHIN, settled.wait_for(|settled| *settled)).await;
    }

    fn retire(&self, former: &Roster, current: &Roster) {
        let mut retired = self.retired.write();
        retired.extend(former.all().iter().cloned());
        retired.retain(|model| current.get(&model.card.id).is_none());
        let too_many = retired.len().saturating_sub(MAX_RETIRED);
        retired.drain(..too_many);
    }

    /// The model that a battle has, also where it has left the roster since; `None` where it left long ago.
    #[must_use]
    pub fn of_battle(&self, id: &ModelId) -> Option<Arc<ResilientModel>> {
        let find_retired = || {
            let retired = self.retired.read();
            retired.iter().rev().find(|model| model.card.id == *id).cloned()
        };
        self.current().get(id).or_else(find_retired)
    }

    /// Time in which a model of the roster usually writes a byte; `None` before this instance has seen a reply of it.
    #[must_use]
    pub fn usual_byte_time(&self, id: &ModelId) -> Option<Duration> {
        self.usual_speeds.byte_time(id)
    }

    /// Replies of these models were written in so much time a byte.
    pub(super) fn note_speeds(&self, speeds: &[(ModelId, Duration)]) {
        speeds.iter().for_each(|(model, byte_time)| self.usual_speeds.note(model, *byte_time));
    }

    /// The roster as it stands now.
    #[must_use]
    pub fn current(&self) -> Arc<Roster> {
        Arc::clone(&self.roster.read())
    }

    /// The public face of a model that takes part or ever took part.
    #[must_use]
    pub fn find(&self, id: &ModelId) -> Option<ModelCard> {
        self.cards.read().get(id).cloned()
    }

    /// A model's public face; one that was never registered is shown by its id.
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
        assert!(SEARCH_ENDS_WITHIN > local_wait.max(remote_wait), "{SEARCH_ENDS_WITHIN:?}");
    }

    #[test]
    fn the_usual_speed_of_a_model_stays_while_it_is_asked_as_before() {
        let (settings, env) = (Settings::default(), Environment::default());
        let build = |former: &Roster| Roster::rebuild(&settings, &env, 1, former).unwrap();
        let (models, first, byte_time) = (Models::empty(), build(&Roster::default()), Duration::from_millis(5));
        let model = first.all()[0].card.id.clone();
        models.set_roster(first.clone());
        models.usual_speeds.note(&model, byte_time);
        models.set_roster(build(&first));
        assert_eq!(models.usual_speeds.byte_time(&model), Some(byte_time));
        models.set_roster(build(&Roster::default()));
        assert_eq!(models.usual_speeds.byte_time(&model), None, "another model under the same name");
    }
}
