//! Pairing of models: a probability for every pair, and a seeded draw from it.
//!
//! [`choose_pair`] draws from exactly the published [`distribution`], so the log can be reweighted by the probability stored with each
//! battle. Sides come from a fair coin. A model of weight 0 is paused.

pub mod preview;
pub mod published_pairing;
pub mod starting_pair;

use std::collections::HashMap;

use rand::{Rng, RngExt};

use super::ModelId;

/// Version of the policies, raised whenever their probabilities change for the same pool; stored with each battle.
pub const POLICY_VERSION: u32 = 1;

/// Pairing policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Every pair has the same probability.
    Uniform,
    /// P ∝ wᵢwⱼ.
    Weighted,
    /// P ∝ wᵢwⱼ·exp(−|Rᵢ−Rⱼ|/width), with a uniform share.
    Elo,
    /// P ∝ wᵢwⱼ·(reduction of the pair's interval by one more vote), with a uniform share.
    Active,
}

impl Policy {
    /// The policy's name in settings, the database and exports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Policy::Uniform => "uniform",
            Policy::Weighted => "weighted",
            Policy::Elo => "elo",
            Policy::Active => "active",
        }
    }
}

/// Pairing policy with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct PairingRules {
    /// The policy.
    pub policy: Policy,
    /// Share of the battles under `Elo` and `Active` that are drawn uniformly, so that all pairs occur; 0 to 1.
    pub uniform_share: f64,
    /// Under `Elo`: the rating difference at which a pair is e times rarer; more than 0.
    pub elo_width: f64,
    /// A model is new until it has this many votes.
    pub new_model_votes: u64,
    /// Factor on a new model's weight.
    pub new_model_boost: f64,
}

/// A model that may be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolEntry {
    /// Its key.
    pub id: ModelId,
    /// Its pairing weight; 0 pauses it.
    pub weight: f64,
    /// Its rating; 1000 where it has none yet.
    pub rating: f64,
    /// Its rated votes.
    pub votes: u64,
}

/// Pool of models that may be chosen, with the number of votes on each pair.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelPool {
    entries: Vec<PoolEntry>,
    /// Rated votes of a pair, under the lesser id and then the greater; pairs without one are left out.
    pair_votes: HashMap<ModelId, HashMap<ModelId, u64>>,
}

/// The probability with which two models meet, whichever side each is on.
#[derive(Debug, Clone, PartialEq)]
pub struct PairProbability {
    /// One model.
    pub first: ModelId,
    /// The other.
    pub second: ModelId,
    /// Their share of the battles.
    pub probability: f64,
}

/// Two models drawn for a battle, with the logged data of the draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The model on side A.
    pub a: ModelId,
    /// The model on side B.
    pub b: ModelId,
    /// The probability of this pair, whichever side each is on.
    pub probability: f64,
    /// The policy that drew it.
    pub policy: Policy,
    /// Its version.
    pub policy_version: u32,
}

/// Model drawn to replace one that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Opponent {
    /// The model.
    pub id: ModelId,
    /// Probability of the new pair in the pool without the excluded models.
    pub probability: f64,
}

/// Reason why no pair can be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PairingError {
    /// A battle needs two models.
    #[error(
        "a battle needs two models and {0} can take part: add models under [[models]], give them a weight above 0, \
         and see with `langya models check` whether they answer"
    )]
    TooFewModels(usize),
    /// A weight or rating is not a number that can be used.
    #[error("model {model:?} has the {what} {value}: give a finite number that is not negative")]
    BadNumber {
        /// The model.
        model: ModelId,
        /// Name of the number.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// The model that stays is not in the pool.
    #[error("model {0:?} is not among the models that can take part")]
    NotInPool(ModelId),
}

impl ModelPool {
    /// Creates a pool without votes on pairs.
    #[must_use]
    pub fn new(entries: Vec<PoolEntry>) -> Self {
        Self { entries, pair_votes: HashMap::new() }
    }

    /// Sets the number of rated votes of a pair, in either order of sides; used by `Active`.
    pub fn set_pair_votes(&mut self, one: &ModelId, other: &ModelId, votes: u64) {
        let (lesser, greater) = if one <= other { (one, other) } else { (other, one) };
        self.pair_votes.entry(lesser.clone()).or_default().insert(greater.clone(), votes);
    }

    /// The models.
    #[must_use]
    pub fn entries(&self) -> &[PoolEntry] {
        &self.entries
    }

    fn votes_between(&self, one: &PoolEntry, other: &PoolEntry) -> u64 {
        let (lesser, greater) = if one.id <= other.id { (one, other) } else { (other, one) };
        self.pair_votes.get(&lesser.id).and_then(|votes| votes.get(&greater.id)).copied().unwrap_or(0)
    }
}

/// Computes the probability of every possible pair; they add up to 1.
///
/// # Errors
/// [`PairingError`] says what to change.
pub fn distribution(pool: &ModelPool, rules: &PairingRules) -> Result<Vec<PairProbability>, PairingError> {
    let shares = shares(pool, rules, &[])?;
    let named = |share: PairShare<'_>| PairProbability {
        first: share.first.id.clone(),
        second: share.second.id.clone(),
        probability: share.probability,
    };
    Ok(shares.into_iter().map(named).collect())
}

/// Draws two models and their sides. The same pool, rules and state of `rng` give the same pair.
///
/// # Errors
/// The same as for [`distribution`].
pub fn choose_pair(pool: &ModelPool, rules: &PairingRules, rng: &mut impl Rng) -> Result<Pair, PairingError> {
    let shares = shares(pool, rules, &[])?;
    let chosen = draw(&shares, rng);
    let (a, b) = if rng.random::<bool>() { (chosen.first, chosen.second) } else { (chosen.second, chosen.first) };
    Ok(Pair {
        a: a.id.clone(),
        b: b.id.clone(),
        probability: chosen.probability,
        policy: rules.policy,
        policy_version: POLICY_VERSION,
    })
}

/// Draws another opponent for the model that stays, as the policy would have drawn it had the excluded models not been
/// in the pool: in proportion to the probability of each pair with the staying model.
///
/// # Errors
/// The same as for [`distribution`], and [`PairingError::NotInPool`] for a staying model that is paused or unknown.
pub fn choose_opponent(
    pool: &ModelPool,
    rules: &PairingRules,
    staying: &ModelId,
    excluded: &[ModelId],
    rng: &mut impl Rng,
) -> Result<Opponent, PairingError> {
    let mut shares = shares(pool, rules, excluded)?;
    shares.retain(|share| share.first.id == *staying || share.second.id == *staying);
    if shares.is_empty() {
        return Err(PairingError::NotInPool(staying.clone()));
    }
    let chosen = draw(&shares, rng);
    let other = if chosen.first.id == *staying { chosen.second } else { chosen.first };
    Ok(Opponent { id: other.id.clone(), probability: chosen.probability })
}

/// The probability of one pair.
struct PairShare<'pool> {
    first: &'pool PoolEntry,
    second: &'pool PoolEntry,
    probability: f64,
}

fn shares<'pool>(
    pool: &'pool ModelPool,
    rules: &PairingRules,
    excluded: &[ModelId],
) -> Result<Vec<PairShare<'pool>>, PairingError> {
    let models = drawable_models(pool, excluded)?;
    let mut pairs = Vec::with_capacity(models.len() * (models.len() - 1) / 2);
    for (place, &first) in models.iter().enumerate() {
        pairs.extend(models[place + 1..].iter().map(|&second| PairShare { first, second, probability: 0.0 }));
    }
    let uniform = 1.0 / f64::from(u32::try_from(pairs.len()).unwrap_or(u32::MAX));
    let uniform_share = match rules.policy {
        Policy::Uniform => 1.0,
        Policy::Weighted => 0.0,
        Policy::Elo | Policy::Active => rules.uniform_share,
    };
    // In logarithms relative to the largest, so that no product of small factors underflows for all pairs at once.
    let logs: Vec<f64> = pairs.iter().map(|pair| log_preference(pool, rules, pair.first, pair.second)).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
    for (pair, log) in pairs.iter_mut().zip(&logs) {
        pair.probability = uniform_share * uniform + (1.0 - uniform_share) * (log - largest).exp() / total;
    }
    Ok(pairs)
}

/// Validates the pool and returns the models that can be drawn.
fn drawable_models<'pool>(pool: &'pool ModelPool, excluded: &[ModelId]) -> Result<Vec<&'pool PoolEntry>, PairingError> {
    for entry in &pool.entries {
        let bad = |what, value| Err(PairingError::BadNumber { model: entry.id.clone(), what, value });
        if !(entry.weight.is_finite() && entry.weight >= 0.0) {
            return bad("weight", entry.weight);
        }
        if !entry.rating.is_finite() {
            return bad("rating", entry.rating);
        }
    }
    let models: Vec<&PoolEntry> =
        pool.entries.iter().filter(|entry| entry.weight > 0.0 && !excluded.contains(&entry.id)).collect();
    if models.len() < 2 { Err(PairingError::TooFewModels(models.len())) } else { Ok(models) }
}

/// ln of a pair's unnormalised probability, without the uniform share.
fn log_preference(pool: &ModelPool, rules: &PairingRules, one: &PoolEntry, other: &PoolEntry) -> f64 {
    let weights = log_weight(rules, one) + log_weight(rules, other);
    let difference = (one.rating - other.rating).abs();
    match rules.policy {
        Policy::Uniform => 0.0,
        Policy::Weighted => weights,
        Policy::Elo => weights - difference / rules.elo_width,
        Policy::Active => weights + log_shrinkage(difference, pool.votes_between(one, other)),
    }
}

fn log_weight(rules: &PairingRules, entry: &PoolEntry) -> f64 {
    let boost = if entry.votes < rules.new_model_votes { rules.new_model_boost } else { 1.0 };
    entry.weight.ln() + boost.ln()
}

/// ln of the reduction of the interval of a pair's win rate by one more vote: √(v/n) − √(v/(n+1)), the rule of Chiang et al. 2024
/// (arXiv 2403.04132, section 5). v = p(1−p) is the variance of one vote, p the win rate predicted by the ratings. One vote is added
/// to n, so that a pair without votes is likely but not certain.
fn log_shrinkage(difference: f64, votes: u64) -> f64 {
    // ln p + ln(1−p) with p = 1/(1+10^(−d/400)), written so that neither end overflows.
    let d = difference * std::f64::consts::LN_10 / 400.0;
    let log_variance = -d - 2.0 * (-d).exp().ln_1p();
    let n = f64::from(u32::try_from(votes).unwrap_or(u32::MAX)) + 1.0;
    // 1/√n − 1/√(n+1) without the difference of two near numbers.
    let shrinkage = 1.0 / (n.sqrt() * (n + 1.0).sqrt() * (n.sqrt() + (n + 1.0).sqrt()));
    0.5 * log_variance + shrinkage.ln()
}

/// Draws one of the pairs in proportion to their probabilities. There is at least one.
fn draw<'shares, 'pool>(shares: &'shares [PairShare<'pool>], rng: &mut impl Rng) -> &'shares PairShare<'pool> {
    let total: f64 = shares.iter().map(|share| share.probability).sum();
    let mut rest = rng.random::<f64>() * total;
    let chosen = shares.iter().filter(|share| share.probability > 0.0).find(|share| {
        rest -= share.probability;
        rest < 0.0
    });
    // Rounding can leave `rest` above 0 after the last pair.
    chosen.or_else(|| shares.iter().rfind(|share| share.probability > 0.0)).unwrap_or(&shares[0])
}

#[cfg(test)]
mod tests;
