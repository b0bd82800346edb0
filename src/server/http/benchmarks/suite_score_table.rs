//! Score table of all models and suites: as a page, JSON, CSV and SVG.

use std::sync::Arc;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::leaderboards::leaderboard_view::name_of;
use super::super::request::error::PageError;
use crate::domain::correlation::snapshot::CorrelationSnapshot;
use crate::domain::correlation::suite_score_table::{ScoreTableComparison, SuiteScoreTable};
use crate::domain::csv_injection::escape_formula;
use crate::pages::benchmark as pages;
use crate::pages::benchmark::suite_card::SuiteCard;
use crate::pages::requested_language;
use crate::render::chart::{Frame, Setting};
use crate::render::report::suite_score_table;
use crate::services::benchmark::error::BenchError;
use crate::state::AppState;

/// Query parameters of the score table; an empty one counts as absent, as forms send it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub(in crate::http) struct ScoreTableQuery {
    /// Baseline model, compared with the others on the same items.
    compare_with: String,
}

/// Data files of the suites with counts of their results, and the score table.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct Suites {
    /// Data files, one entry each.
    suites: Vec<SuiteCard>,
    /// Scores of the models in all suites; empty until they are computed.
    #[serde(rename = "board")]
    score_table: SuiteScoreTable,
    /// Comparison with the model of `compare_with`; null without one.
    compared: Option<ScoreTableComparison>,
}

/// `GET /benchmarks`
///
/// # Errors
/// [`PageError`] if the database fails, or for a model that is not in the score table.
pub(in crate::http) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let Suites { suites, score_table, compared } = read(&request, &app).await?;
    let name = |id: &str| name_of(id, &app.models);
    Ok(pages::suites(&request, &suites, &score_table, compared.as_ref(), &name))
}

/// `GET /api/v1/benchmarks`: the data files of suites with counts of their results, and the score table.
///
/// # Errors
/// As [`page`].
pub(in crate::http) async fn json(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    Ok(HttpResponse::Ok().json(read(&request, &app).await?))
}

/// `GET /api/v1/benchmarks.csv`: the score table, one line per model and suite.
///
/// # Errors
/// As [`page`].
pub(in crate::http) async fn csv(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let snapshot = app.correlation.latest();
    let score_table = score_table(&app, &snapshot);
    let compared = compared(&request, &app, &snapshot).await?;
    let csv = suite_score_table::csv(&score_table, compared.as_ref(), escape_formula).map_err(|_| PageError::Early)?;
    let name = "attachment; filename=\"benchmarks.csv\"";
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((header::CONTENT_DISPOSITION, name))
        .body(csv))
}

/// `GET /benchmarks.svg`: the score table as a heat map.
pub(in crate::http) async fn svg(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    let score_table = score_table(&app, &app.correlation.latest());
    let frame = Frame { language: requested_language(&request), setting: Setting::File };
    HttpResponse::Ok().content_type("image/svg+xml; charset=utf-8").body(suite_score_table::chart(&score_table, frame))
}

/// Returns the score table with costs at the prices of the current settings.
fn score_table(app: &AppState, snapshot: &CorrelationSnapshot) -> SuiteScoreTable {
    let settings = app.settings.now();
    let prices = |model: &str| settings.models.iter().find(|entry| entry.id == model)?.prices();
    snapshot.suite_score_table(&prices)
}

async fn read(request: &HttpRequest, app: &AppState) -> Result<Suites, PageError> {
    let summaries = app.suite_results.suites().await?;
    let suites = summaries.iter().map(SuiteCard::new).collect::<Result<_, _>>().map_err(BenchError::from)?;
    let snapshot = app.correlation.latest();
    let score_table = score_table(app, &snapshot);
    let compared = compared(request, app, &snapshot).await?;
    Ok(Suites { suites, score_table, compared })
}

async fn compared(
    request: &HttpRequest,
    app: &AppState,
    snapshot: &Arc<CorrelationSnapshot>,
) -> Result<Option<ScoreTableComparison>, PageError> {
    let wanted = web::Query::<ScoreTableQuery>::from_query(request.query_string());
    let wanted = wanted.map_err(|_| PageError::InvalidQuery("each parameter is given once".into()))?;
    if wanted.compare_with.is_empty() {
        return Ok(None);
    }
    let found = app.correlation.compare_with(snapshot, &wanted.compare_with).await?;
    let missing = || PageError::Missing(format!("no suite has a score of {:?}", wanted.compare_with));
    found.map(Some).ok_or_else(missing)
}
