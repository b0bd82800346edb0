//! The page on which people sign in and out, where the arena is not open to everybody.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, respond};

/// What the page shows.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub(crate) struct SignInView {
    pub(crate) page: Page,
    /// Whether a code is asked for; else the passphrase.
    pub(crate) by_code: bool,
    /// What the provider is called, where people sign in at one and nothing is asked here.
    pub(crate) provider: Option<String>,
    /// Whether there is nothing to do but sign out.
    pub(crate) signed_in: bool,
    /// Why the last try failed.
    pub(crate) problem: Option<String>,
    /// What the form sends back.
    pub(crate) token: String,
}

/// Renders the page.
#[must_use]
pub(crate) fn sign_in_page(request: &HttpRequest, status: StatusCode, view: SignInView) -> HttpResponse {
    respond(request, status, &view)
}
