//! API keys as programs send them, and what only those with a key may read.

use actix_web::http::header::{AUTHORIZATION, CACHE_CONTROL};
use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::address::network_of;
use super::error::PageError;
use crate::domain::admin::key_scope::KeyScope;
use crate::infra::storage::{ApiKeyRow, AuditFilter, AuditRow};
use crate::services::admin::api_keys::KeyRefused;
use crate::state::AppState;

/// Wrong keys from this very machine are counted too: behind a proxy that is not trusted, everybody is this machine.
const THIS_MACHINE: &str = "this machine";
/// Entries of an answer, and the most that it gives at once.
const PAGE: u32 = 100;
const MOST: u32 = 1_000;

/// A key, without itself.
#[derive(Serialize, JsonSchema)]
pub(super) struct KeyJson {
    /// Id, by which the operator knows it.
    id: String,
    /// What the operator calls it.
    name: String,
    /// What it lets programs do.
    scopes: Vec<KeyScope>,
    /// Milliseconds since 1970; `null` where it does not expire.
    expires_at: Option<i64>,
}

/// The parameters as they stand in the address.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct AuditQuery {
    /// Name of a person.
    actor: String,
    /// Name of an action, such as `exclude_votes`.
    action: String,
    /// The `next` of an answer: entries before those.
    before: String,
    /// Entries at most, up to 1,000; 100 where nothing is said.
    limit: Option<u32>,
}

/// Entries of the audit log, the latest first.
#[derive(Serialize, JsonSchema)]
pub(super) struct AuditList {
    /// The entries.
    entries: Vec<AuditEntry>,
    /// For `before` of the next request; `null` at the end.
    next: Option<String>,
}

/// What somebody did.
#[derive(Serialize, JsonSchema)]
struct AuditEntry {
    /// Id; sorts by time.
    id: String,
    /// Milliseconds since 1970.
    acted_at: i64,
    /// Name of the person, or who ran the command.
    actor: String,
    /// Name of the action.
    action: String,
    /// What it was about.
    subject: String,
    /// What was before; `null` where nothing is kept.
    before: Value,
    /// What was after; `null` where nothing is kept.
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

/// The token of `Authorization: Bearer`.
pub(super) fn bearer(request: &HttpRequest) -> Option<&str> {
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (scheme, token) = header?.split_once(' ')?;
    // RFC 9110, section 11.1: the scheme is written in any case.
    Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}

/// The key of a request, if it is in force and has the scope.
///
/// # Errors
/// [`KeyRefused`].
pub(super) async fn admit(
    request: &HttpRequest,
    app: &AppState,
    scope: Option<KeyScope>,
) -> Result<ApiKeyRow, KeyRefused> {
    let sent = bearer(request).ok_or(KeyRefused::Missing(scope))?;
    let network = network_of(request, &app.settings.now().server.trusted_proxies);
    app.api_keys.admit(sent, scope, network.as_deref().unwrap_or(THIS_MACHINE), &app.limits).await
}

/// `GET /api/v1/key`: what the key of the request may do.
///
/// # Errors
/// [`PageError::Key`].
pub(super) async fn key(request: HttpRequest, app: web::Data<AppState>) -> Result<HttpResponse, PageError> {
    let ApiKeyRow { id, name, scopes, expires_at, .. } = admit(&request, &app, None).await?;
    Ok(private(KeyJson { id, name, scopes, expires_at: expires_at.map(|at| at.0) }))
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
    let limit = limit.unwrap_or(PAGE).clamp(1, MOST);
    let mut rows = app.store.audit_entries(&filter, limit + 1).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next = rows.last().filter(|_| has_more).map(|row| row.id.clone());
    Ok(private(AuditList { entries: rows.into_iter().map(AuditEntry::from).collect(), next }))
}

/// What no cache keeps.
fn private(answer: impl Serialize) -> HttpResponse {
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(answer)
}
