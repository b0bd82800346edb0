//! Request ids: in the response, in every log line of the request, and in the text of a failure.
//!
//! An id from a trusted proxy is kept, so that both logs can be correlated.

use std::net::IpAddr;

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, web};
use ipnet::IpNet;
use tracing::Instrument;

use crate::infra::metrics;
use crate::state::AppState;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of an id from a proxy.
const MAX_ID_LENGTH: usize = 64;

/// Middleware for `actix_web::middleware::from_fn`: assigns the request id and the log span, and records metrics.
///
/// # Errors
/// Error of the inner service, as a response with the same header.
pub(in crate::http) async fn request_id<B: MessageBody>(
    app: web::Data<AppState>,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, String>>, Error> {
    let peer = request.peer_addr().map(|address| address.ip());
    let sent = sent_by_proxy(request.headers(), peer, &app.settings.now().server.trusted_proxies);
    respond_with_id(sent.unwrap_or_else(|| app.rng.token()), request, next).await
}

async fn respond_with_id<B: MessageBody>(
    id: String,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, String>>, Error> {
    let span = tracing::info_span!("request", request.id = %id);
    let header = HeaderValue::from_str(&id).expect("a request's number is letters, digits, _ and -");
    match next.call(request).instrument(span.clone()).await {
        Ok(mut response) => {
            let status = response.status();
            let route = response.request().match_pattern().unwrap_or_else(|| "unknown".to_owned());
            metrics::http_answered(route, status.as_u16());
            response.headers_mut().insert(REQUEST_ID, header);
            if status == StatusCode::INTERNAL_SERVER_ERROR {
                return Ok(span.in_scope(|| failure(response, &id)));
            }
            Ok(response.map_into_left_body())
        }
        Err(error) => {
            let mut response = error.error_response();
            metrics::http_answered("unknown".to_owned(), response.status().as_u16());
            response.headers_mut().insert(REQUEST_ID, header);
            Err(InternalError::from_response(error, response).into())
        }
    }
}

/// Replaces the body of a failure by a text with the request id only; the log has the details.
fn failure<B>(response: ServiceResponse<B>, id: &str) -> ServiceResponse<EitherBody<B, String>> {
    tracing::error!("a request was answered with status 500");
    let text = format!("internal error: try again; if it happens again, send the operator the request id {id}\n");
    let mut response = response.map_body(|_, _| EitherBody::right(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    // The replaced body may have been compressed; the text is not.
    response.headers_mut().remove(CONTENT_ENCODING);
    response
}

/// Returns the request id from a trusted proxy, if it is safe to log.
fn sent_by_proxy(headers: &HeaderMap, peer: Option<IpAddr>, proxies: &[IpNet]) -> Option<String> {
    let peer = peer?.to_canonical();
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let fits = (1..=MAX_ID_LENGTH).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    (fits && proxies.iter().any(|network| network.contains(&peer))).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::ACCEPT_ENCODING;
    use actix_web::middleware::{Compress, from_fn};
    use actix_web::test::{TestRequest, call_service, init_service, read_body};
    use actix_web::{App, error};

    use super::*;

    #[actix_web::test]
    async fn a_failure_tells_its_number_and_nothing_else() {
        let with_number =
            async |request: ServiceRequest, next: Next<_>| respond_with_id("n-1".to_owned(), request, next).await;
        let app = init_service(
            App::new()
                .wrap(from_fn(with_number))
                .route("/failed", web::get().to(async || Err::<&str, _>(error::ErrorInternalServerError("inner"))))
                .route("/refused", web::get().to(async || Err::<&str, _>(error::ErrorForbidden("why")))),
        )
        .await;
        for (path, status) in [("/failed", 500), ("/refused", 403), ("/missing", 404)] {
            let response = call_service(&app, TestRequest::get().uri(path).to_request()).await;
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers().get(REQUEST_ID), Some(&HeaderValue::from_static("n-1")), "{path}");
            let body = read_body(response).await;
            let body = std::str::from_utf8(&body).unwrap();
            assert_eq!((body.contains("n-1"), body.contains("inner")), (status == 500, false), "{path}: {body}");
        }
    }

    #[actix_web::test]
    async fn a_failure_can_be_read_where_answers_are_compressed() {
        let with_number =
            async |request: ServiceRequest, next: Next<_>| respond_with_id("n-1".to_owned(), request, next).await;
        let failed = async || Err::<&str, _>(error::ErrorInternalServerError("inner"));
        let app = init_service(
            App::new().wrap(Compress::default()).wrap(from_fn(with_number)).route("/failed", web::get().to(failed)),
        )
        .await;
        let request = TestRequest::get().uri("/failed").insert_header((ACCEPT_ENCODING, "gzip")).to_request();
        let response = call_service(&app, request).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers().get(CONTENT_ENCODING), None);
        let body = read_body(response).await;
        assert!(std::str::from_utf8(&body).unwrap().contains("n-1"));
    }

    #[track_caller]
    fn check(id: &str, peer: &str, taken: bool) {
        let proxies = ["10.0.0.0/8".parse().unwrap()];
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_str(id).unwrap());
        let sent = sent_by_proxy(&headers, Some(peer.parse().unwrap()), &proxies);
        assert_eq!(sent.as_deref(), taken.then_some(id), "{id} from {peer}");
    }

    #[test]
    fn a_number_is_taken_from_a_trusted_proxy_if_it_is_fit_to_be_logged() {
        check("a-B_9", "10.1.2.3", true);
        check("a-B_9", "::ffff:10.1.2.3", true);
        check("a-B_9", "192.0.2.1", false);
        check("a b", "10.1.2.3", false);
        check("{\"x\":1}", "10.1.2.3", false);
        check("", "10.1.2.3", false);
        check(&"a".repeat(64), "10.1.2.3", true);
        check(&"a".repeat(65), "10.1.2.3", false);
    }
}
