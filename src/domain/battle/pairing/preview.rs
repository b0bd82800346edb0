//! Preview of a change of pairing: probabilities of models and pairs, now and then.

use std::collections::BTreeMap;

use super::PairProbability;
use crate::battle::ModelId;

/// Probability under the current and under the new pairing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChanceChange {
    /// Probability under the current pairing.
    pub today: f64,
    /// Probability under the new pairing.
    pub then: f64,
}

/// Pair of models with its change of probability.
#[derive(Debug, Clone, PartialEq)]
pub struct PairChange {
    /// The two models, ordered by id.
    pub models: [ModelId; 2],
    /// Probability that a battle is between them.
    pub chance: ChanceChange,
}

/// Preview of a change of pairing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairingPreview {
    /// Probability that a battle includes a model, by id.
    pub models: BTreeMap<ModelId, ChanceChange>,
    /// All pairs, the likeliest under the new pairing first.
    pub pairs: Vec<PairChange>,
}

impl PairingPreview {
    /// Compares two pairings; a pair missing from one has probability 0 there.
    #[must_use]
    pub fn new(today: &[PairProbability], then: &[PairProbability]) -> Self {
        let mut pairs: BTreeMap<[ModelId; 2], ChanceChange> = BTreeMap::new();
        for pair in today {
            pairs.entry(ordered(pair)).or_default().today += pair.probability;
        }
        for pair in then {
            pairs.entry(ordered(pair)).or_default().then += pair.probability;
        }
        let mut models: BTreeMap<ModelId, ChanceChange> = BTreeMap::new();
        for (pair, chance) in &pairs {
            for model in pair {
                let of_model = models.entry(model.clone()).or_default();
                of_model.today += chance.today;
                of_model.then += chance.then;
            }
        }
        let mut pairs: Vec<PairChange> =
            pairs.into_iter().map(|(models, chance)| PairChange { models, chance }).collect();
        pairs.sort_by(|one, other| {
            let then = other.chance.then.total_cmp(&one.chance.then);
            then.then(other.chance.today.total_cmp(&one.chance.today))
        });
        Self { models, pairs }
    }
}

fn ordered(pair: &PairProbability) -> [ModelId; 2] {
    let mut models = [pair.first.clone(), pair.second.clone()];
    models.sort();
    models
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(first: &str, second: &str, probability: f64) -> PairProbability {
        PairProbability { first: ModelId::new(first), second: ModelId::new(second), probability }
    }

    #[test]
    fn chances_of_models_are_sums_over_their_pairs_and_the_likeliest_pair_comes_first() {
        let today = [pair("a", "b", 0.5), pair("c", "a", 0.25), pair("b", "c", 0.25)];
        let preview = PairingPreview::new(&today, &[pair("b", "a", 0.25), pair("a", "d", 0.75)]);
        let chance = |id: &str| preview.models[&ModelId::new(id)];
        assert_eq!(chance("a"), ChanceChange { today: 0.75, then: 1.0 });
        assert_eq!(
            (chance("c"), chance("d")),
            (ChanceChange { today: 0.5, then: 0.0 }, ChanceChange { today: 0.0, then: 0.75 })
        );
        let first: Vec<String> = preview.pairs[0].models.iter().map(ToString::to_string).collect();
        assert_eq!((first, preview.pairs.len()), (vec!["a".to_owned(), "d".to_owned()], 4));
        assert_eq!(preview.pairs[1].chance, ChanceChange { today: 0.5, then: 0.25 });
    }
}
