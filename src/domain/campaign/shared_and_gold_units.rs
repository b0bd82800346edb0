//! Units that all annotators judge, and units with a known outcome.

use std::collections::{BTreeMap, BTreeSet};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::forecast::Forecast;
use super::items::{CampaignItem, GoldRow, ItemError};
use super::plan::CampaignPlan;
use super::unit_order::{Unit, units};
use crate::battle::Outcome;

/// Units of a campaign in their order, with the forecast.
#[derive(Debug)]
pub struct CampaignUnits {
    /// Units in the order of assignment.
    pub units: Vec<CampaignUnit>,
    /// Forecast of the campaign.
    pub forecast: Forecast,
}

/// Unit of a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignUnit {
    /// Position of the item.
    pub item: usize,
    /// Models whose answers are shown, in the order of their names.
    pub models: Vec<String>,
    /// Whether every annotator judges the unit.
    pub shared: bool,
    /// Known outcome, if any.
    pub gold: Option<Outcome>,
}

impl CampaignUnits {
    /// Samples the items that everybody judges, and builds the units.
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
            // Nobody judges two units of an item, so one unit of an overlap item is shared.
            let shared = overlap.contains(&unit.item) && in_overlap.insert(unit.item);
            CampaignUnit { item: unit.item, shared: shared || gold.is_some(), gold, models: unit.models }
        };
        Ok(Self { units: drawn.into_iter().map(unit).collect(), forecast })
    }
}

/// Returns known outcomes by item and models, in the order of the models' names.
fn gold_by_pair<'g>(items: &[CampaignItem], gold: &'g [GoldRow]) -> BTreeMap<(usize, Vec<&'g String>), Outcome> {
    let places: BTreeMap<&str, usize> = items.iter().zip(0..).map(|(item, at)| (item.id.as_str(), at)).collect();
    let known = gold.iter().filter_map(|row| {
        let item = *places.get(row.item.as_str())?;
        let [a, b] = &row.models;
        Some(if a < b { ((item, vec![a, b]), row.outcome) } else { ((item, vec![b, a]), row.outcome.swapped()) })
    });
    known.collect()
}

/// Samples the items of which every annotator judges one unit.
fn overlap_items(items: usize, share: f64, seed: u64) -> BTreeSet<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a count"
    )]
    let wanted = (items as f64 * share).round() as usize;
    let mut order: Vec<usize> = (0..items).collect();
    // Independent of the random stream of the units' order.
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed.wrapping_add(1)));
    order.into_iter().take(wanted).collect()
}
