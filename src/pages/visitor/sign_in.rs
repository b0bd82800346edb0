//! The page for signing in and out of a non-public arena.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::{Page, respond};

/// Data of the sign-in page.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignInView {
    pub page: Page,
    /// Whether the form asks for an invite code; otherwise for the passphrase.
    pub by_code: bool,
    /// Name of the identity provider, if it replaces the form.
    pub provider: Option<String>,
    /// Whether the visitor is signed in: the page then only offers signing out, and warns about what is lost.
    pub signed_in: bool,
    /// Whether the visitor has just signed out.
    pub signed_out: bool,
    /// Reason why the last attempt failed.
    pub problem: Option<String>,
    /// Invite code typed then; `None` for a passphrase, which no page repeats.
    pub typed: Option<String>,
    /// CSRF token of the form.
    pub token: String,
}

/// Renders the sign-in page.
#[must_use]
pub fn sign_in_page(request: &HttpRequest, status: StatusCode, view: SignInView) -> HttpResponse {
    respond(request, status, &view)
}
