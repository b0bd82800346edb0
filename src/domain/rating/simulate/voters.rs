//! Voters of simulated votes: all equally active, or a few much more than the rest.

use rand::{Rng, RngExt};
use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;

use super::VoterActivity;

/// Draws the voter of each vote.
#[derive(Debug)]
pub(super) enum VoterSampler {
    Equal(u32),
    Weighted(WeightedAliasIndex<f64>),
}

impl VoterSampler {
    pub(super) fn new(voters: u32, activity: VoterActivity) -> Self {
        match activity {
            VoterActivity::Equal => Self::Equal(voters),
            VoterActivity::Zipf => {
                let weights = (1..=voters).map(|k| 1.0 / f64::from(k)).collect();
                Self::Weighted(WeightedAliasIndex::new(weights).expect("there is a voter, and weights are positive"))
            }
        }
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> u32 {
        match self {
            Self::Equal(voters) => rng.random_range(0..*voters),
            Self::Weighted(alias) => u32::try_from(alias.sample(rng)).expect("voters are counted in 32 bits"),
        }
    }
}
