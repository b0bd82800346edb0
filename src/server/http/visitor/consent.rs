//! `/consent`: the consent text before the first battle, as a page and as JSON.

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::request::error::PageError;
use crate::pages::{self, requested_language};
use crate::render::i18n::pages::ConsentText;
use crate::state::AppState;

/// Consent text.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ConsentJson {
    /// Version, sent as `consent` of a `start`; it changes with the text.
    version: String,
    /// Text in every language.
    texts: Vec<ConsentText>,
}

/// `GET /consent`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn page(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let consent = app.consents.current().await?;
    Ok(pages::visitor::consent::consent(&request, &consent.version, consent.text(requested_language(&request))))
}

/// `GET /api/v1/consent`
///
/// # Errors
/// [`PageError`].
pub(in crate::http) async fn json(app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let consent = app.consents.current().await?;
    Ok(HttpResponse::Ok().json(ConsentJson { version: consent.version, texts: consent.texts }))
}
