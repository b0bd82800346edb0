//! Comparison of two runs of a benchmark, as a page and as JSON.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::leaderboards::leaderboard_view::name_of;
use super::super::request::error::PageError;
use crate::domain::benchmark::analysis::run_comparison::ComparedRuns;
use crate::domain::benchmark::analysis::run_comparison::RunComparison;
use crate::domain::benchmark::runs::run_manifest::SETTINGS_CHANGE_PREFIX;
use crate::domain::benchmark::suites::registry::suite as suite_named;
use crate::domain::benchmark::{SuiteOptions, custom_suite};
use crate::pages::benchmark as pages;
use crate::services::benchmark::error::BenchError;
use crate::state::AppState;

/// Maximum number of runs to choose from.
const MAX_LISTED_RUNS: u32 = 100;

/// Query parameters of the comparison; empty ones select no run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub(in crate::http) struct ComparisonQuery {
    /// Earlier run, by its id or a suffix of it.
    before: String,
    /// Later run, likewise.
    after: String,
}

/// Comparison of two runs of a suite.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ComparisonJson {
    /// Id of the earlier run.
    before: String,
    /// Id of the later run.
    after: String,
    /// Differences between the runs.
    #[serde(flatten)]
    comparison: RunComparison,
}

/// `GET /benchmarks/SUITE/compare`
///
/// # Errors
/// [`PageError`] for an unknown suite or run.
pub(in crate::http) async fn page(
    request: HttpRequest,
    path: web::Path<String>,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let suite = path.into_inner();
    let title = title(&app, &suite).await?;
    let name = |id: &str| name_of(id, &app.models);
    let mut runs = app.store.bench_runs_of(&suite, MAX_LISTED_RUNS).await.map_err(BenchError::from)?;
    for model in runs.iter_mut().flat_map(|row| &mut row.run.models) {
        *model = name(model);
    }
    let compared = load_compared_runs(&request, &app, &suite).await?.map(|found| Arc::new(with_names(&found, &name)));
    Ok(pages::comparison(&request, &pages::ComparisonView { suite, title, runs, compared }))
}

/// `GET /api/v1/benchmarks/SUITE/compare`
///
/// # Errors
/// As [`page`]; [`PageError::InvalidQuery`] without two runs.
pub(in crate::http) async fn json(
    request: HttpRequest,
    path: web::Path<String>,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let found = load_compared_runs(&request, &app, &path).await?;
    let found = found.ok_or_else(|| PageError::InvalidQuery("name two runs: before and after".into()))?;
    let ComparedRuns { before, after, comparison } = Arc::unwrap_or_clone(found);
    Ok(HttpResponse::Ok().json(ComparisonJson { before: before.run.id, after: after.run.id, comparison }))
}

async fn load_compared_runs(
    request: &HttpRequest,
    app: &AppState,
    suite: &str,
) -> Result<Option<Arc<ComparedRuns>>, PageError> {
    let wanted = web::Query::<ComparisonQuery>::from_query(request.query_string());
    let ComparisonQuery { before, after } =
        wanted.map_err(|_| PageError::InvalidQuery("each parameter is given once".into()))?.into_inner();
    if before.is_empty() || after.is_empty() {
        return Ok(None);
    }
    Ok(Some(app.suite_results.comparisons.latest(suite, [&before, &after]).await?))
}

/// Returns a comparison with display names in place of model ids.
fn with_names(compared: &ComparedRuns, name: &dyn Fn(&str) -> String) -> ComparedRuns {
    let mut named = compared.clone();
    for row in &mut named.comparison.models {
        row.model = name(&row.model);
    }
    for item in &mut named.comparison.items {
        item.model = name(&item.model);
    }
    for change in &mut named.comparison.changes {
        if let Some(model) = change.what.strip_prefix(SETTINGS_CHANGE_PREFIX) {
            change.what = format!("{SETTINGS_CHANGE_PREFIX}{}", name(model));
        }
    }
    named
}

/// Returns the display name of a suite.
async fn title(app: &AppState, suite: &str) -> Result<String, PageError> {
    let files = app.store.bench_suites().await.map_err(BenchError::from)?;
    let file = files.into_iter().find(|row| row.suite.as_str() == suite);
    let options = SuiteOptions::default();
    let known = match file.and_then(|row| row.declaration) {
        None => suite_named(suite, &options),
        Some(declaration) => custom_suite(&declaration, &options),
    };
    Ok(known.map_err(BenchError::from)?.title().to_owned())
}
