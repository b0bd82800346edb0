//! Chooses the pair of models: applies the pairing rules to the models that are healthy now and to the latest ratings.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::models::Models;
use crate::domain::battle::mode::ModelChoice;
use crate::domain::battle::pairing::preview::PairingPreview;
use crate::domain::battle::pairing::{
    self, ModelPool, POLICY_VERSION, Pair, PairingError, PairingRules, Policy, PoolEntry, choose_opponent, choose_pair,
};
use crate::domain::battle::{ImageId, ModelId};
use crate::domain::rating::leaderboard::{Leaderboard, RankedModel};
use crate::infra::config::CurrentSettings;
use crate::infra::llm::roster::Roster;
use crate::infra::rng::SharedRng;
use crate::services::leaderboard::refit::LatestLeaderboard;

/// The rating of a model without a vote.
const START_RATING: f64 = 1000.0;

/// Draws pairs.
pub struct Matchmaker {
    models: Arc<Models>,
    leaderboard: Arc<LatestLeaderboard>,
    rng: Arc<SharedRng>,
    settings: CurrentSettings,
}

/// What the models of a battle are asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// Text.
    Text,
    /// Text and images, which not every model sees.
    WithImages,
}

impl PromptKind {
    /// Of a question with these images.
    #[must_use]
    pub fn of(images: &[ImageId]) -> Self {
        if images.is_empty() { Self::Text } else { Self::WithImages }
    }

    fn suits(self, roster: &Roster, model: &ModelId) -> bool {
        self == Self::Text || roster.sees_images(model)
    }
}

/// The models of a battle that begins, and how they came together.
#[derive(Debug)]
pub struct StartingPair {
    /// On sides A and B; twice the same where one answers alone.
    pub models: [ModelId; 2],
    /// The pairing policy, or the mode where the visitor chose.
    pub policy: &'static str,
    /// Version of the policy.
    pub policy_version: u32,
    /// Probability of the pair; 1 where nothing was drawn.
    pub probability: f64,
}

/// Why a battle gets no models, or not those that the visitor asks for.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The operator has turned the mode off.
    #[error("this arena does not offer the mode \"{0}\": choose another one, or leave it out")]
    ModeOff(&'static str),
    /// A chosen model is unknown, paused or out of order; which of these stays with the operator.
    #[error("a model that you chose cannot be asked at the moment: choose another one")]
    ModelUnavailable,
    /// A chosen model sees no images.
    #[error("a model that you chose does not see images: choose another one, or ask without them")]
    SeesNoImages,
    /// Fewer than two models that see images can answer.
    #[error(
        "fewer than two models that see images can answer at the moment: ask without them, or try again in a minute"
    )]
    NoneSeesImages,
    /// Fewer than two models can answer.
    #[error("fewer than two models can answer at the moment: try again in a minute")]
    NoModels(#[source] PairingError),
}

/// The pairing as published.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PublishedPairing {
    /// Name of the policy.
    policy: &'static str,
    /// Version of the policies' probabilities.
    policy_version: u32,
    /// Every pair.
    pub pairs: Vec<PublishedPair>,
}

/// A pair as published.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PublishedPair {
    /// Its models.
    pub models: [ModelId; 2],
    /// How likely a battle is one of these two.
    pub probability: f64,
}

impl Matchmaker {
    /// Draws from these models by the rules in force.
    #[must_use]
    pub fn new(
        models: Arc<Models>,
        leaderboard: Arc<LatestLeaderboard>,
        rng: Arc<SharedRng>,
        settings: CurrentSettings,
    ) -> Self {
        Self { models, leaderboard, rng, settings }
    }

    /// The models of a battle that begins: drawn, or chosen by the visitor where the arena offers that.
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
        if !choice.chosen().iter().all(|model| kind.suits(&roster, model)) {
            return Err(ChoiceError::SeesNoImages);
        }
        let too_few = |error| match kind {
            PromptKind::Text => ChoiceError::NoModels(error),
            PromptKind::WithImages => ChoiceError::NoneSeesImages,
        };
        let chosen = |models| StartingPair { models, policy: mode.as_str(), policy_version: 0, probability: 1.0 };
        match choice {
            ModelChoice::Drawn => {
                let Pair { a, b, policy, policy_version, probability } = self.draw(kind).map_err(too_few)?;
                Ok(StartingPair { models: [a, b], policy: policy.as_str(), policy_version, probability })
            }
            ModelChoice::Both(models) => Ok(chosen(models.clone())),
            ModelChoice::Alone(model) => Ok(chosen([model.clone(), model.clone()])),
            ModelChoice::OneOfTwo(model) => {
                let drawn = self.replace(model, &[], kind);
                let (other, probability) = drawn.ok_or_else(|| too_few(PairingError::TooFewModels(1)))?;
                Ok(StartingPair { probability, ..chosen([model.clone(), other]) })
            }
        }
    }

    /// Two models and their sides.
    ///
    /// # Errors
    /// [`PairingError`] where fewer than two models can answer.
    pub fn draw(&self, kind: PromptKind) -> Result<Pair, PairingError> {
        let rules = self.rules();
        let pool = self.healthy_pool(None, &rules, kind);
        self.rng.with(|rng| choose_pair(&pool, &rules, rng))
    }

    /// Another opponent for the model that stays, with the probability of the new pair; `None` where nobody is left.
    #[must_use]
    pub fn replace(&self, staying: &ModelId, excluded: &[ModelId], kind: PromptKind) -> Option<(ModelId, f64)> {
        let rules = self.rules();
        let pool = self.healthy_pool(Some(staying), &rules, kind);
        let opponent = self.rng.with(|rng| choose_opponent(&pool, &rules, staying, excluded, rng)).ok()?;
        Some((opponent.id, opponent.probability))
    }

    /// Whether a visitor may choose this model: it takes part and answers.
    fn can_ask(&self, model: &ModelId) -> bool {
        self.models.current().get(model).is_some_and(|model| model.weight > 0.0 && model.healthy())
    }

    /// Whether a battle could begin.
    #[must_use]
    pub fn can_draw(&self) -> bool {
        let rules = self.rules();
        pairing::distribution(&self.healthy_pool(None, &rules, PromptKind::Text), &rules).is_ok()
    }

    /// Whether images may be sent: two models that take part see them. Who is resting makes no difference, as it would reveal which one it is.
    #[must_use]
    pub fn takes_images(&self) -> bool {
        let roster = self.models.current();
        let seeing = roster.all().iter().filter(|model| model.weight > 0.0 && roster.sees_images(&model.card.id));
        seeing.count() >= 2 && self.settings.now().battle.max_images > 0
    }

    /// The probability of each pair while every model is healthy. Who is resting is left out on purpose: it would show
    /// a visitor whose battle has just been voided who was in it.
    #[must_use]
    pub fn published(&self) -> PublishedPairing {
        let rules = self.rules();
        let pool = self.pool(|_| true, &rules);
        let pairs = pairing::distribution(&pool, &rules).unwrap_or_default();
        let pairs = pairs
            .into_iter()
            .map(|pair| PublishedPair { models: [pair.first, pair.second], probability: pair.probability });
        PublishedPairing { policy: rules.policy.as_str(), policy_version: POLICY_VERSION, pairs: pairs.collect() }
    }

    /// The healthy models that take such a question, and `always` whether it is healthy or not.
    fn healthy_pool(&self, always: Option<&ModelId>, rules: &PairingRules, kind: PromptKind) -> ModelPool {
        let roster = self.models.current();
        let may_play = |id: &ModelId| kind.suits(&roster, id) && roster.get(id).is_some_and(|model| model.healthy());
        self.pool(|id| Some(id) == always || may_play(id), rules)
    }

    fn rules(&self) -> PairingRules {
        self.settings.now().pairing.rules()
    }

    /// What other rules would change while every model is healthy, and other weights for some models; 0 pauses.
    ///
    /// # Errors
    /// [`PairingError`] where the other rules draw nobody.
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
        let pool = model_pool(
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
        model_pool(weighted, &self.leaderboard.latest().leaderboard, votes, rules)
    }
}

/// Models with their weights as a pool, with the ratings of a leaderboard. Only `Active` asks for the votes between two models.
pub fn model_pool(
    weighted: impl Iterator<Item = (ModelId, f64)>,
    leaderboard: &Leaderboard,
    votes_between: impl Fn(&str, &str) -> u64,
    rules: &PairingRules,
) -> ModelPool {
    let entries = weighted.filter(|(_, weight)| *weight > 0.0).map(|(id, weight)| {
        let row = leaderboard.models.iter().find(|row| row.model == id.as_str());
        PoolEntry {
            weight,
            rating: row.map_or(START_RATING, RankedModel::rating_or_limit),
            votes: row.map_or(0, |row| row.battles),
            id,
        }
    });
    let mut pool = ModelPool::new(entries.collect());
    if rules.policy == Policy::Active {
        let ids: Vec<ModelId> = pool.entries().iter().map(|entry| entry.id.clone()).collect();
        for (at, one) in ids.iter().enumerate() {
            for other in &ids[at + 1..] {
                pool.set_pair_votes(one, other, votes_between(one.as_str(), other.as_str()));
            }
        }
    }
    pool
}
