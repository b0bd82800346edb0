//! CSRF protection of forms: each carries a token signed for the visitor's session, and is accepted from the arena's own pages only. So no
//! other site can act for a visitor.

use actix_web::HttpRequest;
use actix_web::HttpResponse;
use actix_web::http::header;
use serde::Deserialize;

use super::request::error::PageError;
use super::request::hosts;
use super::session::Visitor;
use crate::state::AppState;

/// Maximum size of a form in bytes.
pub(super) const MAX_FORM_BYTES: usize = 4_096;
/// Purpose that the token's signature covers.
const TOKEN_PURPOSE: &str = "form";

/// Form with no field but its token.
#[derive(Deserialize)]
pub(super) struct TokenForm {
    pub(super) token: String,
}

/// Returns the visitor of a request.
pub(super) fn visitor(request: &HttpRequest, app: &AppState) -> Visitor {
    Visitor::from_request(request, &app.sessions, &app.settings.now().server.public_url)
}

/// Returns the CSRF token of this visitor's forms.
pub(super) fn token(app: &AppState, visitor: &Visitor) -> String {
    app.sessions.signature(TOKEN_PURPOSE, visitor.session.id.as_str())
}

/// Checks that a form comes from one of the arena's own pages and carries the token of this session.
///
/// # Errors
/// [`PageError::ForeignForm`] otherwise.
pub(super) fn check(request: &HttpRequest, app: &AppState, visitor: &Visitor, token: &str) -> Result<(), PageError> {
    let from_us = hosts::is_own_page(request.headers(), &app.settings.now().server.public_url);
    let of_this_session =
        visitor.new_cookie.is_none() && app.sessions.is_signature(TOKEN_PURPOSE, visitor.session.id.as_str(), token);
    if from_us && of_this_session { Ok(()) } else { Err(PageError::ForeignForm) }
}

/// Redirects to a page after a form (303).
pub(super) fn see_other(place: &str) -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, place))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}
