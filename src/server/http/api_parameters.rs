//! Query parameters of `/api/v1`: unknown ones are refused, since a misspelt filter would otherwise widen the result.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;
use actix_web::{Error, web};

use super::openapi::query_parameters;
use super::request::error::PageError;

/// Middleware for `actix_web::middleware::from_fn`: API requests with an unknown query parameter get 400.
///
/// # Errors
/// Error of the inner service.
pub(super) async fn refuse_unknown_parameters<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    match check(&request) {
        Ok(()) => Ok(next.call(request).await?.map_into_left_body()),
        Err(error) => Ok(request.error_response(error).map_into_right_body()),
    }
}

fn check(request: &ServiceRequest) -> Result<(), PageError> {
    if request.query_string().is_empty() || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    let Some(known) = request.match_pattern().and_then(|path| query_parameters(&path)) else { return Ok(()) };
    // A malformed query is refused by the handler.
    let Ok(given) = web::Query::<Vec<(String, String)>>::from_query(request.query_string()) else { return Ok(()) };
    match given.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) if known.is_empty() => {
            Err(PageError::InvalidQuery(format!("{name:?} is not a parameter: this address has none")))
        }
        Some((name, _)) => {
            Err(PageError::InvalidQuery(format!("{name:?} is not a parameter of this address: {}", known.join(", "))))
        }
    }
}
