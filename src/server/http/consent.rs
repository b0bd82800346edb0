//! `/consent`: what visitors agree to before their first battle, as a page and as JSON.

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::Serialize;

use crate::pages::{self, requested_language};
use crate::render::i18n::pages::ConsentText;
use crate::state::AppState;

/// What visitors agree to.
#[derive(Serialize, JsonSchema)]
pub(super) struct ConsentJson {
    /// What `consent` of a `start` names; it changes with the text.
    version: String,
    /// The text in every language.
    texts: Vec<ConsentText>,
}

/// `GET /consent`
pub(super) async fn page(request: HttpRequest, app: web::Data<AppState>) -> HttpResponse {
    let consent = app.consents.current();
    pages::consent::consent(&request, &consent.version, consent.text(requested_language(&request)))
}

/// `GET /api/v1/consent`
pub(super) async fn json(app: web::Data<AppState>) -> HttpResponse {
    let consent = app.consents.current();
    HttpResponse::Ok().json(ConsentJson { version: consent.version, texts: consent.texts })
}
