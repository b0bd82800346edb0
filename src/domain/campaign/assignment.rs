//! Assignment of units and sides to annotators.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// Minimum number of judgements between an assignment and its repetition, where other units are left.
pub const REPEAT_DISTANCE: u32 = 5;

/// Reason for showing a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssignmentKind {
    /// The unit needs judgements.
    Fresh,
    /// All annotators judge the unit: an overlap item, or one with a known answer.
    Shared,
    /// The same annotator judges the unit again.
    Repeat,
}

impl AssignmentKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Fresh, Self::Shared, Self::Repeat];

    /// Returns the name in the database and in exports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Shared => "shared",
            Self::Repeat => "repeat",
        }
    }

    /// Parses [`as_str`](Self::as_str).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Progress of an annotator.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AnnotatorProgress {
    /// Number of units shown for the first time.
    pub first_time: u32,
    /// Number of units shown again.
    pub repeats: u32,
    /// Number of shared units shown for the first time.
    pub shared: u32,
}

/// Properties of a campaign that determine the next assignment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CampaignShape {
    /// Number of items.
    pub items: u32,
    /// Number of units that every annotator judges.
    pub shared_units: u32,
    /// Share of an annotator's judgements that are repeated.
    pub repeat_share: f64,
}

/// Returns the kinds to try, in this order. Repeats and shared units are spread evenly over an annotator's work: each is due when its share
/// of the shown units is reached, and repeats never exceed theirs.
#[must_use]
pub fn kinds_to_try(progress: AnnotatorProgress, shape: CampaignShape) -> Vec<AssignmentKind> {
    use AssignmentKind::{Fresh, Repeat, Shared};
    let shared_due = u64::from(progress.first_time + 1) * u64::from(shape.shared_units) / u64::from(shape.items.max(1));
    let first_time = if u64::from(progress.shared) < shared_due { [Shared, Fresh] } else { [Fresh, Shared] };
    let is_repeat_due = progress.repeats < repeats_of(progress.first_time, shape.repeat_share);
    match (is_repeat_due, progress.first_time > REPEAT_DISTANCE) {
        (false, _) => first_time.to_vec(),
        (true, true) => [&[Repeat], &first_time[..]].concat(),
        (true, false) => [&first_time[..], &[Repeat]].concat(),
    }
}

/// Returns the total number of repetitions for an annotator who has seen this many units.
#[must_use]
pub fn repeats_of(first_time: u32, repeat_share: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let repeats = (f64::from(first_time) * repeat_share + 1e-9) as u32;
    repeats
}

/// Creates the random number generator of an annotator's assignment, reproducible by the campaign's seed.
#[must_use]
pub fn rng_of(seed: u64, annotator: &str, number: u64) -> ChaCha8Rng {
    let hash = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(number.to_le_bytes());
    ChaCha8Rng::from_seed(hash.chain_update(annotator).finalize().into())
}

/// For each model, how often an annotator saw it on side A minus on side B.
pub type SideBalance = BTreeMap<String, i64>;

/// Orders the models of a unit for display. Of two, the one that this annotator saw less often on side A goes there, and a fair coin
/// decides ties, so that a preference for a side favours no model; more than two are shuffled.
#[must_use]
pub fn arrange(models: &[String], balance: &SideBalance, rng: &mut ChaCha8Rng) -> Vec<String> {
    let mut shown = models.to_vec();
    if let [one, other] = models {
        let of = |model: &String| balance.get(model).copied().unwrap_or(0);
        let swap = match of(one).cmp(&of(other)) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => rng.random(),
        };
        if swap {
            shown.swap(0, 1);
        }
    } else {
        shown.shuffle(rng);
    }
    shown
}

/// Counts two models that were shown as a pair.
pub fn count_sides(balance: &mut SideBalance, shown: &[String]) {
    if let [left, right] = shown {
        *balance.entry(left.clone()).or_default() += 1;
        *balance.entry(right.clone()).or_default() -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_and_shared_units_are_spread_evenly() {
        let shape = CampaignShape { items: 100, shared_units: 20, repeat_share: 0.1 };
        let mut progress = AnnotatorProgress::default();
        let mut kinds = Vec::new();
        for _ in 0..110 {
            let kind = kinds_to_try(progress, shape)[0];
            match kind {
                AssignmentKind::Repeat => progress.repeats += 1,
                AssignmentKind::Shared => {
                    (progress.shared, progress.first_time) = (progress.shared + 1, progress.first_time + 1)
                }
                AssignmentKind::Fresh => progress.first_time += 1,
            }
            kinds.push(kind);
        }
        assert_eq!((progress.first_time, progress.repeats, progress.shared), (100, 10, 20));
        for part in kinds.chunks(11) {
            assert_eq!(part.iter().filter(|kind| **kind == AssignmentKind::Shared).count(), 2, "{part:?}");
        }
        assert_eq!(kinds.iter().position(|kind| *kind == AssignmentKind::Repeat), Some(10));
        assert!(!kinds_to_try(progress, shape).contains(&AssignmentKind::Repeat), "all repeats were shown");
        let none = CampaignShape { repeat_share: 0.0, ..shape };
        assert!(
            !kinds_to_try(AnnotatorProgress { first_time: 50, ..progress }, none).contains(&AssignmentKind::Repeat)
        );
        assert_eq!(repeats_of(100, 0.1), 10);
        assert_eq!(repeats_of(9, 0.1), 0);
    }

    #[test]
    fn sides_are_balanced_within_an_annotator_for_every_model() {
        let seed = 11;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let (mut balance, mut coins) = (SideBalance::new(), 0);
        for round in 0..500 {
            let (one, other) = (round % 4, (round / 4 + round + 1) % 4);
            if one == other {
                continue;
            }
            let models = [names[one.min(other)].clone(), names[one.max(other)].clone()];
            let shown = arrange(&models, &balance, &mut rng);
            coins += usize::from(shown[0] == models[0]);
            count_sides(&mut balance, &shown);
            assert!(balance.values().all(|surplus| surplus.abs() <= 2), "seed {seed}: {balance:?}");
        }
        assert!(coins > 100, "seed {seed}: {coins}");
    }

    #[test]
    fn a_coin_decides_what_is_equal() {
        let models = ["a", "b"].map(str::to_owned);
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let first = (0..1000).filter(|_| arrange(&models, &SideBalance::new(), &mut rng)[0] == "a").count();
        assert!((430..570).contains(&first), "seed 5: {first}");
    }
}
