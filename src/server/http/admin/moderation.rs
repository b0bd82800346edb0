//! Texts flagged by the moderation service: listing, viewing, keeping and deleting them.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::signed_in_request::SignedInRequest;
use crate::domain::admin::role::Role;
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::pages::admin::moderation::{EndpointLine, FlagsPage, ModerationFlagPage};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::frame::query_string::escaped;
use crate::pages::respond;
use crate::render::i18n::pages::MissingObject;
use crate::services::moderation_reviews::{ModerationReviewError, ModerationReviews};

/// Maximum number of flags listed.
const MAX_LISTED_FLAGS: u32 = 200;

/// `GET /admin/moderation`
pub(super) async fn list(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let store = &call.app.store;
    let (flags, open) = (store.flags(None, MAX_LISTED_FLAGS).await?, store.open_flags().await?);
    let (page, frame) = (call.page(), call.frame(AdminTab::Moderation));
    let rules = call.app.settings.now().moderation.clone();
    let endpoint = call.app.prompts.endpoint.as_ref().map(|endpoint| EndpointLine::new(endpoint));
    Ok(respond(&call.request, StatusCode::OK, &FlagsPage { page, frame, flags, open, endpoint, rules }))
}

/// `GET /admin/moderation/one`: the flag with this `id`, with its battle.
pub(super) async fn one(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Moderation);
    show_one(&call, StatusCode::OK, frame).await
}

/// `POST /admin/moderation/keep`: keeps the text of the flag `id`.
pub(super) async fn keep(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let done = reviews(&call).keep(call.fields.one("id")).await;
    respond_to_decision(&call, done).await
}

/// `POST /admin/moderation/remove`: deletes the texts of the flag's battle.
pub(super) async fn remove(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let done = reviews(&call).remove_texts(call.fields.one("id")).await;
    respond_to_decision(&call, done).await
}

async fn respond_to_decision(
    call: &SignedInRequest,
    done: Result<(), ModerationReviewError>,
) -> Result<HttpResponse, PageError> {
    match done {
        Ok(()) => Ok(see_other(&format!("/admin/moderation/one?id={}&done=1", escaped(call.fields.one("id"))))),
        Err(ModerationReviewError::IsDecided) => {
            let problem = call.page().t().admin.moderation.is_decided;
            show_one(call, StatusCode::CONFLICT, call.frame_with(AdminTab::Moderation, problem)).await
        }
        Err(error) => Err(page_error(error)),
    }
}

async fn show_one(call: &SignedInRequest, status: StatusCode, frame: AdminFrame) -> Result<HttpResponse, PageError> {
    let review = reviews(call).look(call.fields.one("id")).await.map_err(page_error)?;
    let may_remove = frame.role.covers(Role::Operator);
    Ok(respond(&call.request, status, &ModerationFlagPage { page: call.page(), frame, review, may_remove }))
}

fn reviews(call: &SignedInRequest) -> ModerationReviews<'_> {
    let app = &call.app;
    ModerationReviews { store: &app.store, rng: &app.rng, clock: app.clock.as_ref(), actor: call.actor() }
}

fn page_error(error: ModerationReviewError) -> PageError {
    match error {
        ModerationReviewError::Store(error) => error.into(),
        _ => PageError::MissingObject(MissingObject::FlaggedText),
    }
}
