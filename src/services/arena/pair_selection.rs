//! Selects the pair of models: applies the pairing rules to the healthy models and the latest ratings.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::models::Models;
use crate::domain::battle::ModelId;
use crate::domain::battle::mode::ModelChoice;
use crate::domain::battle::pairing::preview::PairingPreview;
use crate::domain::battle::pairing::published_pairing::PublishedPairing;
use crate::domain::battle::pairing::starting_pair::{ChoiceError, PromptKind, StartingPair};
use crate::domain::battle::pairing::{self, ModelPool, Pair, PairingError, PairingRules, choose_opponent, choose_pair};
use crate::domain::rating::pairing_pool::pairing_pool;
use crate::infra::config::CurrentSettings;
use crate::infra::llm::roster::Roster;
use crate::infra::rng::SharedRng;
use crate::leaderboard::latest_leaderboard::LatestLeaderboard;

/// Samples pairs of models.
pub struct Matchmaker {
    models: Arc<Models>,
    leaderboard: Arc<LatestLeaderboard>,
    rng: Arc<SharedRng>,
    settings: CurrentSettings,
}

impl Matchmaker {
    /// Creates a matchmaker for these models and the pairing rules in force.
    #[must_use]
    pub fn new(
        models: Arc<Models>,
        leaderboard: Arc<LatestLeaderboard>,
        rng: Arc<SharedRng>,
        settings: CurrentSettings,
    ) -> Self {
        Self { models, leaderboard, rng, settings }
    }

    /// Selects the models of a new battle: sampled, or chosen by the visitor where the arena offers that.
    ///
    /// # Errors
    /// [`ChoiceError`].
    pub fn pair(&self, choice: &ModelChoice, kind: PromptKind) -> Result<StartingPair, ChoiceError> {
        let mode = choice.mode();
        if !self.settings.now().battle.modes.contains(&mode) {
            return Err(ChoiceError::ModeOff(mode.as_str()));
        }
        if !choice.chosen().iter().all(|model| self.can_ask(model)) {
            return Err(ChoiceError::ModelUnavailable);
        }
        let roster = self.models.current();
        if !choice.chosen().iter().all(|model| accepts_prompt(kind, &roster, model)) {
            return Err(ChoiceError::SeesNoImages);
        }
        let too_few = |error| ChoiceError::too_few(kind, error);
        match choice {
            ModelChoice::Drawn => Ok(self.draw(kind).map_err(too_few)?.into()),
            ModelChoice::Both(models) => Ok(StartingPair::chosen(models.clone(), mode)),
            ModelChoice::Alone(model) => Ok(StartingPair::chosen([model.clone(), model.clone()], mode)),
            ModelChoice::OneOfTwo(model) => {
                let drawn = self.replace(model, &[], kind);
                let (other, probability) = drawn.ok_or_else(|| too_few(PairingError::TooFewModels(1)))?;
                Ok(StartingPair { probability, ..StartingPair::chosen([model.clone(), other], mode) })
            }
        }
    }

    /// Samples two models and their sides.
    ///
    /// # Errors
    /// [`PairingError`] where fewer than two models can answer.
    pub fn draw(&self, kind: PromptKind) -> Result<Pair, PairingError> {
        let rules = self.rules();
        let pool = self.healthy_pool(None, &rules, kind);
        self.rng.with(|rng| choose_pair(&pool, &rules, rng))
    }

    /// Samples another opponent for the remaining model, with the probability of the new pair; `None` if no model is available.
    #[must_use]
    pub fn replace(&self, staying: &ModelId, excluded: &[ModelId], kind: PromptKind) -> Option<(ModelId, f64)> {
        let rules = self.rules();
        let pool = self.healthy_pool(Some(staying), &rules, kind);
        let opponent = self.rng.with(|rng| choose_opponent(&pool, &rules, staying, excluded, rng)).ok()?;
        Some((opponent.id, opponent.probability))
    }

    /// Whether a visitor may choose this model: it is in the roster, and its circuit breaker is not open. A half-open breaker does not
    /// count: a refusal would reveal that the model is in a running battle.
    fn can_ask(&self, model: &ModelId) -> bool {
        let model = self.models.current().get(model);
        model.is_some_and(|model| model.weight > 0.0 && model.breaker_remaining().is_none())
    }

    /// Whether enough models are available for a battle.
    #[must_use]
    pub fn can_draw(&self) -> bool {
        let rules = self.rules();
        pairing::distribution(&self.healthy_pool(None, &rules, PromptKind::Text), &rules).is_ok()
    }

    /// Whether images may be sent: at least two models accept them. Open circuit breakers are ignored, as they would reveal which model is
    /// unavailable.
    #[must_use]
    pub fn takes_images(&self) -> bool {
        let roster = self.models.current();
        let seeing = roster.all().iter().filter(|model| model.weight > 0.0 && roster.sees_images(&model.card.id));
        seeing.count() >= 2 && self.settings.now().battle.max_images > 0
    }

    /// Returns the probability of each pair as if every model were healthy. Open circuit breakers are ignored on purpose: they would show a
    /// visitor whose battle has just been voided which models were in it.
    #[must_use]
    pub fn published(&self) -> PublishedPairing {
        let rules = self.rules();
        PublishedPairing::new(&self.pool(|_| true, &rules), &rules)
    }

    /// Returns the healthy models that accept this kind of prompt, and `always` whether it is healthy or not.
    fn healthy_pool(&self, always: Option<&ModelId>, rules: &PairingRules, kind: PromptKind) -> ModelPool {
        let roster = self.models.current();
        let may_play =
            |id: &ModelId| accepts_prompt(kind, &roster, id) && roster.get(id).is_some_and(|model| model.healthy());
        self.pool(|id| Some(id) == always || may_play(id), rules)
    }

    fn rules(&self) -> PairingRules {
        self.settings.now().pairing.rules()
    }

    /// Computes the effect of other rules, and of other weights for some models, as if every model were healthy; weight 0 pauses a model.
    ///
    /// # Errors
    /// [`PairingError`] if the other rules allow no pair.
    pub fn preview(
        &self,
        rules: &PairingRules,
        weights: &BTreeMap<ModelId, f64>,
    ) -> Result<PairingPreview, PairingError> {
        let (now, roster) = (self.rules(), self.models.current());
        let today = pairing::distribution(&self.pool(|_| true, &now), &now).unwrap_or_default();
        let weighted = roster.all().iter().map(|model| {
            let id = model.card.id.clone();
            let weight = weights.get(&id).copied().unwrap_or(model.weight);
            (id, weight)
        });
        let pool = pairing_pool(
            weighted,
            &self.leaderboard.latest().leaderboard,
            |one, other| self.leaderboard.votes_between(one, other),
            rules,
        );
        Ok(PairingPreview::new(&today, &pairing::distribution(&pool, rules)?))
    }

    fn pool(&self, may_play: impl Fn(&ModelId) -> bool, rules: &PairingRules) -> ModelPool {
        let roster = self.models.current();
        let playing = roster.all().iter().filter(|model| may_play(&model.card.id));
        let weighted = playing.map(|model| (model.card.id.clone(), model.weight));
        let votes = |one: &str, other: &str| self.leaderboard.votes_between(one, other);
        pairing_pool(weighted, &self.leaderboard.latest().leaderboard, votes, rules)
    }
}

/// Whether a model accepts this kind of prompt.
fn accepts_prompt(kind: PromptKind, roster: &Roster, model: &ModelId) -> bool {
    kind == PromptKind::Text || roster.sees_images(model)
}
