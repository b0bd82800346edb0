//! The rules: how models are paired, what counts, how ratings are made, what is kept.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;

use super::{Page, Section, respond};
use crate::domain::language::Language;
use crate::server::state::AppState;

#[derive(Template)]
#[template(path = "about.html")]
struct AboutPage {
    page: Page,
    /// Whether models judge battles, so that their providers see them too.
    judged: bool,
}

/// `GET /about`
pub async fn about(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    rules(&request, !app.settings.now().judge.models.is_empty())
}

/// The rules, with a word on judges where there are any.
pub(super) fn rules(request: &HttpRequest, judged: bool) -> HttpResponse {
    let page = Page::new(request, Section::About);
    respond(request, StatusCode::OK, &AboutPage { page, judged })
}
