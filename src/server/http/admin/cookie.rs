//! The cookie of an admin's session: apart from the visitor's, sent only from the arena's own pages, and gone with the browser.

use actix_web::HttpRequest;
use actix_web::cookie::{Cookie, SameSite};

use crate::http::cookie_values::cookie_values;
use crate::infra::config::is_public_by_tls;

const COOKIE: &str = "langya_admin";
/// By this name browsers promise that the cookie came over TLS, from this very host and not from one of its subdomains.
const SECURE_COOKIE: &str = "__Host-langya_admin";
/// Longer than any token.
const MAX_TOKEN: usize = 64;

/// The cookie that carries a token.
pub(super) fn cookie_of(token: String, public_url: &str) -> Cookie<'static> {
    let secure = is_public_by_tls(public_url);
    let cookie =
        Cookie::build(name(secure), token).path("/").http_only(true).same_site(SameSite::Strict).secure(secure);
    cookie.finish()
}

/// A cookie that takes the session's away.
pub(super) fn expired_cookie(public_url: &str) -> Cookie<'static> {
    let mut cookie = cookie_of(String::new(), public_url);
    cookie.make_removal();
    cookie
}

/// The token that a request brings.
pub(super) fn token_of(request: &HttpRequest, public_url: &str) -> Option<String> {
    let mut values = cookie_values(request, name(is_public_by_tls(public_url)));
    values.find(|value| (1..=MAX_TOKEN).contains(&value.len())).map(str::to_owned)
}

fn name(secure: bool) -> &'static str {
    if secure { SECURE_COOKIE } else { COOKIE }
}
