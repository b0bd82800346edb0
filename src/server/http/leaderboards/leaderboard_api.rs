//! The leaderboard, its robustness and the probabilities of pairs as JSON for programs.

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::request::error::PageError;
use super::leaderboard_view;
use crate::domain::integrity::exclusions::leaderboard_change::LeaderboardChange;
use crate::domain::integrity::rigging::rigging_report::RiggingReport;
use crate::domain::rating::leaderboards::leaderboard::Leaderboard;
use crate::domain::rating::robustness::OverallRobustness;
use crate::pages::leaderboards::leaderboard_query::LeaderboardQuery;
use crate::state::AppState;

/// Leaderboard with its date.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct DatedLeaderboard<'a> {
    /// Time of the fit, or the end of the selected votes, in milliseconds since 1970; `null` before the first fit.
    as_of: Option<i64>,
    #[serde(flatten)]
    leaderboard: &'a Leaderboard,
    /// Difference to the leaderboard of the rated votes, if other votes are selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<&'a LeaderboardChange>,
}

/// `GET /api/v1/leaderboard`: the latest leaderboard, as in `langya fit --format json`, with its date; with the parameters of
/// [`LeaderboardQuery`], that of a part of the votes or of a past time.
///
/// # Errors
/// [`PageError`] for invalid parameters.
pub(in crate::http) async fn leaderboard(
    request: HttpRequest,
    app: web::Data<AppState>,
) -> Result<HttpResponse, PageError> {
    let snapshot = app.leaderboard.latest();
    let fitted_at = snapshot.fitted_at.map(|time| time.0);
    let question = LeaderboardQuery::parse(request.query_string())?.filter()?;
    if question.is_plain() {
        return Ok(HttpResponse::Ok().json(DatedLeaderboard {
            as_of: fitted_at,
            leaderboard: &snapshot.leaderboard,
            change: None,
        }));
    }
    let study = leaderboard_view::answer(&app, &question).await?;
    let as_of = question.until.map_or(fitted_at, |until| Some(until.0));
    Ok(HttpResponse::Ok().json(DatedLeaderboard {
        as_of,
        leaderboard: &study.leaderboard,
        change: study.change.as_ref(),
    }))
}

/// Robustness of the leaderboard.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct DatedRobustness<'a> {
    /// Time of the report in milliseconds since 1970; `null` before the first one.
    as_of: Option<i64>,
    /// Sequence number of the latest vote in the report.
    last_vote_seq: i64,
    /// Report on the whole leaderboard.
    overall: &'a OverallRobustness,
}

/// `GET /api/v1/leaderboard/robustness`: the robustness of the leaderboard, as in `langya fit --robustness --format json`, with its date
/// and its latest vote. It lags behind the leaderboard; before the first report `as_of` is null.
pub(in crate::http) async fn robustness(app: web::Data<AppState>) -> HttpResponse {
    let latest = app.robustness.latest();
    let as_of = latest.report.computed_at.map(|time| time.0);
    HttpResponse::Ok().json(DatedRobustness {
        as_of,
        last_vote_seq: latest.last_vote_seq(),
        overall: &latest.report.overall,
    })
}

/// Resistance of the leaderboard to rigged votes.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct DatedRigging<'a> {
    /// Time of the report in milliseconds since 1970; `null` before the first one.
    as_of: Option<i64>,
    /// Sequence number of the latest vote in the report.
    last_vote_seq: i64,
    #[serde(flatten)]
    report: &'a RiggingReport,
}

/// `GET /api/v1/leaderboard/rigging`: number of votes that would swap neighbours, effect of the most influential voter, and leaderboard
/// without flagged voters, with date and latest vote as in [`robustness`]. It identifies no voter.
pub(in crate::http) async fn rigging(app: web::Data<AppState>) -> HttpResponse {
    let latest = app.robustness.latest();
    let as_of = latest.report.computed_at.map(|time| time.0);
    HttpResponse::Ok().json(DatedRigging {
        as_of,
        last_vote_seq: latest.last_vote_seq(),
        report: &latest.report.rigging,
    })
}

/// `GET /api/v1/pairing`: the policy, and the probability of each pair by the latest ratings, with every model healthy.
pub(in crate::http) async fn pairing(app: web::Data<AppState>) -> HttpResponse {
    HttpResponse::Ok().json(app.matchmaker.published())
}
