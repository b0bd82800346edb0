//! Creates a campaign from its files.

use crate::domain::battle::Outcome;
use crate::domain::campaign::forecast::Forecast;
use crate::domain::campaign::items::ItemError;
use crate::domain::campaign::shared_and_gold_units::{CampaignUnit, CampaignUnits};
use crate::formats::campaign_files::CampaignFiles;
use crate::infra::storage::{NewAuditEntry, NewCampaign, NewUnit, Store, StoreError};

/// Error of creating a campaign.
#[derive(Debug, thiserror::Error)]
pub enum CreateCampaignError {
    /// Invalid items.
    #[error(transparent)]
    Items(#[from] ItemError),
    /// A campaign with this id exists.
    #[error(
        "there is a campaign {0:?} already, with judgements of its own: give this one another id, or delete that one with `langya \
         campaign delete {0}`"
    )]
    Exists(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Campaign that is ready to be stored.
#[derive(Debug)]
pub struct PreparedCampaign {
    files: CampaignFiles,
    units: Vec<NewUnit>,
    forecast: Forecast,
}

impl PreparedCampaign {
    /// Prepares the units of the files.
    ///
    /// # Errors
    /// [`ItemError`] for more units than a campaign can have.
    pub fn new(files: CampaignFiles) -> Result<Self, ItemError> {
        let order = CampaignUnits::new(&files.plan, &files.items, &files.gold)?;
        let unit = |unit: &CampaignUnit| NewUnit {
            item: unit.item,
            models: serde_json::to_string(&unit.models).expect("names are JSON"),
            shared: unit.shared,
            gold: unit.gold.map(Outcome::as_str),
        };
        let units = order.units.iter().map(unit).collect();
        Ok(Self { units, forecast: order.forecast, files })
    }

    /// Returns the forecast of the campaign's effort.
    #[must_use]
    pub fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// Returns the id of the campaign.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.files.plan.id
    }

    /// Stores the campaign as a draft with its items and its audit log entry, in one transaction. `progress` gets the number of items so
    /// far.
    ///
    /// # Errors
    /// [`CreateCampaignError`].
    pub async fn store(
        &self,
        store: &Store,
        audit: &NewAuditEntry,
        progress: impl Fn(u64) + Sync,
    ) -> Result<(), CreateCampaignError> {
        let plan = serde_json::to_string(&self.files.plan).expect("texts and numbers are JSON");
        let id = &self.files.plan.id;
        let new =
            NewCampaign { id, plan: &plan, items: &self.files.items, units: &self.units, created_at: audit.acted_at };
        if store.insert_campaign(new, audit, progress).await? {
            Ok(())
        } else {
            Err(CreateCampaignError::Exists(id.clone()))
        }
    }
}
