//! The page for a request that the arena cannot answer while its database does not answer.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, Section, respond};

#[derive(Template)]
#[template(path = "unavailable.html")]
struct UnavailablePage {
    page: Page,
}

/// Renders the page.
#[must_use]
pub(crate) fn unavailable(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    respond(request, status, &UnavailablePage { page: Page::new(request, Section::None) })
}
