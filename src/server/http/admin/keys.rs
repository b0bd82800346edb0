//! API keys.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;

use super::signed_in_request::SignedInRequest;
use crate::domain::admin::key_scope::KeyScope;
use crate::domain::admin::key_scope::MAX_LIFETIME_DAYS;
use crate::http::form_token::see_other;
use crate::http::request::error::PageError;
use crate::infra::time::clock::Clock as _;
use crate::pages::admin::keys::KeysPage;
use crate::pages::admin::{AdminFrame, AdminTab};
use crate::pages::respond;
use crate::services::admin::api_keys::{ApiKeyError, KeyRequest};

/// `GET /admin/keys`
pub(super) async fn page(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let frame = call.frame(AdminTab::Keys);
    show(&call, StatusCode::OK, frame, None).await
}

/// `POST /admin/keys/create`: `name`, `scope` once for each, and `days`. The key appears in this response only.
pub(super) async fn create(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    let invalid = |text: String| PageError::InvalidQuery(text);
    let scopes: Result<Vec<KeyScope>, _> = call.fields.all("scope").map(str::parse).collect();
    let scopes = scopes.map_err(|error| invalid(format!("scope: {error}")))?;
    let Ok(days) = call.fields.one("days").trim().parse() else { return refused(&call, ApiKeyError::Days).await };
    let request = KeyRequest { name: call.fields.one("name"), scopes: &scopes, days };
    match call.app.api_keys.create(request, &call.actor()).await {
        Ok(created) => show(&call, StatusCode::OK, call.frame(AdminTab::Keys), Some(created.key)).await,
        Err(error) => refused(&call, error).await,
    }
}

/// `POST /admin/keys/revoke`: `id`.
pub(super) async fn revoke(call: SignedInRequest) -> Result<HttpResponse, PageError> {
    match call.app.api_keys.revoke(call.fields.one("id"), &call.actor()).await {
        Ok(()) => Ok(see_other("/admin/keys?done=1")),
        Err(error) => refused(&call, error).await,
    }
}

async fn refused(call: &SignedInRequest, error: ApiKeyError) -> Result<HttpResponse, PageError> {
    let words = &call.page().t().admin.keys;
    let (status, problem) = match error {
        ApiKeyError::Store(error) => return Err(error.into()),
        ApiKeyError::Name => (StatusCode::BAD_REQUEST, words.bad_name.to_owned()),
        ApiKeyError::NoScope => (StatusCode::BAD_REQUEST, words.no_scope.to_owned()),
        ApiKeyError::Days => (StatusCode::BAD_REQUEST, words.bad_days.replace("{n}", &MAX_LIFETIME_DAYS.to_string())),
        ApiKeyError::Unknown(_) => (StatusCode::CONFLICT, words.unknown.to_owned()),
    };
    show(call, status, call.frame_with(AdminTab::Keys, &problem), None).await
}

async fn show(
    call: &SignedInRequest,
    status: StatusCode,
    frame: AdminFrame,
    key: Option<String>,
) -> Result<HttpResponse, PageError> {
    let (keys, now) = (call.app.api_keys.list().await?, call.app.clock.now());
    Ok(respond(&call.request, status, &KeysPage { page: call.page(), frame, keys, key, now }))
}
