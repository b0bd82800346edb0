//! Model judges of the arena's battles, as a page and as JSON.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};

use super::super::leaderboards::leaderboard_view::name_of;
use super::super::request::error::PageError;
use crate::domain::battle_judging::report::BattleJudgingReport;
use crate::domain::rating::FitError;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::pages;
use crate::services::battle_judging::reports::BattleJudgingError;
use crate::state::AppState;

/// Returns the latest report, at the confidence level of the leaderboard.
///
/// # Errors
/// [`PageError::BattleJudging`].
pub(in crate::http) async fn latest(app: &AppState) -> Result<Arc<BattleJudgingReport>, PageError> {
    let level = ConfidenceLevel::new(app.settings.now().rating.confidence)
        .map_err(FitError::from)
        .map_err(BattleJudgingError::from)?;
    Ok(app.battle_judging.latest(level).await?)
}

/// `GET /api/v1/judges`: agreement of judges with people, as in `langya judge report --format json`.
///
/// # Errors
/// As [`latest`].
pub(in crate::http) async fn json(app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(HttpResponse::Ok().json(&*latest(&app).await?))
}

/// `GET /judges`: the same report, with display names of models and judges.
///
/// # Errors
/// As [`latest`].
pub(in crate::http) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let report = BattleJudgingReport::clone(&*latest(&app).await?);
    Ok(pages::judges::judges(&request, &report.with_names(|id| name_of(id, &app.models))))
}
