//! Authentication by API key, and the endpoints that require one.

use actix_web::http::header::{AUTHORIZATION, CACHE_CONTROL};
use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::address::network_of;
use super::request::error::PageError;
use crate::domain::admin::key_scope::KeyScope;
use crate::infra::storage::{ApiKeyRow, AuditFilter, AuditRow};
use crate::services::admin::api_keys::KeyRefused;
use crate::state::AppState;

/// Key under which wrong keys from loopback addresses are counted too: behind a proxy that is not trusted, every client has one.
const LOOPBACK_NETWORK: &str = "this machine";
/// Default number of entries per response, and the maximum.
const DEFAULT_PAGE_SIZE: u32 = 100;
const MAX_PAGE_SIZE: u32 = 1_000;

/// API key, without its secret.
#[derive(Serialize, JsonSchema)]
pub(super) struct KeyJson {
    /// Id that the operator sees.
    id: String,
    /// Name given by the operator.
    name: String,
    /// Permissions of the key.
    scopes: Vec<KeyScope>,
    /// Time of expiry in milliseconds since 1970; `null` if it does not expire.
    expires_at: Option<i64>,
}

/// Query parameters of the audit log.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct AuditQuery {
    /// Name of a user.
    actor: String,
    /// Name of an action, such as `exclude_votes`.
    action: String,
    /// Cursor: the `next` of the previous response.
    before: String,
    /// Maximum number of entries, up to 1,000; default 100.
    limit: Option<u32>,
}

/// Page of the audit log, latest first.
#[derive(Serialize, JsonSchema)]
pub(super) struct AuditList {
    /// Entries of the page.
    entries: Vec<AuditEntry>,
    /// Cursor for `before` of the next request; `null` at the end.
    next: Option<String>,
}

/// Action in the audit log.
#[derive(Serialize, JsonSchema)]
struct AuditEntry {
    /// Id, sortable by time.
    id: String,
    /// Time in milliseconds since 1970.
    acted_at: i64,
    /// Name of the user, or of the system account that ran the command.
    actor: String,
    /// Name of the action.
    action: String,
    /// Object of the action.
    subject: String,
    /// State before the action; `null` if not recorded.
    before: Value,
    /// State after the action; `null` if not recorded.
    after: Value,
    /// `page` or `command`.
    via: String,
    /// Address of the browser; empty for a command.
    address: String,
}

impl From<AuditRow> for AuditEntry {
    fn from(row: AuditRow) -> Self {
        let value = |text: Option<String>| text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self {
            id: row.id,
            acted_at: row.acted_at,
            actor: row.actor,
            action: row.action,
            subject: row.subject,
            before: value(row.former),
            after: value(row.latter),
            via: row.via,
            address: row.address,
        }
    }
}

/// Returns the token of `Authorization: Bearer`.
pub(super) fn bearer(request: &HttpRequest) -> Option<&str> {
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (scheme, token) = header?.split_once(' ')?;
    // RFC 9110, section 11.1: the scheme is case-insensitive.
    Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}

/// Returns the key of a request, if it is valid and has the scope.
///
/// # Errors
/// [`KeyRefused`] without such a key.
pub(super) async fn admit(
    request: &HttpRequest,
    app: &AppState,
    scope: Option<KeyScope>,
) -> Result<ApiKeyRow, KeyRefused> {
    let sent = bearer(request).ok_or(KeyRefused::Missing(scope))?;
    let network = network_of(request, &app.settings.now().server.trusted_proxies);
    app.api_keys.admit(sent, scope, network.as_deref().unwrap_or(LOOPBACK_NETWORK), &app.limits).await
}

/// `GET /api/v1/key`: the permissions of the request's key.
///
/// # Errors
/// [`PageError::Key`].
pub(super) async fn key(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let ApiKeyRow { id, name, scopes, expires_at, .. } = admit(&request, &app, None).await?;
    Ok(uncached_json(KeyJson { id, name, scopes, expires_at: expires_at.map(|at| at.0) }))
}

/// `GET /api/v1/audit`: the audit log, the latest first, for keys with the scope `admin`.
///
/// # Errors
/// [`PageError`].
pub(super) async fn audit(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    admit(&request, &app, Some(KeyScope::Admin)).await?;
    let query = web::Query::<AuditQuery>::from_query(request.query_string());
    let refused =
        || PageError::InvalidQuery("actor, action, before and limit are given once each; limit is a number".into());
    let AuditQuery { actor, action, before, limit } = query.map_err(|_| refused())?.into_inner();
    let given = |text: String| Some(text).filter(|text| !text.is_empty() && !text.contains('\0'));
    let filter = AuditFilter { actor: given(actor), action: given(action), before: given(before) };
    let limit = limit.unwrap_or(DEFAULT_PAGE_SIZE).clamp(1, MAX_PAGE_SIZE);
    let mut rows = app.store.audit_entries(&filter, limit + 1).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next = rows.last().filter(|_| has_more).map(|row| row.id.clone());
    Ok(uncached_json(AuditList { entries: rows.into_iter().map(AuditEntry::from).collect(), next }))
}

/// Builds a response that no cache stores.
fn uncached_json(answer: impl Serialize) -> HttpResponse {
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(answer)
}
