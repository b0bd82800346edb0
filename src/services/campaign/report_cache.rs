//! Reports of campaigns for pages, cached until a judgement or an exclusion changes.

use std::sync::Arc;
use std::time::Duration;

use super::reports::{CampaignReportError, campaign_report};
use crate::domain::campaign::report::CampaignReport;
use crate::domain::rating::options::LeaderboardOptions;
use crate::infra::single_flight::{SingleFlight, Throttle};
use crate::infra::storage::{CampaignRow, CampaignVersion, Store};
use crate::infra::tasks::Tasks;

/// Reports that are kept.
const CAPACITY: usize = 8;
/// Rest after a report, as a multiple of its duration.
const REST_TIMES: u32 = 1;
/// Longest wait for another report.
const PATIENCE: Duration = Duration::from_secs(10);

/// The latest reports.
pub struct CampaignReports {
    store: Store,
    reports: SingleFlight<JudgementsVersion, CampaignReport, CampaignReportError>,
}

/// Everything that a report depends on.
#[derive(Debug, Clone, PartialEq)]
struct JudgementsVersion {
    campaign: String,
    /// A campaign that is deleted and made again is another one.
    created_at: i64,
    judged: CampaignVersion,
    options: LeaderboardOptions,
}

impl CampaignReports {
    /// A cache without a report.
    #[must_use]
    pub fn new(store: Store, tasks: Tasks) -> Self {
        let throttle = Throttle::new(REST_TIMES, PATIENCE);
        Self { store, reports: SingleFlight::new("report_campaign", CAPACITY, throttle, tasks) }
    }

    /// The report of a campaign as it stands now. One at a time is made.
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
