//! Error pages for browsers. Other clients, and all API requests, get the error as text.

use actix_web::body::{BodySize, BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT, CACHE_CONTROL, HeaderMap, RETRY_AFTER};
use actix_web::middleware::Next;
use actix_web::{Error, HttpRequest, HttpResponse};

use super::error::PageError;
use crate::pages::errors::{refused, unavailable};

/// Middleware for `actix_web::middleware::from_fn`: replaces the text of an error by a page.
///
/// # Errors
/// Error of the inner service.
pub(in crate::http) async fn as_page<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    let response = next.call(request).await?;
    let is_text = !matches!(response.response().body().size(), BodySize::None | BodySize::Sized(0));
    if !is_for_people(response.request()) || !is_text {
        return Ok(response.map_into_left_body());
    }
    let error = response.response().error().and_then(|error| error.as_error::<PageError>());
    let Some(mut page) = error.and_then(|error| page_of(response.request(), response.status(), error)) else {
        return Ok(response.map_into_left_body());
    };
    let (request, text) = response.into_parts();
    for name in [RETRY_AFTER, CACHE_CONTROL] {
        if let Some(value) = text.headers().get(&name) {
            page.headers_mut().insert(name, value.clone());
        }
    }
    Ok(ServiceResponse::new(request, page.map_into_right_body()))
}

/// Renders the page of an error; `None` for errors that stay text.
fn page_of(request: &HttpRequest, status: StatusCode, error: &PageError) -> Option<HttpResponse> {
    match error {
        PageError::ForeignHost | PageError::Key(_) => None,
        PageError::ForeignForm => Some(refused::refused_form(request, status)),
        PageError::SignInRequired => Some(refused::sign_in_required(request, status)),
        PageError::MissingObject(thing) => Some(refused::missing(request, status, *thing)),
        PageError::InvalidField(field) => Some(refused::invalid_field(request, status, *field)),
        PageError::AdminRole(role) => Some(refused::role_required(request, status, *role)),
        error if error.is_outage() => Some(unavailable::unavailable(request, status)),
        error => Some(refused::refused(request, status, &error.to_string())),
    }
}

/// Whether a person opens this address in a browser.
pub(super) fn is_for_people(request: &HttpRequest) -> bool {
    accepts_html(request.headers()) && !request.path().starts_with("/api/")
}

/// Whether the request accepts HTML, as browsers do when they open a page.
fn accepts_html(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).any(|accept| accept.to_str().is_ok_and(|accept| accept.contains("text/html")))
}
