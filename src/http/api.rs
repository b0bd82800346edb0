//! JSON for programs, and the address that says whether the process runs.

use actix_web::{HttpResponse, web};
use serde::Serialize;

use crate::app::AppState;
use crate::rating::leaderboard::Leaderboard;

/// `GET /healthz`: the process runs.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

#[derive(Serialize)]
struct DatedLeaderboard<'a> {
    as_of: Option<i64>,
    #[serde(flatten)]
    board: &'a Leaderboard,
}

/// `GET /api/v1/leaderboard`: the latest leaderboard, as `langya fit --format json` gives it, with its date.
pub(super) async fn leaderboard(app: web::Data<AppState>) -> HttpResponse {
    let standing = app.standings.latest();
    let as_of = standing.fitted_at.map(|time| time.0);
    HttpResponse::Ok().json(DatedLeaderboard { as_of, board: &standing.board })
}

/// `GET /api/v1/pairing`: the policy, and the probability of each pair by the latest ratings, with every model healthy.
pub(super) async fn pairing(app: web::Data<AppState>) -> HttpResponse {
    HttpResponse::Ok().json(app.matchmaker.published())
}
