//! Pairing pool of the models, with the ratings of a leaderboard.

use super::MEAN_RATING;
use super::leaderboards::leaderboard::{Leaderboard, RankedModel};
use crate::battle::ModelId;
use crate::battle::pairing::{ModelPool, PairingRules, Policy, PoolEntry};

/// Builds the pairing pool of weighted models with the ratings of a leaderboard. Only [`Policy::Active`] reads `votes_between`.
pub fn pairing_pool(
    weighted: impl Iterator<Item = (ModelId, f64)>,
    leaderboard: &Leaderboard,
    votes_between: impl Fn(&str, &str) -> u64,
    rules: &PairingRules,
) -> ModelPool {
    let entries = weighted.filter(|(_, weight)| *weight > 0.0).map(|(id, weight)| {
        let row = leaderboard.models.iter().find(|row| row.model == id.as_str());
        PoolEntry {
            weight,
            rating: row.map_or(MEAN_RATING, RankedModel::rating_or_limit),
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
