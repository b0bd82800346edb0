//! Forms that change something: each carries a token that is the signature of the visitor's own session, and is taken only from
//! the arena's own pages. So no other site can act for a visitor.

use actix_web::HttpRequest;
use actix_web::HttpResponse;
use actix_web::http::header;
use serde::Deserialize;

use super::error::PageError;
use super::hosts;
use super::session::Visitor;
use crate::state::AppState;

/// Bytes of a form at most.
pub(super) const MAX_FORM_BYTES: usize = 4_096;
/// What the form's token signs.
const FORM: &str = "form";

/// A form that carries nothing but its token.
#[derive(Deserialize)]
pub(super) struct TokenForm {
    pub(super) token: String,
}

/// The visitor behind a request.
pub(super) fn visitor(request: &HttpRequest, app: &AppState) -> Visitor {
    Visitor::from_request(request, &app.sessions, &app.settings.now().server.public_url)
}

/// The token of the forms on pages that this visitor is shown.
pub(super) fn token(app: &AppState, visitor: &Visitor) -> String {
    app.sessions.signature(FORM, visitor.session.id.as_str())
}

/// A form is taken from a page of ours that this very session was shown.
///
/// # Errors
/// [`PageError::ForeignForm`].
pub(super) fn check(request: &HttpRequest, app: &AppState, visitor: &Visitor, token: &str) -> Result<(), PageError> {
    let from_us = hosts::is_own_page(request.headers(), &app.settings.now().server.public_url);
    let of_this_session =
        visitor.new_cookie.is_none() && app.sessions.is_signature(FORM, visitor.session.id.as_str(), token);
    if from_us && of_this_session { Ok(()) } else { Err(PageError::ForeignForm) }
}

/// Leads on to a page after a form.
pub(super) fn see_other(place: &str) -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, place))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}
