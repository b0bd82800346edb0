//! Value for money of models, as a page and as JSON.

use std::collections::BTreeSet;

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::request::error::PageError;
use crate::domain::battle::ModelId;
use crate::domain::rating::leaderboards::leaderboard_filter::LeaderboardFilter;
use crate::domain::rating::value::report::ValueReport;
use crate::pages;
use crate::pages::leaderboards::leaderboard_query::LeaderboardQuery;
use crate::pages::leaderboards::value::ValueView;
use crate::state::AppState;

/// Value-for-money report of models.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct DatedReport<'a> {
    /// Time of the latest leaderboard in milliseconds since 1970; `null` before the first one.
    as_of: Option<i64>,
    #[serde(flatten)]
    report: &'a ValueReport,
}

/// `GET /api/v1/leaderboard/value`, with the parameters of [`LeaderboardQuery`] except `until`.
///
/// # Errors
/// As [`report`].
pub(in crate::http) async fn json(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let as_of = app.leaderboard.latest().fitted_at.map(|time| time.0);
    let report = report(&app, &filter_of(&LeaderboardQuery::parse(request.query_string())?)?).await?;
    Ok(HttpResponse::Ok().json(DatedReport { as_of, report: &report }))
}

/// `GET /leaderboard/value`
///
/// # Errors
/// As [`report`].
pub(in crate::http) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let query = LeaderboardQuery::parse(request.query_string())?;
    let report = report(&app, &filter_of(&query)?).await?;
    let report = report.renamed(|model| app.models.card(&ModelId::new(model)).name);
    Ok(pages::leaderboards::value::value(&request, &ValueView { query: query.query_string(), report }))
}

/// Returns the filter of a query. Prices are the current ones, so a past time is refused. `pool_by` and `level`, which links from the
/// leaderboard carry, do not apply and are ignored.
///
/// # Errors
/// [`PageError::InvalidQuery`] for invalid parameters.
fn filter_of(query: &LeaderboardQuery) -> Result<LeaderboardFilter, PageError> {
    let filter = query.filter()?;
    if filter.until.is_some() {
        return Err(PageError::InvalidQuery(
            "until is not supported here: prices and times are the current ones".into(),
        ));
    }
    Ok(LeaderboardFilter { pool_by: None, level: false, ..filter })
}

/// Returns the report, with the votes of the latest leaderboard or slightly fewer.
///
/// # Errors
/// [`PageError::FilteredLeaderboard`].
async fn report(app: &AppState, filter: &LeaderboardFilter) -> Result<ValueReport, PageError> {
    let latest = app.leaderboard.latest();
    let names = latest.leaderboard.models.iter().map(|row| row.model.as_str());
    let practice: BTreeSet<String> =
        names.filter(|model| app.models.card(&ModelId::new(*model)).practice).map(str::to_owned).collect();
    Ok(app.value.get(filter, latest.last_public_seq(), &practice).await?)
}
