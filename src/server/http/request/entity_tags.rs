//! ETags of API responses: a client with a current copy gets 304.
//!
//! The tag is a hash of the body, so it saves the transfer but not the computation, and cannot be out of date.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, ETAG, EntityTag, Header as _, HeaderValue, IfNoneMatch, VARY};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, body, error};
use sha2::{Digest, Sha256};

use crate::domain::hex::hex;

/// Middleware for `actix_web::middleware::from_fn`; skips responses that are streamed or set their own caching headers.
///
/// # Errors
/// Error of the inner service.
pub(in crate::http) async fn tag_answers(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD) && request.path().starts_with("/api/v1/");
    let response = next.call(request).await?.map_into_boxed_body();
    let headers = response.headers();
    let is_kept_elsewhere = headers.contains_key(ETAG) || headers.contains_key(CACHE_CONTROL);
    let is_whole = matches!(response.response().body().size(), BodySize::Sized(_));
    if !reads || response.status() != StatusCode::OK || is_kept_elsewhere || !is_whole {
        return Ok(response);
    }
    let (request, response) = response.into_parts();
    let (mut response, answer) = response.into_parts();
    let bytes = body::to_bytes(answer).await.map_err(error::ErrorInternalServerError)?;
    let tag = weak_tag(&bytes);
    if let Ok(tag) = HeaderValue::from_str(&tag.to_string()) {
        response.headers_mut().insert(ETAG, tag);
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let is_known = is_known(&request, &tag);
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        // RFC 9110, section 15.4.5: the same header as in the full response, which is compressed after this.
        response.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
    }
    let answer = if is_known { BoxBody::new(()) } else { BoxBody::new(bytes) };
    Ok(ServiceResponse::new(request, response.set_body(answer)))
}

/// Computes the ETag of a response. Weak, because the response may be sent compressed or uncompressed.
pub(in crate::http) fn weak_tag(answer: &[u8]) -> EntityTag {
    EntityTag::new_weak(hex(&Sha256::digest(answer)[..16]))
}

/// Whether the client already has the response of this tag.
pub(in crate::http) fn is_known(request: &impl HttpMessage, tag: &EntityTag) -> bool {
    IfNoneMatch::parse(request).is_ok_and(|known| match known {
        IfNoneMatch::Any => true,
        IfNoneMatch::Items(tags) => tags.iter().any(|other| other.weak_eq(tag)),
    })
}
