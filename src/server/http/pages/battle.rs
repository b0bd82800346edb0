//! The battle page: ask, read two replies, vote, see the names. `static/js/battle.js` speaks the wire.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;

use super::{Page, Section, respond};
use crate::domain::language::Language;
use crate::server::state::AppState;

#[derive(Template)]
#[template(path = "battle.html")]
struct BattlePage {
    page: Page,
    /// The words that the script needs, as JSON.
    script_strings: String,
    /// The longest prompt that the arena takes.
    max_prompt_bytes: usize,
}

/// `GET /`
pub async fn battle(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    battle_page(&request, app.settings.now().battle.max_prompt_bytes)
}

/// The page of an arena that takes prompts of so many bytes.
pub(super) fn battle_page(request: &HttpRequest, max_prompt_bytes: usize) -> HttpResponse {
    let page = Page::new(request, Section::Battle);
    let script_strings = serde_json::to_string(&page.t().script).expect("a struct of strings is JSON");
    respond(request, StatusCode::OK, &BattlePage { page, script_strings, max_prompt_bytes })
}
