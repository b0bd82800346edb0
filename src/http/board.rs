//! The latest leaderboard as a page and as the frame that open pages take in: one view, so that they cannot differ.

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;

use super::pages::Language;
use super::pages::leaderboard::{self, LeaderboardRow, LeaderboardView};
use crate::app::AppState;
use crate::battle::ModelId;
use crate::rating::leaderboard::RankedModel;
use crate::services::models::Models;

/// `GET /leaderboard`
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    leaderboard::leaderboard(&request, &view(&app))
}

#[derive(Serialize)]
struct Frame {
    #[serde(rename = "type")]
    kind: &'static str,
    as_of: Option<i64>,
    votes: u64,
    html: String,
}

/// The leaderboard as `/ws/leaderboard` says it.
pub(super) fn frame(app: &AppState, language: Language) -> String {
    let view = view(app);
    let html = leaderboard::rows_html(&view, language);
    let frame = Frame { kind: "leaderboard", as_of: view.as_of_ms, votes: view.votes, html };
    serde_json::to_string(&frame).expect("a frame is text and whole numbers")
}

fn view(app: &AppState) -> LeaderboardView {
    let standing = app.standings.latest();
    LeaderboardView {
        as_of_ms: standing.fitted_at.map(|time| time.0),
        votes: standing.board.votes.rated,
        notes: standing.board.notes.clone(),
        rows: standing.board.models.iter().map(|model| row(model, &app.models)).collect(),
    }
}

fn row(model: &RankedModel, models: &Models) -> LeaderboardRow {
    let card = models.card(&ModelId::new(&model.model));
    LeaderboardRow {
        rank: u32::try_from(model.rank).ok(),
        model: model.model.clone(),
        name: card.name,
        organization: card.organization,
        license: card.license,
        practice: card.practice,
        rating: Some(model.rating),
        lower: model.lower,
        upper: model.upper,
        elo: model.elo,
        battles: model.battles,
        win_tie_rate: Some(model.win_tie_rate),
        provisional: model.provisional,
        unbounded: model.unbounded.is_some(),
    }
}
