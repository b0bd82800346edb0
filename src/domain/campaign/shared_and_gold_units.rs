//! Which units of a campaign are for everybody, and of which the outcome is known.

use std::collections::{BTreeMap, BTreeSet};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::forecast::Forecast;
use super::items::{CampaignItem, GoldRow, ItemError};
use super::plan::CampaignPlan;
use super::unit_order::{Unit, units};
use crate::battle::Outcome;

/// All units of a campaign, in their order, and what they will take.
#[derive(Debug)]
pub struct CampaignUnits {
    /// The units.
    pub units: Vec<CampaignUnit>,
    /// What the campaign will take.
    pub forecast: Forecast,
}

/// A unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignUnit {
    /// Position of the item.
    pub item: usize,
    /// The models whose answers are shown, in the order of their names.
    pub models: Vec<String>,
    /// Whether every annotator judges it.
    pub shared: bool,
    /// The outcome, where it is known.
    pub gold: Option<Outcome>,
}

impl CampaignUnits {
    /// Draws which items everybody judges.
    ///
    /// # Errors
    /// [`ItemError`] for more units than a campaign can have.
    pub fn new(plan: &CampaignPlan, items: &[CampaignItem], gold: &[GoldRow]) -> Result<Self, ItemError> {
        let drawn = units(items, plan.task, plan.seed)?;
        let models: BTreeSet<&String> = items.iter().flat_map(|item| item.answers.keys()).collect();
        let mut of_item: BTreeMap<usize, u64> = BTreeMap::new();
        for unit in &drawn {
            *of_item.entry(unit.item).or_default() += 1;
        }
        let most = of_item.values().copied().max().unwrap_or(0);
        let forecast = Forecast::new(plan, items.len() as u64, models.len() as u64, drawn.len() as u64, most);
        let known = gold_by_pair(items, gold);
        let overlap = overlap_items(items.len(), plan.overlap_share, plan.seed);
        let mut in_overlap = BTreeSet::new();
        let unit = |unit: Unit| {
            let gold = known.get(&(unit.item, unit.models.iter().collect())).copied();
            // Nobody judges two units of an item, so one unit of an overlap item is for everybody.
            let shared = overlap.contains(&unit.item) && in_overlap.insert(unit.item);
            CampaignUnit { item: unit.item, shared: shared || gold.is_some(), gold, models: unit.models }
        };
        Ok(Self { units: drawn.into_iter().map(unit).collect(), forecast })
    }
}

/// Known outcomes by item and models, the models in the order of their names.
fn gold_by_pair<'g>(items: &[CampaignItem], gold: &'g [GoldRow]) -> BTreeMap<(usize, Vec<&'g String>), Outcome> {
    let places: BTreeMap<&str, usize> = items.iter().zip(0..).map(|(item, at)| (item.id.as_str(), at)).collect();
    let known = gold.iter().filter_map(|row| {
        let item = *places.get(row.item.as_str())?;
        let [a, b] = &row.models;
        Some(if a < b { ((item, vec![a, b]), row.outcome) } else { ((item, vec![b, a]), row.outcome.swapped()) })
    });
    known.collect()
}

/// The items of which every annotator judges one unit.
fn overlap_items(items: usize, share: f64, seed: u64) -> BTreeSet<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a count"
    )]
    let wanted = (items as f64 * share).round() as usize;
    let mut order: Vec<usize> = (0..items).collect();
    // Another stream than that of the units' order.
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed.wrapping_add(1)));
    order.into_iter().take(wanted).collect()
}
