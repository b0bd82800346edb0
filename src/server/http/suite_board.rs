//! All models and suites beside each other: as a page, JSON, CSV and a drawing.

use std::sync::Arc;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::PageError;
use super::pages::benchmark as pages;
use super::pages::benchmark::suite_card::SuiteCard;
use crate::domain::correlation::suite_board::{BoardComparison, SuiteBoard};
use crate::domain::csv_injection::defused;
use crate::render::chart::{Frame, Setting};
use crate::render::report::suite_board;
use crate::server::http::pages::requested_language;
use crate::server::state::AppState;
use crate::services::correlation::snapshot::CorrelationSnapshot;

/// What of the board is asked for; an empty parameter asks for nothing, as a form sends it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct BoardQuery {
    /// A model that the others are compared with on the same items.
    compare_with: String,
}

/// The data files of suites, what was done over each, and the models beside each other.
#[derive(Serialize, JsonSchema)]
pub(super) struct Suites {
    /// One entry a data file.
    suites: Vec<SuiteCard>,
    /// The models' scores in all suites; empty until they are computed.
    board: SuiteBoard,
    /// The models of the board beside the one that `compare_with` names; null where it names none.
    compared: Option<BoardComparison>,
}

/// `GET /benchmarks`
///
/// # Errors
/// [`PageError`] where the database fails, or the address names a model that is not on the board.
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let Suites { suites, board, compared } = read(&request, &app).await?;
    Ok(pages::suites(&request, &suites, &board, compared.as_ref()))
}

/// `GET /api/v1/benchmarks`: the data files of suites, what was done over each, and the models' scores beside each other.
///
/// # Errors
/// As [`page`].
pub(super) async fn json(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(HttpResponse::Ok().json(read(&request, &app).await?))
}

/// `GET /api/v1/benchmarks.csv`: the board, a line a model and suite.
///
/// # Errors
/// As [`page`].
pub(super) async fn csv(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let snapshot = app.correlation.latest();
    let board = board(&app, &snapshot);
    let compared = compared(&request, &app, &snapshot).await?;
    let table = suite_board::csv(&board, compared.as_ref(), defused).map_err(|_| PageError::Early)?;
    let name = "attachment; filename=\"benchmarks.csv\"";
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((header::CONTENT_DISPOSITION, name))
        .body(table))
}

/// `GET /benchmarks.svg`: the scores as shades.
pub(super) async fn svg(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    let board = board(&app, &app.correlation.latest());
    let frame = Frame { language: requested_language(&request), setting: Setting::File };
    HttpResponse::Ok().content_type("image/svg+xml; charset=utf-8").body(suite_board::chart(&board, frame))
}

/// The board with its costs by the prices of today's settings.
fn board(app: &AppState, snapshot: &CorrelationSnapshot) -> SuiteBoard {
    let settings = app.settings.now();
    let prices = |model: &str| settings.models.iter().find(|entry| entry.id == model)?.prices();
    snapshot.board(&prices)
}

async fn read(request: &HttpRequest, app: &AppState) -> Result<Suites, PageError> {
    let summaries = app.suite_results.suites().await?;
    let suites = summaries.iter().map(SuiteCard::new).collect::<Result<_, _>>()?;
    let snapshot = app.correlation.latest();
    let board = board(app, &snapshot);
    let compared = compared(request, app, &snapshot).await?;
    Ok(Suites { suites, board, compared })
}

async fn compared(
    request: &HttpRequest,
    app: &AppState,
    snapshot: &Arc<CorrelationSnapshot>,
) -> Result<Option<BoardComparison>, PageError> {
    let wanted = web::Query::<BoardQuery>::from_query(request.query_string());
    let wanted = wanted.map_err(|_| PageError::InvalidQuery("each parameter is given once".into()))?;
    if wanted.compare_with.is_empty() {
        return Ok(None);
    }
    let found = app.correlation.compare_with(snapshot, &wanted.compare_with).await?;
    let missing = || PageError::Missing(format!("no suite has a score of {:?}", wanted.compare_with));
    found.map(Some).ok_or_else(missing)
}
