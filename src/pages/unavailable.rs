//! The page for a request that the arena cannot answer while its database does not answer.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::refused::is_of_admin;
use super::{Page, Section, respond};

#[derive(Template)]
#[template(path = "unavailable.html")]
struct UnavailablePage {
    page: Page,
    /// Whether a script keeps what was typed into the form that is not answered.
    is_admin: bool,
}

/// Renders the page.
#[must_use]
pub fn unavailable(request: &HttpRequest, status: StatusCode) -> HttpResponse {
    let (page, is_admin) = (Page::new(request, Section::None), is_of_admin(request));
    respond(request, status, &UnavailablePage { page, is_admin })
}
