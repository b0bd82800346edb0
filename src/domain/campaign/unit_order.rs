//! Units of judgement, in the order of assignment.
//!
//! A unit is a pair of answers of an item, one answer, or all answers of an item, by the task. Every item has its turn before any item has
//! a second one, and of an item's pairs the one whose models have met least so far is taken, so that the pairs of models are balanced at
//! every moment of a campaign and not only at its end.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::items::{CampaignItem, ItemError};
use super::plan::Task;

/// Maximum number of units per campaign.
pub const MAX_UNITS: usize = 2_000_000;

/// Unit of judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Position of the item.
    pub item: usize,
    /// Models whose answers are shown, in the order of their names.
    pub models: Vec<String>,
}

/// Returns the units of the items in the order of assignment, reproducible by the seed.
///
/// # Errors
/// [`ItemError`] for more units than a campaign can have.
pub fn units(items: &[CampaignItem], task: Task, seed: u64) -> Result<Vec<Unit>, ItemError> {
    let total: usize = items.iter().map(|item| count(item.answers.len(), task)).sum();
    if total > MAX_UNITS {
        let reason = format!(
            "the items have {total} pairs of answers: give at most {MAX_UNITS}, for example fewer models an item"
        );
        return Err(ItemError { place: "the file".into(), reason });
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.shuffle(&mut rng);
    let mut left: Vec<Vec<Vec<String>>> = items.iter().map(|item| of_item(item, task)).collect();
    let mut met: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    let mut units = Vec::with_capacity(total);
    while units.len() < total {
        for &item in &order {
            let Some(models) = remove_rarest_unit(&mut left[item], &met, &mut rng) else { continue };
            *met.entry(models.clone()).or_default() += 1;
            units.push(Unit { item, models });
        }
    }
    Ok(units)
}

fn count(answers: usize, task: Task) -> usize {
    match task {
        Task::Pairwise => answers * answers.saturating_sub(1) / 2,
        Task::Score => answers,
        Task::Rank => 1,
    }
}

fn of_item(item: &CampaignItem, task: Task) -> Vec<Vec<String>> {
    let models: Vec<&String> = item.answers.keys().collect();
    match task {
        Task::Pairwise => {
            let pairs = models.iter().enumerate();
            pairs
                .flat_map(|(at, one)| models[at + 1..].iter().map(|other| vec![(*one).clone(), (*other).clone()]))
                .collect()
        }
        Task::Score => models.into_iter().map(|model| vec![model.clone()]).collect(),
        Task::Rank => vec![models.into_iter().cloned().collect()],
    }
}

/// Takes the unit whose models have been taken least often; a random one among equals.
fn remove_rarest_unit(
    left: &mut Vec<Vec<String>>,
    met: &BTreeMap<Vec<String>, u64>,
    rng: &mut ChaCha8Rng,
) -> Option<Vec<String>> {
    let times = |models: &Vec<String>| met.get(models).copied().unwrap_or(0);
    let fewest = left.iter().map(times).min()?;
    let rarest: Vec<usize> = (0..left.len()).filter(|at| times(&left[*at]) == fewest).collect();
    Some(left.swap_remove(rarest[rng.random_range(0..rarest.len())]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn items(count: usize, models: &[&str]) -> Vec<CampaignItem> {
        let answers: BTreeMap<String, String> =
            models.iter().map(|model| ((*model).to_owned(), "text".to_owned())).collect();
        let item = |at: usize| CampaignItem {
            id: at.to_string(),
            prompt: "p".into(),
            reference: String::new(),
            category: String::new(),
            language: String::new(),
            answers: answers.clone(),
        };
        (0..count).map(item).collect()
    }

    #[test]
    fn every_unit_comes_once_and_every_item_before_any_comes_again() {
        let items = items(20, &["a", "b", "c", "d"]);
        for (task, each) in [(Task::Pairwise, 6), (Task::Score, 4), (Task::Rank, 1)] {
            let units = units(&items, task, 7).unwrap();
            assert_eq!(units.len(), 20 * each);
            let distinct: BTreeSet<(usize, &Vec<String>)> =
                units.iter().map(|unit| (unit.item, &unit.models)).collect();
            assert_eq!(distinct.len(), units.len());
            for round in units.chunks(20) {
                assert_eq!(round.iter().map(|unit| unit.item).collect::<BTreeSet<_>>().len(), 20, "{task:?}");
            }
        }
    }

    #[test]
    fn pairs_of_models_are_balanced_at_every_moment() {
        let units = units(&items(50, &["a", "b", "c", "d"]), Task::Pairwise, 3).unwrap();
        let mut met: BTreeMap<&Vec<String>, u32> = BTreeMap::new();
        for (at, unit) in units.iter().enumerate() {
            *met.entry(&unit.models).or_default() += 1;
            // The last round takes the remaining pairs, so it may be as uneven as the earlier rounds.
            if at + 1 >= 6 && at < 250 {
                let (least, most) = (met.values().min().unwrap(), met.values().max().unwrap());
                assert!(most - least <= 2 && met.len() == 6, "after {}: {met:?}", at + 1);
            }
        }
        assert!(met.values().all(|times| *times == 50));
    }

    #[test]
    fn a_seed_gives_an_order_and_another_seed_another_one() {
        let items = items(30, &["a", "b", "c"]);
        let of = |seed| units(&items, Task::Pairwise, seed).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn too_many_units_are_refused() {
        let names: Vec<String> = (0..300).map(|at| format!("m{at}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let error = units(&items(50, &names), Task::Pairwise, 1).unwrap_err();
        assert!(error.to_string().contains("2242500 pairs"), "{error}");
    }
}
