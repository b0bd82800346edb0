//! Security headers on every response, including errors and refused upgrades.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, error::InternalError, web};

use crate::infra::config::is_public_by_tls;
use crate::state::AppState;

/// Content security policy: scripts and styles only from this server; nothing inline, framed or sent elsewhere.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; font-src 'self'; manifest-src 'self'; object-src 'none'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=(), browsing-topics=()"),
];

/// HSTS header of an arena public by TLS: HTTPS only for one year. Subdomains are excluded, since they are not the arena's.
const STRICT_TRANSPORT: (&str, &str) = ("strict-transport-security", "max-age=31536000");

/// Sites that may frame a response, in the policy's syntax. Set on the response of the embedded page only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) struct FrameAncestors(pub(in crate::http) String);

/// Middleware for `actix_web::middleware::from_fn`; wrap it outermost, so that it applies to every response.
///
/// # Errors
/// Error of the inner service, as a response with the same headers.
pub async fn security_headers(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let app = request.app_data::<web::Data<AppState>>();
    let is_secure = app.is_some_and(|app| is_public_by_tls(&app.settings.now().server.public_url));
    match next.call(request).await {
        Ok(mut response) => {
            let framed = response.response_mut().extensions_mut().remove::<FrameAncestors>();
            insert_security_headers(response.headers_mut(), is_secure);
            if let Some(ancestors) = framed {
                allow_framing(response.headers_mut(), &ancestors);
            }
            Ok(response)
        }
        Err(error) => {
            let mut response = error.error_response();
            insert_security_headers(response.headers_mut(), is_secure);
            Err(InternalError::from_response(error, response).into())
        }
    }
}

fn insert_security_headers(headers: &mut HeaderMap, is_secure: bool) {
    let transport = is_secure.then_some(STRICT_TRANSPORT);
    for (name, value) in HEADERS.into_iter().chain(transport) {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

/// Allows these sites to frame the response; if their list is not a valid header, framing stays forbidden.
fn allow_framing(headers: &mut HeaderMap, FrameAncestors(sites): &FrameAncestors) {
    let policy = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", &format!("frame-ancestors {sites}"));
    let Ok(policy) = HeaderValue::from_str(&policy) else { return };
    headers.insert(HeaderName::from_static("content-security-policy"), policy);
    headers.remove("x-frame-options");
    let anywhere = HeaderValue::from_static("cross-origin");
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), anywhere);
}

#[cfg(test)]
mod tests {
    use actix_web::middleware::from_fn;
    use actix_web::test::{TestRequest, call_service, init_service};
    use actix_web::{App, HttpResponse, error, web};

    use super::*;

    #[actix_web::test]
    async fn pages_missing_pages_and_failures_carry_every_header() {
        let app = init_service(
            App::new()
                .wrap(from_fn(security_headers))
                .route("/fine", web::get().to(HttpResponse::Ok))
                .route("/failed", web::get().to(async || Err::<&str, _>(error::ErrorInternalServerError("inner")))),
        )
        .await;
        for (path, status) in [("/fine", 200), ("/failed", 500), ("/missing", 404)] {
            let response = call_service(&app, TestRequest::get().uri(path).to_request()).await;
            assert_eq!(response.status().as_u16(), status);
            for (name, value) in HEADERS {
                assert_eq!(response.headers().get(name).map(HeaderValue::as_bytes), Some(value.as_bytes()), "{path}");
            }
        }
    }

    #[actix_web::test]
    async fn a_refusal_by_an_inner_middleware_carries_them_too() {
        async fn refuse(_: ServiceRequest, _: Next<impl MessageBody>) -> Result<ServiceResponse, Error> {
            Err(error::ErrorForbidden("no"))
        }
        let app = init_service(App::new().wrap(from_fn(refuse)).wrap(from_fn(security_headers))).await;
        let refused = actix_web::test::try_call_service(&app, TestRequest::get().to_request()).await;
        let Err(error) = refused else { panic!("the inner middleware refuses") };
        let response = error.error_response();
        assert_eq!(response.status().as_u16(), 403);
        assert!(response.headers().contains_key("content-security-policy"));
    }

    #[test]
    fn the_policy_allows_nothing_inline_and_no_other_host() {
        for forbidden in ["unsafe", "http:", "https:", "*", "data:", "blob:"] {
            assert!(!CONTENT_SECURITY_POLICY.contains(forbidden), "{forbidden}");
        }
    }
}
