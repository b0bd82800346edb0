//! Protection of unsafe methods against CSRF and slow or compressed bodies. Requests from pages of other sites are refused before any route
//! sees them, and so is `text/plain`, which such pages could send without a preflight; bodies must arrive in time and uncompressed. Bodies
//! of safe methods are not read.
//!
//! Routes check further requirements themselves, such as the token of a form or of an annotator's link.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::ConnectionType;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, ORIGIN};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, ResponseError, web};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::time::{Instant, timeout_at};

use super::images;
use super::request::error::PageError;
use super::request::hosts::is_own_page;
use crate::state::AppState;

/// Time limit for a body. Apart from images, the longest that any route reads is 64 KiB.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for an image: a phone sends megabytes slowly.
const IMAGE_TIMEOUT: Duration = Duration::from_secs(90);
/// Path prefix of websockets, whose messages arrive as a body.
const SOCKET_PATH_PREFIX: &str = "/ws/";
/// Header that names the relation to the requesting page's site, sent even by browsers that omit `Origin`.
const FETCH_SITE: &str = "sec-fetch-site";

/// Middleware for `actix_web::middleware::from_fn`: refuses unsafe requests from other sites.
///
/// # Errors
/// Error of the inner service.
pub(super) async fn refuse_cross_site<B: MessageBody>(
    app: web::Data<AppState>,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    if request.method().is_safe() {
        // A form handler would wait for this body forever, or decompress it.
        if !request.path().starts_with(SOCKET_PATH_PREFIX) {
            drop(request.take_payload());
        }
        return Ok(next.call(request).await?.map_into_left_body());
    }
    if let Err(refused) = check(request.headers(), &app.settings.now().server.public_url) {
        return Ok(request.error_response(refused).map_into_right_body());
    }
    let is_late = Rc::new(Cell::new(false));
    let time = if request.path() == images::UPLOAD_PATH { IMAGE_TIMEOUT } else { BODY_TIMEOUT };
    let body = in_time(request.take_payload(), time, Rc::clone(&is_late));
    let body: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> = Box::pin(body);
    request.set_payload(Payload::from(body));
    let response = next.call(request).await?;
    if !is_late.get() {
        return Ok(response.map_into_left_body());
    }
    let mut late = PageError::BodyTimeout.error_response();
    late.head_mut().set_connection_type(ConnectionType::Close);
    Ok(response.into_response(late).map_into_right_body())
}

/// Checks the origin, encoding and type of a request. Programs send no origin; routes check their credentials.
fn check(headers: &HeaderMap, public_url: &str) -> Result<(), PageError> {
    let site = headers.get(FETCH_SITE).map(|site| site.as_bytes());
    let is_foreign_site = site.is_some_and(|site| !matches!(site, b"same-origin" | b"none"));
    if is_foreign_site || (headers.contains_key(ORIGIN) && !is_own_page(headers, public_url)) {
        return Err(PageError::ForeignPage);
    }
    // 64 kB can decompress to 64 MB before any limit applies.
    if headers.get_all(CONTENT_ENCODING).any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(PageError::CompressedBody);
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("text/plain") { Err(PageError::PlainText) } else { Ok(()) }
}

/// Wraps a body so that it breaks off at the time limit, which is recorded.
fn in_time<S: Stream<Item = Result<Bytes, PayloadError>> + Unpin>(
    body: S,
    time: Duration,
    is_late: Rc<Cell<bool>>,
) -> impl Stream<Item = Result<Bytes, PayloadError>> {
    let deadline = Instant::now() + time;
    stream::unfold(Some(body), move |body| {
        let is_late = Rc::clone(&is_late);
        async move {
            let mut body = body?;
            match timeout_at(deadline, body.next()).await {
                Ok(chunk) => chunk.map(|chunk| (chunk, Some(body))),
                Err(_) => {
                    is_late.set(true);
                    Some((Err(PayloadError::Io(io::ErrorKind::TimedOut.into())), None))
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[track_caller]
    fn check_headers(pairs: &[(&'static str, &'static str)], expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert("host".parse().unwrap(), HeaderValue::from_static("127.0.0.1:8717"));
        for (name, value) in pairs {
            headers.insert(name.parse().unwrap(), HeaderValue::from_static(value));
        }
        let refused = check(&headers, "https://arena.example.org").err().map(|refused| refused.to_string());
        assert_eq!(refused.is_some(), expected.is_some(), "{pairs:?}: {refused:?}");
        assert!(expected.is_none_or(|words| refused.is_some_and(|refused| refused.contains(words))), "{pairs:?}");
    }

    #[test]
    fn only_pages_of_ours_and_programs_may_change_something() {
        let foreign = Some("another site");
        check_headers(&[], None);
        check_headers(&[("cookie", "langya_session=x")], None);
        check_headers(&[("origin", "http://127.0.0.1:8717")], None);
        check_headers(&[("origin", "https://arena.example.org"), ("sec-fetch-site", "same-origin")], None);
        check_headers(&[("sec-fetch-site", "none")], None);
        for origin in ["null", "", "https://evil.example", "http://127.0.0.1", "https://127.0.0.1:8717"] {
            check_headers(&[("origin", origin)], foreign);
        }
        for site in ["cross-site", "same-site", "else"] {
            check_headers(&[("sec-fetch-site", site)], foreign);
            check_headers(&[("sec-fetch-site", site), ("origin", "http://127.0.0.1:8717")], foreign);
        }
    }

    #[test]
    fn packed_bodies_are_refused() {
        for encoding in ["gzip", "GZIP", "deflate", "br", "zstd", "identity, gzip", ""] {
            check_headers(&[("content-encoding", encoding)], Some("without Content-Encoding"));
        }
        check_headers(&[("content-encoding", "Identity")], None);
    }

    #[test]
    fn plain_text_is_no_content_of_ours() {
        let plain = Some("application/json");
        for kind in ["text/plain", "TEXT/Plain; charset=utf-8", " text/plain ;x"] {
            check_headers(&[("content-type", kind)], plain);
        }
        for kind in ["application/json", "application/x-www-form-urlencoded", "text/plainer"] {
            check_headers(&[("content-type", kind)], None);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_breaks_off_when_its_time_is_over() {
        let is_late = Rc::new(Cell::new(false));
        let trickle = stream::unfold(0, |second| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Some((Ok(Bytes::from_static(b"x")), second + 1))
        });
        let body: Vec<_> = in_time(Box::pin(trickle), BODY_TIMEOUT, Rc::clone(&is_late)).collect().await;
        assert!((9..=11).contains(&body.len()) && body.last().unwrap().is_err() && is_late.get(), "{}", body.len());
        let is_late = Rc::new(Cell::new(false));
        let whole = stream::iter([Ok(Bytes::from_static(b"x"))]);
        let body: Vec<_> = in_time(whole, BODY_TIMEOUT, Rc::clone(&is_late)).collect().await;
        assert!(body.len() == 1 && body[0].is_ok() && !is_late.get());
    }
}
