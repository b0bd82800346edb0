//! The public report of a campaign.

use askama::Template;

use super::super::Page;
use crate::render::i18n::campaign_report::CampaignReportTexts;

/// `GET /campaign/{id}/report`
#[derive(Template)]
#[template(path = "campaign_report.html")]
pub struct PublicCampaignReportPage {
    pub page: Page,
    pub words: &'static CampaignReportTexts,
    pub title: String,
    /// The report as safe HTML.
    pub body: String,
}
