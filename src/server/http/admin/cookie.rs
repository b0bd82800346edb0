//! The cookie of an admin session: separate from the visitor's, `SameSite=Strict`, and deleted when the browser closes.

use actix_web::HttpRequest;
use actix_web::cookie::{Cookie, SameSite};

use crate::http::request::cookie_values::cookie_values;
use crate::infra::config::is_public_by_tls;

const COOKIE: &str = "langya_admin";
/// Cookie name with the `__Host-` prefix: browsers accept it only over TLS, from this very host and not from a subdomain.
const SECURE_COOKIE: &str = "__Host-langya_admin";
/// Maximum token length; longer than any token.
const MAX_TOKEN_LENGTH: usize = 64;

/// Builds the cookie of a token.
pub(super) fn cookie_of(token: String, public_url: &str) -> Cookie<'static> {
    let secure = is_public_by_tls(public_url);
    let cookie =
        Cookie::build(name(secure), token).path("/").http_only(true).same_site(SameSite::Strict).secure(secure);
    cookie.finish()
}

/// Builds a cookie that deletes the session cookie.
pub(super) fn expired_cookie(public_url: &str) -> Cookie<'static> {
    let mut cookie = cookie_of(String::new(), public_url);
    cookie.make_removal();
    cookie
}

/// Returns the session token of a request.
pub(super) fn token_of(request: &HttpRequest, public_url: &str) -> Option<String> {
    let mut values = cookie_values(request, name(is_public_by_tls(public_url)));
    values.find(|value| (1..=MAX_TOKEN_LENGTH).contains(&value.len())).map(str::to_owned)
}

fn name(secure: bool) -> &'static str {
    if secure { SECURE_COOKIE } else { COOKIE }
}
