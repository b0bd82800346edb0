//! CORS: the configured origins may read the public API, and nothing else. Credentials are never allowed, and preflight requests are not
//! answered.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue, ORIGIN, VARY};
use actix_web::middleware::Next;
use actix_web::{Error, web};

use super::openapi;
use crate::infra::config::ANY_ORIGIN;
use crate::state::AppState;

/// Middleware for `actix_web::middleware::from_fn`.
///
/// # Errors
/// Error of the inner service.
pub(super) async fn allow_reading(
    app: web::Data<AppState>,
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let settings = app.settings.now();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let mut response = next.call(request).await?;
    let pattern = response.request().match_pattern().unwrap_or_default();
    if !reads || settings.api.cors_origins.is_empty() || !openapi::is_public(&pattern, settings.api.votes) {
        return Ok(response);
    }
    let named = response.request().headers().get(ORIGIN).cloned();
    let allowed = allowed(&settings.api.cors_origins, named.as_ref());
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(allowed) = allowed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
    }
    Ok(response)
}

/// Returns the value of `Access-Control-Allow-Origin` for a request's origin; `None` if not allowed.
fn allowed(origins: &[String], named: Option<&HeaderValue>) -> Option<HeaderValue> {
    if origins.iter().any(|origin| origin == ANY_ORIGIN) {
        return named.map(|_| HeaderValue::from_static(ANY_ORIGIN));
    }
    named.filter(|named| origins.iter().any(|origin| origin.as_bytes() == named.as_bytes())).cloned()
}
