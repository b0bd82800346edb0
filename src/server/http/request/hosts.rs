//! Validation of the `Host` and `Origin` headers.
//!
//! DNS rebinding lets a foreign page reach a server under a name of the attacker's choice, and the browser then treats both as one site. So
//! only names that no attacker can point here are served: IP addresses, loopback names, and the host of `server.public_url`.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Version;
use actix_web::http::header::{COOKIE, HOST, HeaderMap, ORIGIN};
use actix_web::middleware::Next;
use actix_web::{Error, HttpRequest, ResponseError, web};
use reqwest::Url;

use super::error::PageError;
use super::error_page::is_for_people;
use crate::pages::errors::foreign_host::foreign_host;
use crate::state::AppState;

/// Default port of `https`.
const TLS_PORT: u16 = 443;

/// Middleware for `actix_web::middleware::from_fn`: requests under a foreign name get 421.
///
/// # Errors
/// Error of the inner service.
pub(in crate::http) async fn refuse_foreign_hosts<B: MessageBody>(
    app: web::Data<AppState>,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let target = request.uri().authority().map(|authority| authority.as_str());
    if is_served(request.version(), target, request.headers(), &app.settings.now().server.public_url) {
        return Ok(next.call(request).await?.map_into_left_body());
    }
    let refused = PageError::ForeignHost;
    let response = if is_for_people(request.request()) {
        let page = foreign_host(request.request(), refused.status_code());
        request.into_response(page)
    } else {
        request.error_response(refused)
    };
    Ok(response.map_into_right_body())
}

/// Returns the arena's base address: the public one if set, or else that of this request; without a trailing slash.
pub(in crate::http) fn public_address(request: &HttpRequest, app: &AppState) -> String {
    let settings = app.settings.now();
    let public = settings.server.public_url.trim_end_matches('/');
    // Forwarding headers are ignored: anyone can send them.
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let host = host.unwrap_or_else(|| request.app_config().host());
    if public.is_empty() { format!("http://{host}") } else { public.to_owned() }
}

/// Whether requests under this host name are served. `target` is the host in the request line, if present; it and the `Host` header must
/// both match.
fn is_served(version: Version, target: Option<&str>, headers: &HeaderMap, public_url: &str) -> bool {
    let mut named = headers.get_all(HOST).map(|host| host.to_str().ok());
    let host_is_ours = match (named.next(), named.next()) {
        // HTTP/1.0 has no such header; health checks use it, browsers do not.
        (None, _) => version < Version::HTTP_11,
        (Some(host), None) => is_own_host(host, public_url),
        (Some(_), Some(_)) => false,
    };
    host_is_ours && target.is_none_or(|target| is_own_host(Some(target), public_url))
}

fn is_own_host(host: Option<&str>, public_url: &str) -> bool {
    let Some(address) = host.and_then(address_of) else { return false };
    // An IP address cannot be redirected by DNS.
    address.domain().is_none_or(is_loopback_name) || has_host_of(&address, public_url)
}

/// Whether a request names the public address, with its port, while that uses TLS. Then a proxy has forwarded it: the arena itself speaks
/// plain HTTP.
pub(in crate::http) fn is_by_public_name(headers: &HeaderMap, public_url: &str) -> bool {
    let address = headers.get(HOST).and_then(|host| address_of(host.to_str().ok()?));
    let public = Url::parse(public_url).ok().filter(|public| public.scheme() == "https");
    let (Some(address), Some(public)) = (address, public) else { return false };
    let is_named = address.domain().is_some_and(|domain| !is_loopback_name(domain));
    // Clients may include the TLS port, which is not the default of plain HTTP.
    let port = address.port().or(Some(TLS_PORT));
    is_named && (address.host_str(), port) == (public.host_str(), public.port_or_known_default())
}

fn is_loopback_name(domain: &str) -> bool {
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    domain == "localhost" || domain.ends_with(".localhost")
}

fn has_host_of(address: &Url, public_url: &str) -> bool {
    Url::parse(public_url).is_ok_and(|public| public.host_str() == address.host_str())
}

/// Returns the address of a `Host` header: the arena itself speaks plain HTTP.
fn address_of(host: &str) -> Option<Url> {
    let is_authority = !host.contains(['/', '\\', '?', '#', '@']);
    Url::parse(&format!("http://{host}/")).ok().filter(|_| is_authority)
}

/// Whether one of the arena's pages, or a program, opens this socket. A browser sends the page's origin, which must be the address of the
/// request itself or `server.public_url`. A program sends none; then it must not send a cookie that a page could abuse.
pub(in crate::http) fn is_own_page(headers: &HeaderMap, public_url: &str) -> bool {
    let mut origins = headers.get_all(ORIGIN);
    let Some(origin) = origins.next() else { return !headers.contains_key(COOKIE) };
    // Browsers never send two origins.
    if origins.next().is_some() {
        return false;
    }
    let Some(origin) = origin.to_str().ok().and_then(origin_of) else { return false };
    let public = Url::parse(public_url).ok();
    if public.as_ref().is_some_and(|public| public.origin() == origin.origin()) {
        return true;
    }
    let address = headers.get(HOST).and_then(|host| address_of(host.to_str().ok()?));
    // If the arena is public by TLS, a page loaded without TLS may have been tampered with.
    let is_secured = |address: &Url| public_url.starts_with("https://") && has_host_of(address, public_url);
    address.is_some_and(|address| address.origin() == origin.origin() && !is_secured(&address))
}

/// Parses an origin: scheme, host, and the port unless it is the default.
fn origin_of(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| url.has_host() && url.origin().ascii_serialization() == text)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    const PUBLIC: &str = "https://arena.example.org/";

    fn headers(host: &str, more: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        for (name, value) in more {
            headers.insert(name.parse().unwrap(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[track_caller]
    fn check_host(host: &str, public_url: &str, served: bool) {
        let headers = headers(host, &[]);
        assert_eq!(is_served(Version::HTTP_11, None, &headers, public_url), served, "{host:?} beside {public_url:?}");
    }

    #[test]
    fn ip_addresses_loopback_names_and_the_public_host_are_served() {
        for host in [
            "127.0.0.1:8717",
            "127.0.0.1",
            "192.0.2.7:80",
            "[::1]:8717",
            "[2001:db8::7]",
            "localhost",
            "LocalHost:8717",
            "localhost.",
            "arena.localhost:8717",
        ] {
            check_host(host, "", true);
            check_host(host, PUBLIC, true);
        }
        for host in ["arena.example.org", "ARENA.example.org", "arena.example.org:8443"] {
            check_host(host, PUBLIC, true);
            check_host(host, "", false);
        }
    }

    #[test]
    fn every_other_name_is_refused() {
        for host in [
            "evil.example",
            "evil.example:8717",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "notlocalhost",
            "arena.example.org.evil.example",
            "evil.example@127.0.0.1",
            "127.0.0.1@evil.example",
            "127.0.0.1/evil.example",
            "evil.example\\@127.0.0.1",
            "127.0.0.1:port",
            "a b",
            "[::1",
            "",
        ] {
            check_host(host, "", false);
            check_host(host, PUBLIC, false);
        }
    }

    #[test]
    fn a_host_that_is_missing_or_double_or_contradicts_the_request_line_is_refused() {
        let none = HeaderMap::new();
        assert!(is_served(Version::HTTP_10, None, &none, ""), "health checks speak HTTP/1.0");
        assert!(!is_served(Version::HTTP_11, None, &none, ""));
        let mut both = headers("127.0.0.1", &[]);
        both.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!is_served(Version::HTTP_11, None, &both, ""));
        let ours = headers("127.0.0.1", &[]);
        assert!(is_served(Version::HTTP_11, Some("localhost:8717"), &ours, ""));
        assert!(!is_served(Version::HTTP_11, Some("evil.example"), &ours, ""));
        let not_text = {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_bytes(b"\xff").unwrap());
            headers
        };
        assert!(!is_served(Version::HTTP_11, None, &not_text, ""));
    }

    #[track_caller]
    fn check_page(host: &str, public_url: &str, more: &[(&'static str, &str)], expected: bool) {
        assert_eq!(is_own_page(&headers(host, more), public_url), expected, "{host} {public_url:?} {more:?}");
    }

    #[test]
    fn only_pages_of_the_requests_own_address_or_the_public_one_may_open_a_socket() {
        let check = |origin, expected| check_page("127.0.0.1:8717", PUBLIC, &[("origin", origin)], expected);
        check("http://127.0.0.1:8717", true);
        check("https://arena.example.org", true);
        for foreign in [
            "null",
            "",
            "http://evil.example",
            "http://127.0.0.1",
            "http://127.0.0.1:8718",
            "http://localhost:8717",
            "https://127.0.0.1:8717",
            "http://127.0.0.1:8717/",
            "http://arena.example.org",
            "https://arena.example.org.evil.example",
            "https://arena.example.org:444",
            "ftp://127.0.0.1:8717",
            "file://",
        ] {
            check(foreign, false);
        }
        check_page("localhost", "", &[("origin", "http://localhost")], true);
        check_page("localhost:80", "", &[("origin", "http://localhost")], true);
        check_page("[::1]:8717", "", &[("origin", "http://[::1]:8717")], true);
        check_page("localhost", "", &[("origin", "https://localhost")], false);
    }

    #[test]
    fn a_request_that_names_two_pages_is_foreign() {
        let (own, other) = ("http://127.0.0.1:8717", "http://evil.example");
        for [first, second] in [[own, other], [other, own], [own, own]] {
            let mut headers = headers("127.0.0.1:8717", &[("origin", first)]);
            headers.append(ORIGIN, HeaderValue::from_static(second));
            assert!(!is_own_page(&headers, PUBLIC), "{first} {second}");
        }
    }

    #[test]
    fn where_the_arena_is_public_by_tls_a_page_without_it_is_foreign() {
        let host = "arena.example.org";
        check_page(host, PUBLIC, &[("origin", "https://arena.example.org")], true);
        check_page(host, PUBLIC, &[("origin", "http://arena.example.org")], false);
        check_page(host, "http://arena.example.org", &[("origin", "http://arena.example.org")], true);
        check_page(host, "http://arena.example.org", &[("origin", "https://arena.example.org")], false);
        check_page("127.0.0.1:1", "http://127.0.0.1:2", &[("origin", "http://127.0.0.1:1")], true);
    }

    #[test]
    fn a_program_names_no_page_and_brings_no_cookie() {
        check_page("127.0.0.1:8717", PUBLIC, &[], true);
        check_page("127.0.0.1:8717", PUBLIC, &[("cookie", "langya_session=x")], false);
        check_page(
            "127.0.0.1:8717",
            PUBLIC,
            &[("cookie", "langya_session=x"), ("origin", "http://127.0.0.1:8717")],
            true,
        );
    }
}
