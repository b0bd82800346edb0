//! The page for requests during a database outage.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, Section, respond};
use super::refused::is_of_admin;

#[derive(Template)]
#[template(path = "unavailable.html")]
struct UnavailablePage {
    page: Page,
    /// Whether a script keeps the typed fields of the unanswered form.
    is_admin: bool,
}

/// Renders the outage page.
#[must_use]
pub fn unavailable(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    let (page, is_admin) = (Page::new(request, Section::None), is_of_admin(request));
    respond(request, status, &UnavailablePage { page, is_admin })
}
