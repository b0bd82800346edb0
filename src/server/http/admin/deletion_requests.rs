//! Requests to delete the texts of battles: entering, viewing, granting and refusing them.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::signed_in_request::SignedInRequest;
use crate::domain::admin::deletion_request::DeletionScope;
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::pages::admin::deletion_requests::{RequestPage, RequestsPage};
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::frame::query_string::escaped;
use crate::pages::respond;
use crate::render::i18n::pages::MissingObject;
use crate::services::deletion_requests::{DeletionRequestError, DeletionRequests};

/// Maximum number of requests listed.
const MAX_LISTED_REQUESTS: u32 = 200;

/// `GET /admin/requests`
pub(super) async fn list(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Requests);
    show_list(&call, StatusCode::OK, frame).await
}

/// `POST /admin/requests/add`: `battle` (an id or a link), `scope` and `reason`.
pub(super) async fn add(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let scope: DeletionScope = call.fields.one("scope").parse().map_err(|_| invalid("scope is battle or visitor"))?;
    match requests(&call).add(call.fields.one("battle"), scope, call.fields.one("reason")).await {
        Ok(id) => Ok(see_other(&format!("/admin/requests/one?id={}&done=1", escaped(&id)))),
        Err(error) => {
            let frame = refused(&call, error)?;
            show_list(&call, StatusCode::CONFLICT, frame).await
        }
    }
}

/// `GET /admin/requests/one`: the request with this `id`, and the texts that deletion would affect.
pub(super) async fn one(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Requests);
    show_one(&call, StatusCode::OK, frame).await
}

/// `POST /admin/requests/decide`: `id`, `answer`, and `decision` delete or refuse.
pub(super) async fn decide(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let (id, answer) = (call.fields.one("id"), call.fields.one("answer"));
    let done = match call.fields.one("decision") {
        "delete" => requests(&call).delete_texts(id, answer).await.map(drop),
        "refuse" => requests(&call).refuse(id, answer).await,
        _ => return Err(invalid("decision is delete or refuse")),
    };
    match done {
        Ok(()) => Ok(see_other(&format!("/admin/requests/one?id={}&done=1", escaped(id)))),
        Err(error) => {
            let frame = refused(&call, error)?;
            show_one(&call, StatusCode::CONFLICT, frame).await
        }
    }
}

fn requests(call: &SignedInRequest) -> DeletionRequests<'_> {
    let app = &call.app;
    DeletionRequests { store: &app.store, rng: &app.rng, clock: app.clock.as_ref(), actor: call.actor() }
}

async fn show_list(call: &SignedInRequest, status: StatusCode, frame: AdminFrame) -> Result<HttpResponse, PageError> {
    let requests = call.app.store.deletion_requests(MAX_LISTED_REQUESTS).await?;
    let field = |name: &str| call.fields.one(name).to_owned();
    let (battle, reason) = (field("battle"), field("reason"));
    let text_days = call.app.settings.now().retention.text_days;
    let page = RequestsPage { page: call.page(), frame, requests, text_days, battle, reason };
    Ok(respond(&call.request, status, &page))
}

async fn show_one(call: &SignedInRequest, status: StatusCode, frame: AdminFrame) -> Result<HttpResponse, PageError> {
    let preview = match requests(call).preview(call.fields.one("id")).await {
        Ok(preview) => preview,
        Err(DeletionRequestError::Store(error)) => return Err(error.into()),
        Err(_) => return Err(PageError::MissingObject(MissingObject::DeletionRequest)),
    };
    let answer = call.fields.one("answer").to_owned();
    Ok(respond(&call.request, status, &RequestPage { page: call.page(), frame, preview, answer }))
}

/// Returns the frame with the reason for a refusal; an error for failures of the database and unknown requests.
fn refused(call: &SignedInRequest, error: DeletionRequestError) -> Result<AdminFrame, PageError> {
    let words = &call.page().t().admin.requests;
    let bad_reason = words.bad_reason();
    let problem = match error {
        DeletionRequestError::Store(error) => return Err(error.into()),
        DeletionRequestError::UnknownRequest(_) => {
            return Err(PageError::MissingObject(MissingObject::DeletionRequest));
        }
        DeletionRequestError::UnknownBattle(_) | DeletionRequestError::NoReference => words.unknown_battle,
        DeletionRequestError::UnknownLink => words.unknown_link,
        DeletionRequestError::UnknownVisitor(_) => words.unknown_visitor,
        DeletionRequestError::IsOpen => words.is_open,
        DeletionRequestError::IsDecided => words.is_decided,
        DeletionRequestError::Reason => bad_reason.as_str(),
    };
    Ok(call.frame_with(AdminTab::Requests, problem))
}

fn invalid(text: &str) -> PageError {
    PageError::InvalidQuery(text.to_owned())
}
