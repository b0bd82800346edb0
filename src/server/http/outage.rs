//! A page for people where a request fails because the database does. Programs get the same answer as text.

use actix_web::Error;
use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{ACCEPT, HeaderMap, RETRY_AFTER};
use actix_web::middleware::Next;

use super::error::PageError;
use super::pages::unavailable;

/// Middleware for `actix_web::middleware::from_fn`.
///
/// # Errors
/// Passes on what the inner service refused.
pub(super) async fn as_page<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    let response = next.call(request).await?;
    let error = response.response().error().and_then(|error| error.as_error::<PageError>());
    if !error.is_some_and(PageError::is_outage) || !accepts_html(response.request().headers()) {
        return Ok(response.map_into_left_body());
    }
    let (request, text) = response.into_parts();
    let mut page = unavailable::unavailable(&request, text.status());
    if let Some(seconds) = text.headers().get(RETRY_AFTER) {
        page.headers_mut().insert(RETRY_AFTER, seconds.clone());
    }
    Ok(ServiceResponse::new(request, page.map_into_right_body()))
}

/// Browsers name this type when they open a page.
fn accepts_html(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).any(|accept| accept.to_str().is_ok_and(|accept| accept.contains("text/html")))
}
