//! Who a visitor is: a random token in a cookie, known to the rest of the arena only by its hash.

use actix_web::HttpRequest;
use actix_web::cookie::{Cookie, SameSite, time::Duration};
use sha2::{Digest, Sha256};

use crate::chance::{Chance, hex};

const COOKIE: &str = "langya_session";
const LIFETIME: Duration = Duration::days(180);

/// The visitor behind a request.
pub(super) struct Visitor {
    /// Pseudonym under which battles and votes are kept.
    pub(super) id: String,
    /// The cookie to set where the request brought none that can be used.
    pub(super) new_cookie: Option<Cookie<'static>>,
}

impl Visitor {
    /// Reads the session cookie, or makes a new session.
    #[must_use]
    pub(super) fn of(request: &HttpRequest, chance: &Chance, public_url: &str) -> Self {
        if let Some(cookie) = request.cookie(COOKIE).filter(|cookie| is_token(cookie.value())) {
            return Self { id: pseudonym(cookie.value()), new_cookie: None };
        }
        let token = chance.token();
        let id = pseudonym(&token);
        let cookie = Cookie::build(COOKIE, token)
            .path("/")
            .http_only(true)
            .same_site(SameSite::Lax)
            .secure(public_url.starts_with("https://"))
            .max_age(LIFETIME)
            .finish();
        Self { id, new_cookie: Some(cookie) }
    }
}

fn is_token(value: &str) -> bool {
    value.len() == 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn pseudonym(token: &str) -> String {
    hex(&Sha256::digest(format!("langya visitor {token}"))[..16])
}
