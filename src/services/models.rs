//! The models of the running arena: a roster that can be exchanged, and the register of all that ever took part.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::battle::ModelId;
use crate::clock::Clock;
use crate::llm::ModelCard;
use crate::llm::roster::Roster;
use crate::storage::{Store, StoreError};

/// The current roster, and the names of everyone who ever took part.
pub struct Models {
    roster: RwLock<Arc<Roster>>,
    cards: RwLock<HashMap<ModelId, ModelCard>>,
}

impl Models {
    /// Registers the roster's models and learns the names of all earlier ones.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open(roster: Roster, store: &Store, clock: &dyn Clock) -> Result<Self, StoreError> {
        let models = Self { roster: RwLock::new(Arc::new(Roster::default())), cards: RwLock::default() };
        models.exchange(roster, store, clock).await?;
        Ok(models)
    }

    /// Puts another roster in place. Battles under way keep the models that they have.
    ///
    /// # Errors
    /// [`StoreError`]; the former roster stays then.
    pub async fn exchange(&self, roster: Roster, store: &Store, clock: &dyn Clock) -> Result<(), StoreError> {
        let cards: Vec<ModelCard> = roster.all().iter().map(|model| model.card.clone()).collect();
        store.register_models(&cards, clock.now()).await?;
        let known = store.registered_models().await?.into_iter().map(|model| (model.card.id.clone(), model.card));
        *self.cards.write().unwrap_or_else(PoisonError::into_inner) = known.collect();
        *self.roster.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(roster);
        Ok(())
    }

    /// The roster as it stands now.
    #[must_use]
    pub fn current(&self) -> Arc<Roster> {
        Arc::clone(&self.roster.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A model's public face; one that was never registered is shown by its id.
    #[must_use]
    pub fn card(&self, id: &ModelId) -> ModelCard {
        let cards = self.cards.read().unwrap_or_else(PoisonError::into_inner);
        cards.get(id).cloned().unwrap_or_else(|| ModelCard {
            id: id.clone(),
            name: id.to_string(),
            organization: String::new(),
            license: String::new(),
            practice: false,
        })
    }
}
