//! The report of a campaign for everybody.

use askama::Template;

use super::Page;
use crate::render::i18n::campaign_report::CampaignReportTexts;

/// `GET /campaign/{id}/report`
#[derive(Template)]
#[template(path = "campaign_report.html")]
pub(crate) struct PublicCampaignReportPage {
    pub(crate) page: Page,
    pub(crate) words: &'static CampaignReportTexts,
    pub(crate) title: String,
    /// The report as safe HTML.
    pub(crate) body: String,
}
