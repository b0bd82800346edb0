//! What another pairing would change: the chances of models and of pairs, beside those of today.

use std::collections::BTreeMap;

use super::PairProbability;
use crate::battle::ModelId;

/// A chance as it is and as it would be.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ChanceChange {
    /// Today's.
    pub today: f64,
    /// Under the other pairing.
    pub then: f64,
}

/// Two models that may meet.
#[derive(Debug, Clone, PartialEq)]
pub struct PairChange {
    /// They, by id.
    pub models: [ModelId; 2],
    /// The chance that a battle is between them.
    pub chance: ChanceChange,
}

/// What another pairing would change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairingPreview {
    /// The chance that a battle has a model, by id.
    pub models: BTreeMap<ModelId, ChanceChange>,
    /// All pairs, the likeliest under the other pairing first.
    pub pairs: Vec<PairChange>,
}

impl PairingPreview {
    /// Compares the pairs of today with those of another pairing; a pair that one of them lacks has no chance there.
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
