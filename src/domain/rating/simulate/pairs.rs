//! Pairing: chooses the two models of a simulated battle.

use rand::Rng;
use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;

use super::super::strengths::negative_log_likelihood::logistic;
use super::{PairingPolicy, SimulatedModel};

/// All pairs of models with their probabilities.
#[derive(Debug)]
pub(super) struct PairSampler {
    /// Positions of the two models, the lower first.
    pairs: Vec<[u32; 2]>,
    probabilities: Vec<f64>,
    alias: WeightedAliasIndex<f64>,
}

impl PairSampler {
    pub(super) fn new(models: &[SimulatedModel], policy: PairingPolicy) -> Self {
        let number = u32::try_from(models.len()).expect("fewer models than fit into 32 bits");
        let pairs: Vec<[u32; 2]> = (0..number).flat_map(|a| (a + 1..number).map(move |b| [a, b])).collect();
        let harmonic: f64 = (1..=number).map(|k| 1.0 / f64::from(k)).sum();
        let popular = |model: u32| 1.0 / (f64::from(model + 1) * harmonic);
        let weight = |&[a, b]: &[u32; 2]| match policy {
            PairingPolicy::Uniform => 1.0,
            // The second model is drawn from the remaining ones.
            PairingPolicy::Zipf => popular(a) * popular(b) * (1.0 / (1.0 - popular(a)) + 1.0 / (1.0 - popular(b))),
            PairingPolicy::Close => {
                let d = models[a as usize].strength - models[b as usize].strength;
                logistic(d) * logistic(-d)
            }
        };
        let weights: Vec<f64> = pairs.iter().map(weight).collect();
        let total: f64 = weights.iter().sum();
        let probabilities = weights.iter().map(|weight| weight / total).collect();
        let alias = WeightedAliasIndex::new(weights).expect("there is a pair, and weights are finite and positive");
        Self { pairs, probabilities, alias }
    }

    /// Computes the mean of p(1−p) over votes without style effects.
    pub(super) fn variance(&self, models: &[SimulatedModel]) -> f64 {
        let of = |&[a, b]: &[u32; 2]| {
            let d = models[a as usize].strength - models[b as usize].strength;
            logistic(d) * logistic(-d)
        };
        self.pairs.iter().zip(&self.probabilities).map(|(pair, probability)| probability * of(pair)).sum()
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> ([usize; 2], f64) {
        let pair = self.alias.sample(rng);
        (self.pairs[pair].map(|model| model as usize), self.probabilities[pair])
    }
}
