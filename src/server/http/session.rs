//! The session cookie of a visitor.

use actix_web::HttpRequest;
use actix_web::cookie::{Cookie, SameSite, time::Duration};

use super::request::cookie_values::cookie_values;
use crate::infra::config::is_public_by_tls;
use crate::infra::sessions::{NewSession, Session, Sessions};

const COOKIE: &str = "langya_session";
/// Cookie name with the `__Host-` prefix: browsers accept it only over TLS, from this very host and not from a subdomain.
const SECURE_COOKIE: &str = "__Host-langya_session";
const COOKIE_LIFETIME: Duration = Duration::days(180);

/// Visitor of a request.
pub(super) struct Visitor {
    /// Session, with the visitor's pseudonym.
    pub(super) session: Session,
    /// Cookie to set if the session is new.
    pub(super) new_cookie: Option<Cookie<'static>>,
}

impl Visitor {
    /// Reads the session cookie, or begins a new session.
    #[must_use]
    pub(super) fn from_request(request: &HttpRequest, sessions: &Sessions, public_url: &str) -> Self {
        match find_session(request, sessions, name(is_public_by_tls(public_url))) {
            Some(session) => Self { session, new_cookie: None },
            None => Self::begin(sessions, public_url),
        }
    }

    /// Begins a new session, whatever cookie the request has.
    #[must_use]
    pub(super) fn begin(sessions: &Sessions, public_url: &str) -> Self {
        let NewSession { token, session } = sessions.issue();
        Self { session, new_cookie: Some(cookie_of(token, public_url)) }
    }
}

/// Builds the cookie of a token.
pub(super) fn cookie_of(token: String, public_url: &str) -> Cookie<'static> {
    let secure = is_public_by_tls(public_url);
    Cookie::build(name(secure), token)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(secure)
        .max_age(COOKIE_LIFETIME)
        .finish()
}

/// Builds a cookie that deletes the session cookie.
pub(super) fn expired_cookie(public_url: &str) -> Cookie<'static> {
    let mut cookie = cookie_of(String::new(), public_url);
    cookie.make_removal();
    cookie
}

fn name(secure: bool) -> &'static str {
    if secure { SECURE_COOKIE } else { COOKIE }
}

/// Returns the session of the first cookie with a valid token.
fn find_session(request: &HttpRequest, sessions: &Sessions, name: &str) -> Option<Session> {
    cookie_values(request, name).find_map(|token| sessions.find(token))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use actix_web::http::header::{COOKIE, HeaderValue};
    use actix_web::test::TestRequest;

    use super::*;
    use crate::infra::rng::SharedRng;

    #[test]
    fn cookies_of_other_programs_take_nobody_out_of_their_session() {
        let sessions = Sessions::with_key("key", Arc::new(SharedRng::seeded(1)));
        let NewSession { token, session } = sessions.issue();
        for beside in [&b""[..], b"noname; ", b"a=\xff; ", b"langya_session=junk; "] {
            let header = HeaderValue::from_bytes(&[beside, b"langya_session=", token.as_bytes()].concat()).unwrap();
            let request = TestRequest::default().insert_header((COOKIE, header)).to_http_request();
            let visitor = Visitor::from_request(&request, &sessions, "");
            assert_eq!(visitor.session.visitor, session.visitor, "{beside:?}");
            assert!(visitor.new_cookie.is_none(), "{beside:?}");
        }
    }
}
