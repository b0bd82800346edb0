//! The report of a campaign as a page: public once the campaign is closed, if its file allows that.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};

use super::request::error::PageError;
use crate::domain::campaign::plan::{CampaignPlan, is_id};
use crate::domain::language::Language;
use crate::domain::rating::options::LeaderboardOptions;
use crate::infra::storage::{CampaignRow, CampaignState};
use crate::pages::campaigns::campaign_report::PublicCampaignReportPage;
use crate::pages::{Page, Section, respond};
use crate::render::i18n::campaign_report::campaign_report_texts;
use crate::render::i18n::pages::MissingObject;
use crate::render::report::campaign::{Audience, CampaignDocument, html};
use crate::state::AppState;

/// Report for display.
pub(super) struct DocumentBody {
    /// Title of the campaign.
    pub(super) title: String,
    /// Report as safe HTML.
    pub(super) body: String,
}

/// `GET /campaign/{id}/report`
///
/// # Errors
/// [`PageError::MissingObject`] without a public report.
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let id = request.match_info().query("id");
    let row = if is_id(id) { app.store.campaign(id).await? } else { None };
    let missing = || PageError::MissingObject(MissingObject::CampaignReport);
    let row = row.filter(is_public).ok_or_else(missing)?;
    let page = Page::new(&request, Section::None);
    let DocumentBody { title, body } = document_body(&app, &row, Audience::Public, page.language).await?;
    let words = campaign_report_texts(page.language);
    Ok(respond(&request, StatusCode::OK, &PublicCampaignReportPage { page, words, title, body }))
}

fn is_public(row: &CampaignRow) -> bool {
    row.state == CampaignState::Closed && plan_of(row).is_ok_and(|plan| plan.public)
}

/// Renders the current report of a campaign.
///
/// # Errors
/// [`PageError`] if it cannot be computed.
pub(super) async fn document_body(
    app: &AppState,
    row: &CampaignRow,
    audience: Audience,
    language: Language,
) -> Result<DocumentBody, PageError> {
    let plan = plan_of(row)?;
    let min_votes = app.settings.now().rating.min_votes;
    let report = app.campaigns.latest(row, &LeaderboardOptions { min_votes, ..LeaderboardOptions::default() }).await?;
    let document = CampaignDocument::new(&report, &plan, audience, language);
    let body = html::body(&document, language)?;
    Ok(DocumentBody { title: document.title, body })
}

fn plan_of(row: &CampaignRow) -> Result<CampaignPlan, PageError> {
    serde_json::from_str(&row.plan).map_err(|_| PageError::Missing("this campaign cannot be read".into()))
}
