//! The page on which people sign in and out, where the arena is not open to everybody.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{Page, respond};

/// What the page shows.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignInView {
    pub page: Page,
    /// Whether a code is asked for; else the passphrase.
    pub by_code: bool,
    /// What the provider is called, where people sign in at one and nothing is asked here.
    pub provider: Option<String>,
    /// Whether there is nothing to do but sign out, and what is lost by that is said.
    pub signed_in: bool,
    /// Why the last try failed.
    pub problem: Option<String>,
    /// The code that was typed then; `None` for a passphrase, which no page repeats.
    pub typed: Option<String>,
    /// What the form sends back.
    pub token: String,
}

/// Renders the page.
#[must_use]
pub fn sign_in_page(request: &HttpRequest, status: StatusCode, view: SignInView) -> HttpResponse {
    respond(request, status, &view)
}
