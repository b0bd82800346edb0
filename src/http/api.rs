//! JSON for programs, and the two addresses that a load balancer asks.

use actix_web::{HttpResponse, web};
use serde::Serialize;

use super::error::PageError;
use crate::app::AppState;
use crate::rating::leaderboard::Leaderboard;

/// `GET /healthz`: the process runs.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: battles can begin.
///
/// # Errors
/// [`PageError::NotReady`] where the database does not answer, [`PageError::NoModels`] where nobody could,
/// [`PageError::Draining`] where the process is about to end.
pub(super) async fn readyz(app: web::Data<AppState>) -> Result<&'static str, PageError> {
    if app.tasks.is_draining() {
        return Err(PageError::Draining);
    }
    app.store.ping().await.map_err(PageError::NotReady)?;
    if app.matchmaker.can_draw() { Ok("ready\n") } else { Err(PageError::NoModels) }
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
