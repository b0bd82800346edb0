//! Which language a visitor reads.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::header;

use super::strings::{CHINESE, ENGLISH, Strings};

const COOKIE: &str = "langya_language";

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// English; what everyone gets who asks for neither.
    English,
    /// Chinese in simplified characters.
    Chinese,
}

impl Language {
    /// Every language, in the order in which they are offered.
    pub const ALL: [Language; 2] = [Language::English, Language::Chinese];

    /// The language of a request: `?lang=`, then the cookie, then `Accept-Language`.
    #[must_use]
    pub fn of(request: &HttpRequest) -> Self {
        let cookie = || request.cookie(COOKIE).and_then(|cookie| Self::parse(cookie.value()));
        let accepted = || request.headers().get(header::ACCEPT_LANGUAGE)?.to_str().ok().and_then(Self::accepted);
        in_query(request).or_else(cookie).or_else(accepted).unwrap_or(Self::English)
    }

    /// The value of the `lang` attribute.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// Reads a language tag such as `zh-CN`.
    #[must_use]
    pub fn parse(tag: &str) -> Option<Self> {
        let primary = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
        Self::ALL.into_iter().find(|language| language.code() == primary)
    }

    /// The language's name in itself.
    pub(crate) fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    pub(crate) fn strings(self) -> &'static Strings {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
        }
    }

    /// The known language with the highest weight in an `Accept-Language` header; the first of equals.
    fn accepted(header: &str) -> Option<Self> {
        let weighted = header.split(',').filter_map(|entry| {
            let (tag, parameters) = entry.split_once(';').unwrap_or((entry, "q=1"));
            let weight: f32 = parameters.trim().strip_prefix("q=")?.parse().ok()?;
            Some((Self::parse(tag)?, weight))
        });
        let best = weighted.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.filter(|(_, weight)| *weight > 0.0).map(|(language, _)| language)
    }
}

/// The cookie that keeps a choice made with `?lang=`.
pub(super) fn chosen(request: &HttpRequest) -> Option<Cookie<'static>> {
    let language = in_query(request)?;
    let cookie = Cookie::build(COOKIE, language.code()).path("/").same_site(SameSite::Lax).http_only(true);
    Some(cookie.max_age(Duration::days(365)).finish())
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
        assert_eq!(Language::of(&request.to_http_request()), expected);
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
