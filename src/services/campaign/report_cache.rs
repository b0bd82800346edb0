//! Reports of campaigns for pages, cached until a judgement or an exclusion changes.

use std::sync::Arc;
use std::time::Duration;

use super::reports::{CampaignReportError, campaign_report};
use crate::domain::campaign::report::CampaignReport;
use crate::domain::rating::options::LeaderboardOptions;
use crate::infra::single_flight::{SingleFlight, Throttle};
use crate::infra::storage::{CampaignRow, CampaignVersion, Store};
use crate::infra::tasks::Tasks;

/// Number of cached reports.
const CAPACITY: usize = 8;
/// Cool-down after a report, as a multiple of its duration.
const COOL_DOWN_FACTOR: u32 = 1;
/// Maximum wait for another report.
const REPORT_QUEUE_TIMEOUT: Duration = Duration::from_secs(10);

/// Cache of the latest reports.
pub struct CampaignReports {
    store: Store,
    reports: SingleFlight<JudgementsVersion, CampaignReport, CampaignReportError>,
}

/// Everything that a report depends on.
#[derive(Debug, Clone, PartialEq)]
struct JudgementsVersion {
    campaign: String,
    /// Creation time, which distinguishes a recreated campaign with the same id.
    created_at: i64,
    judged: CampaignVersion,
    options: LeaderboardOptions,
}

impl CampaignReports {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(store: Store, tasks: Tasks) -> Self {
        let throttle = Throttle::new(COOL_DOWN_FACTOR, REPORT_QUEUE_TIMEOUT);
        Self { store, reports: SingleFlight::new("report_campaign", CAPACITY, throttle, tasks) }
    }

    /// Returns the current report of a campaign. One report at a time is computed.
    ///
    /// # Errors
    /// [`CampaignReportError`].
    pub async fn latest(
        &self,
        campaign: &CampaignRow,
        options: &LeaderboardOptions,
    ) -> Result<Arc<CampaignReport>, CampaignReportError> {
        let key = JudgementsVersion {
            campaign: campaign.id.clone(),
            created_at: campaign.created_at.0,
            judged: self.store.campaign_version(&campaign.id).await?,
            options: options.clone(),
        };
        let make = || {
            let (store, campaign, options) = (self.store.clone(), campaign.clone(), options.clone());
            async move { campaign_report(&store, &campaign, &options).await }
        };
        Ok(self.reports.get(key, |_| true, make).await?)
    }
}
