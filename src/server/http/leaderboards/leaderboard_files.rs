//! The leaderboard as files: CSV with every column of the JSON that fits in a row, and an SVG chart of the ratings.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};

use super::super::request::error::PageError;
use super::leaderboard_view::{answer, name_of};
use crate::domain::rating::leaderboards::leaderboard::{Leaderboard, RankedModel};
use crate::formats::tables::Format;
use crate::pages::leaderboards::leaderboard_query::LeaderboardQuery;
use crate::pages::requested_language;
use crate::render::chart::{self, Setting};
use crate::services::import_export::export::ranked_models;
use crate::state::AppState;

/// `GET /api/v1/leaderboard.csv`, with the parameters of [`LeaderboardQuery`].
///
/// # Errors
/// [`PageError`] for invalid parameters.
pub(in crate::http) async fn csv(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let mut table = Vec::new();
    let leaderboard = requested_leaderboard(&request, &app).await?;
    ranked_models(&leaderboard.models, Format::Csv, &mut table).map_err(|_| PageError::Early)?;
    let name = "attachment; filename=\"leaderboard.csv\"";
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((header::CONTENT_DISPOSITION, name))
        .body(table))
}

/// `GET /leaderboard.svg`, with the same parameters: ratings with their intervals.
///
/// # Errors
/// As [`csv()`].
pub(in crate::http) async fn svg(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let leaderboard = requested_leaderboard(&request, &app).await?;
    let named = |model: &RankedModel| RankedModel { model: name_of(&model.model, &app.models), ..model.clone() };
    let models: Vec<RankedModel> = leaderboard.models.iter().map(named).collect();
    let frame = chart::Frame { language: requested_language(&request), setting: Setting::File };
    let drawing = chart::forest::draw(&models, leaderboard.interval, leaderboard.confidence, frame);
    Ok(HttpResponse::Ok().content_type("image/svg+xml; charset=utf-8").body(drawing))
}

async fn requested_leaderboard(request: &HttpRequest, app: &AppState) -> Result<Leaderboard, PageError> {
    let filter = LeaderboardQuery::parse(request.query_string())?.filter()?;
    if filter.is_plain() {
        return Ok(app.leaderboard.latest().leaderboard.clone());
    }
    Ok(answer(app, &filter).await?.leaderboard.clone())
}
