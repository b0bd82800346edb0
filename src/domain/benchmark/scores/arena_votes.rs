//! Votes of the arena's visitors on the question of an item.

use std::collections::BTreeMap;

use crate::battle::{ModelId, Outcome};

/// Votes with one outcome between two models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionVotes {
    /// Models on sides A and B.
    pub models: [ModelId; 2],
    /// Outcome of the votes.
    pub outcome: Outcome,
    /// Number of votes.
    pub votes: u64,
}

/// Votes between two models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArenaPairVotes {
    /// Models in alphabetical order.
    pub models: [ModelId; 2],
    /// Number of wins of each model.
    pub wins: [u64; 2],
    /// Number of ties.
    pub ties: u64,
    /// Number of votes that both were bad.
    pub both_bad: u64,
}

/// Counts votes by pair of models, regardless of the sides.
#[must_use]
pub fn pair_votes(votes: &[QuestionVotes]) -> Vec<ArenaPairVotes> {
    let mut pairs: BTreeMap<[&ModelId; 2], ArenaPairVotes> = BTreeMap::new();
    for QuestionVotes { models: [a, b], outcome, votes } in votes {
        let is_turned = b < a;
        let models = if is_turned { [b, a] } else { [a, b] };
        let pair = pairs.entry(models).or_insert_with(|| ArenaPairVotes {
            models: models.map(Clone::clone),
            wins: [0; 2],
            ties: 0,
            both_bad: 0,
        });
        match if is_turned { outcome.swapped() } else { *outcome } {
            Outcome::AWins => pair.wins[0] += votes,
            Outcome::BWins => pair.wins[1] += votes,
            Outcome::Tie => pair.ties += votes,
            Outcome::BothBad => pair.both_bad += votes,
        }
    }
    pairs.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_the_same_on_either_side() {
        let votes =
            |models: [&str; 2], outcome, votes| QuestionVotes { models: models.map(ModelId::new), outcome, votes };
        let counted = pair_votes(&[
            votes(["b", "a"], Outcome::AWins, 3),
            votes(["a", "b"], Outcome::AWins, 1),
            votes(["a", "b"], Outcome::BWins, 2),
            votes(["b", "a"], Outcome::Tie, 4),
            votes(["a", "c"], Outcome::BothBad, 5),
        ]);
        let pair = |models: [&str; 2], wins, ties, both_bad| ArenaPairVotes {
            models: models.map(ModelId::new),
            wins,
            ties,
            both_bad,
        };
        assert_eq!(counted, [pair(["a", "b"], [1, 5], 4, 0), pair(["a", "c"], [0, 0], 0, 5)]);
        assert_eq!(pair_votes(&[]), []);
    }
}
