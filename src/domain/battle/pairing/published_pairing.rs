//! Published pairing of the arena.

use schemars::JsonSchema;
use serde::Serialize;

use super::{ModelPool, POLICY_VERSION, PairingRules, distribution};
use crate::battle::ModelId;

/// Pairing policy with the probabilities of all pairs, as published.
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
    /// Probability that a battle is between these two models.
    pub probability: f64,
}

impl PublishedPairing {
    /// The probability of each pair of a pool; no pair where the pool is too small.
    #[must_use]
    pub fn new(pool: &ModelPool, rules: &PairingRules) -> Self {
        let pairs = distribution(pool, rules).unwrap_or_default();
        let pairs = pairs
            .into_iter()
            .map(|pair| PublishedPair { models: [pair.first, pair.second], probability: pair.probability });
        Self { policy: rules.policy.as_str(), policy_version: POLICY_VERSION, pairs: pairs.collect() }
    }
}
