//! Makes a campaign from its files.

use std::collections::{BTreeMap, BTreeSet};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::domain::battle::Outcome;
use crate::domain::campaign::forecast::Forecast;
use crate::domain::campaign::items::ItemError;
use crate::domain::campaign::units::{Unit, units};
use crate::domain::time::Timestamp;
use crate::formats::campaign_files::CampaignFiles;
use crate::infra::storage::{NewCampaign, NewUnit, Store, StoreError};

/// Why a campaign cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CreateCampaignError {
    /// Its items cannot be judged.
    #[error(transparent)]
    Items(#[from] ItemError),
    /// There is one of this id.
    #[error(
        "there is a campaign {0:?} already, with judgements of its own: give this one another id, or delete that one with `langya \
         campaign delete {0}`"
    )]
    Exists(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A campaign that is ready to be stored.
#[derive(Debug)]
pub struct PreparedCampaign {
    files: CampaignFiles,
    units: Vec<NewUnit>,
    forecast: Forecast,
}

impl PreparedCampaign {
    /// Lays out the units of the files.
    ///
    /// # Errors
    /// [`ItemError`] for more units than a campaign can have.
    pub fn new(files: CampaignFiles) -> Result<Self, ItemError> {
        let plan = &files.plan;
        let layout = units(&files.items, plan.task, plan.seed)?;
        let gold = gold_by_pair(&files);
        let overlap = overlap_items(files.items.len(), plan.overlap_share, plan.seed);
        let mut in_overlap = BTreeSet::new();
        let unit = |unit: &Unit| {
            let known = gold.get(&(unit.item, unit.models.iter().collect())).copied();
            // Nobody judges two units of an item, so one unit of an overlap item is for everybody.
            let shared = overlap.contains(&unit.item) && in_overlap.insert(unit.item);
            NewUnit {
                item: unit.item,
                models: serde_json::to_string(&unit.models).expect("names are JSON"),
                shared: shared || known.is_some(),
                gold: known.map(Outcome::as_str),
            }
        };
        let new_units: Vec<NewUnit> = layout.iter().map(unit).collect();
        let models: BTreeSet<&String> = files.items.iter().flat_map(|item| item.answers.keys()).collect();
        let mut of_item: BTreeMap<usize, u64> = BTreeMap::new();
        for unit in &layout {
            *of_item.entry(unit.item).or_default() += 1;
        }
        let most = of_item.values().copied().max().unwrap_or(0);
        let forecast = Forecast::new(plan, files.items.len() as u64, models.len() as u64, layout.len() as u64, most);
        Ok(Self { units: new_units, forecast, files })
    }

    /// What the campaign will take.
    #[must_use]
    pub fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// Id of the campaign.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.files.plan.id
    }

    /// Stores the campaign as a draft, with all its items or not at all. `progress` gets the number of items so far.
    ///
    /// # Errors
    /// [`CreateCampaignError`].
    pub async fn store(
        &self,
        store: &Store,
        now: Timestamp,
        progress: impl Fn(u64) + Sync,
    ) -> Result<(), CreateCampaignError> {
        let plan = serde_json::to_string(&self.files.plan).expect("texts and numbers are JSON");
        let id = &self.files.plan.id;
        let new = NewCampaign { id, plan: &plan, items: &self.files.items, units: &self.units, created_at: now };
        if store.insert_campaign(new, progress).await? { Ok(()) } else { Err(CreateCampaignError::Exists(id.clone())) }
    }
}

/// Known outcomes by item and models, the models in the order of their names.
fn gold_by_pair(files: &CampaignFiles) -> BTreeMap<(usize, Vec<&String>), Outcome> {
    let places: BTreeMap<&str, usize> = files.items.iter().zip(0..).map(|(item, at)| (item.id.as_str(), at)).collect();
    let known = files.gold.iter().filter_map(|row| {
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
