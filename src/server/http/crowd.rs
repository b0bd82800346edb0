//! Judges on the arena's own battles, as a page and as JSON.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};

use super::error::PageError;
use super::pages;
use crate::app::AppState;
use crate::domain::battle_judging::report::CrowdReport;
use crate::domain::rating::interval::ConfidenceLevel;
use crate::services::battle_judging::reports::CrowdError;

/// The latest report, at the confidence level of the leaderboard.
///
/// # Errors
/// [`PageError::Crowd`].
pub(super) async fn latest(app: &AppState) -> Result<Arc<CrowdReport>, PageError> {
    let level = ConfidenceLevel::new(app.settings.now().rating.confidence).map_err(CrowdError::from)?;
    Ok(app.crowd.latest(level).await?)
}

/// `GET /api/v1/crowd`: how far judges agree with people, as `langya judge report --format json` gives it.
///
/// # Errors
/// As [`latest`].
pub(super) async fn json(app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(HttpResponse::Ok().json(&*latest(&app).await?))
}

/// `GET /correlation/judges`
///
/// # Errors
/// As [`latest`].
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(pages::crowd::crowd(&request, &*latest(&app).await?))
}
