//! The leaderboard, its robustness and the probabilities of pairs as JSON for programs.

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::Serialize;

use super::error::PageError;
use super::leaderboard_view;
use crate::domain::integrity::leaderboard_change::LeaderboardChange;
use crate::domain::integrity::rigging_report::RiggingReport;
use crate::domain::rating::leaderboard::Leaderboard;
use crate::domain::rating::robustness::OverallRobustness;
use crate::pages::leaderboard_query::LeaderboardQuery;
use crate::state::AppState;

/// A leaderboard and its date.
#[derive(Serialize, JsonSchema)]
pub(super) struct DatedLeaderboard<'a> {
    /// Time of the fit, or the end of the votes that were asked for, in milliseconds since 1970; `null` before the first fit.
    as_of: Option<i64>,
    #[serde(flatten)]
    leaderboard: &'a Leaderboard,
    /// Against the leaderboard of the rated votes, where other votes are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<&'a LeaderboardChange>,
}

/// `GET /api/v1/leaderboard`: the latest leaderboard, as `langya fit --format json` gives it, with its date; with the
/// parameters of [`LeaderboardQuery`], that of a part of the votes or of a past moment.
///
/// # Errors
/// [`PageError`] where the address asks for what cannot be.
pub(super) async fn leaderboard(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
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

/// How firm the leaderboard is.
#[derive(Serialize, JsonSchema)]
pub(super) struct DatedRobustness<'a> {
    /// Time of the report in milliseconds since 1970; `null` before the first one.
    as_of: Option<i64>,
    /// Number of the latest vote in the report.
    last_vote_seq: i64,
    /// The report.
    overall: &'a OverallRobustness,
}

/// `GET /api/v1/leaderboard/robustness`: how firm the leaderboard is, as `langya fit --robustness --format json` gives it, with
/// its date and its latest vote. It follows the leaderboard at some distance; before the first report `as_of` is null.
pub(super) async fn robustness(app: web::Data<AppState>) -> HttpResponse {
    let latest = app.robustness.latest();
    let as_of = latest.report.computed_at.map(|time| time.0);
    HttpResponse::Ok().json(DatedRobustness {
        as_of,
        last_vote_seq: latest.last_vote_seq(),
        overall: &latest.report.overall,
    })
}

/// How well the leaderboard withstands rigged votes.
#[derive(Serialize, JsonSchema)]
pub(super) struct DatedRigging<'a> {
    /// Time of the report in milliseconds since 1970; `null` before the first one.
    as_of: Option<i64>,
    /// Number of the latest vote in the report.
    last_vote_seq: i64,
    #[serde(flatten)]
    report: &'a RiggingReport,
}

/// `GET /api/v1/leaderboard/rigging`: votes that would swap neighbours, the most influential voter, and the leaderboard without
/// flagged voters, with date and latest vote as [`robustness`] has them. It names no voter.
pub(super) async fn rigging(app: web::Data<AppState>) -> HttpResponse {
    let latest = app.robustness.latest();
    let as_of = latest.report.computed_at.map(|time| time.0);
    HttpResponse::Ok().json(DatedRigging {
        as_of,
        last_vote_seq: latest.last_vote_seq(),
        report: &latest.report.rigging,
    })
}

/// `GET /api/v1/pairing`: the policy, and the probability of each pair by the latest ratings, with every model healthy.
pub(super) async fn pairing(app: web::Data<AppState>) -> HttpResponse {
    HttpResponse::Ok().json(app.matchmaker.published())
}
