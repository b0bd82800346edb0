//! Selection of a visitor's language.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::header;

use crate::domain::language::Language;
use crate::infra::config::{CurrentSettings, is_public_by_tls};

const COOKIE: &str = "langya_language";
/// Cookie name for arenas served over TLS: see the session cookie.
const SECURE_COOKIE: &str = "__Host-langya_language";

/// Returns the language of a request: `?lang=`, then the cookie, then `Accept-Language`, then English.
#[must_use]
pub fn requested_language(request: &HttpRequest) -> Language {
    let cookie = || request.cookie(name(is_secure(request))).and_then(|cookie| Language::parse(cookie.value()));
    let header = || request.headers().get(header::ACCEPT_LANGUAGE)?.to_str().ok().and_then(preferred_language);
    in_query(request).or_else(cookie).or_else(header).unwrap_or_default()
}

/// Returns the known language with the highest weight in an `Accept-Language` header; the first of equals.
fn preferred_language(header: &str) -> Option<Language> {
    let weighted = header.split(',').filter_map(|entry| {
        let (tag, parameters) = entry.split_once(';').unwrap_or((entry, "q=1"));
        let weight: f32 = parameters.trim().strip_prefix("q=")?.parse().ok()?;
        Some((Language::parse(tag)?, weight))
    });
    let best = weighted.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.filter(|(_, weight)| *weight > 0.0).map(|(language, _)| language)
}

/// Returns the cookie that stores a language chosen with `?lang=`.
pub(crate) fn chosen(request: &HttpRequest) -> Option<Cookie<'static>> {
    let language = in_query(request)?;
    let secure = is_secure(request);
    let cookie = Cookie::build(name(secure), language.code()).path("/").same_site(SameSite::Lax).http_only(true);
    Some(cookie.secure(secure).max_age(Duration::days(365)).finish())
}

fn name(secure: bool) -> &'static str {
    if secure { SECURE_COOKIE } else { COOKIE }
}

fn is_secure(request: &HttpRequest) -> bool {
    let settings = request.app_data::<CurrentSettings>();
    settings.is_some_and(|settings| is_public_by_tls(&settings.now().server.public_url))
}

fn in_query(request: &HttpRequest) -> Option<Language> {
    request.query_string().split('&').find_map(|pair| pair.strip_prefix("lang=")).and_then(Language::parse)
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[track_caller]
    fn check(uri: &str, cookie: Option<&str>, accept: &str, expected: Language) {
        let mut request = TestRequest::get().uri(uri).insert_header((header::ACCEPT_LANGUAGE, accept));
        if let Some(value) = cookie {
            request = request.cookie(Cookie::new(COOKIE, value.to_owned()));
        }
        assert_eq!(requested_language(&request.to_http_request()), expected);
    }

    #[test]
    fn the_query_goes_before_the_cookie_and_the_cookie_before_the_browser() {
        check("/", None, "zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese);
        check("/", Some("en"), "zh-CN", Language::English);
        check("/?a=b&lang=zh", Some("en"), "en", Language::Chinese);
    }

    #[test]
    fn weights_are_kept_and_unknown_languages_passed_over() {
        check("/", None, "fr, en;q=0.5, zh;q=0.7", Language::Chinese);
        check("/", None, "en, zh", Language::English);
        check("/", None, "zh;q=0, de", Language::English);
        check("/", None, ";;q=,,zh;q=x", Language::English);
        check("/?lang=xx", Some("yy"), "", Language::English);
    }
}
