//! The 404 page.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};

#[derive(Template)]
#[template(path = "not_found.html")]
struct NotFoundPage {
    page: Page,
}

/// Renders the 404 page.
#[must_use]
pub fn not_found(request: &HttpRequest) -> HttpResponse {
    let page = Page::at(request, Section::None, "/");
    respond(request, StatusCode::NOT_FOUND, &NotFoundPage { page })
}
