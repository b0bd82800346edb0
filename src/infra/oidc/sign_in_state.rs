//! State of a sign-in in progress: the browser's cookie, and the values derived from it.
//!
//! The cookie holds a random number, a time, the page to continue on and the session to end, signed by the arena. State, nonce and PKCE
//! verifier are other signatures of the same text: so nothing is stored for sign-ins that are never completed, and neither the provider nor
//! the browser learns the verifier before it is used.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::domain::time::Timestamp;
use crate::rng::SharedRng;
use crate::sessions::Sessions;

/// Minutes within which a sign-in must be completed.
pub const FLOW_MINUTES: i64 = 10;
/// Maximum size of a cookie in bytes: one with an address of 2000 bytes and a session is shorter, and browsers accept it.
const MAX_COOKIE_BYTES: usize = 3_072;
const COOKIE: &str = "oidc cookie";
const STATE: &str = "oidc state";
const NONCE: &str = "oidc nonce";
const VERIFIER: &str = "oidc verifier";

/// Purpose of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// An administrator.
    Admin,
    /// A visitor.
    Visitor,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Visitor => "visitor",
        }
    }
}

/// A sign-in in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInFlow {
    /// Purpose of the sign-in.
    pub purpose: Purpose,
    /// Page of the arena to continue on.
    pub next: String,
    /// Identifier of the admin session that the new one replaces. Browsers withhold its cookie on the return from another site.
    pub former: Option<String>,
    /// Signed text.
    text: String,
}

impl SignInFlow {
    /// Begins a sign-in.
    #[must_use]
    pub fn begin(purpose: Purpose, next: &str, rng: &SharedRng, now: Timestamp) -> Self {
        let expires = now.0 + FLOW_MINUTES * 60_000;
        let text = format!("{}.{expires}.{}.{}", purpose.as_str(), rng.token(), URL_SAFE_NO_PAD.encode(next));
        Self { purpose, next: next.to_owned(), former: None, text }
    }

    /// Returns the sign-in with a session to replace; `former` must be plain and without a dot.
    #[must_use]
    pub fn replacing(self, former: Option<String>) -> Self {
        let text = former.iter().fold(self.text, |text, former| format!("{text}.{former}"));
        Self { former, text, ..self }
    }

    /// Returns the browser's cookie.
    #[must_use]
    pub fn cookie(&self, sessions: &Sessions) -> String {
        format!("{}.{}", self.text, sessions.signature(COOKIE, &self.text))
    }

    /// Parses a cookie; `None` if it is forged or expired.
    #[must_use]
    pub fn of_cookie(cookie: &str, sessions: &Sessions, now: Timestamp) -> Option<Self> {
        let (text, signature) = cookie.rsplit_once('.').filter(|_| cookie.len() <= MAX_COOKIE_BYTES)?;
        if !sessions.is_signature(COOKIE, text, signature) {
            return None;
        }
        let mut parts = text.split('.');
        let purpose = parts.next()?;
        let purpose = [Purpose::Admin, Purpose::Visitor].into_iter().find(|known| known.as_str() == purpose)?;
        let expires: i64 = parts.next()?.parse().ok()?;
        let next = URL_SAFE_NO_PAD.decode(parts.nth(1)?).ok()?;
        let next = String::from_utf8(next).ok()?;
        let former = parts.next().map(str::to_owned);
        (now.0 < expires).then(|| Self { purpose, next, former, text: text.to_owned() })
    }

    /// Returns the `state` parameter.
    #[must_use]
    pub fn state(&self, sessions: &Sessions) -> String {
        sessions.signature(STATE, &self.text)
    }

    /// Whether the provider returned the right `state`; compares in constant time.
    #[must_use]
    pub fn has_state(&self, sessions: &Sessions, state: &str) -> bool {
        sessions.is_signature(STATE, &self.text, state)
    }

    /// Returns the nonce that the ID token must repeat.
    #[must_use]
    pub fn nonce(&self, sessions: &Sessions) -> String {
        sessions.signature(NONCE, &self.text)
    }

    /// Returns the PKCE code verifier (RFC 7636).
    pub(super) fn verifier(&self, sessions: &Sessions) -> String {
        sessions.signature(VERIFIER, &self.text)
    }

    /// Returns the PKCE code challenge.
    pub(super) fn challenge(&self, sessions: &Sessions) -> String {
        challenge_of(&self.verifier(sessions))
    }
}

fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn sessions(key: &str) -> Sessions {
        Sessions::with_key(key, Arc::new(SharedRng::seeded(1)))
    }

    #[test]
    fn a_cookie_is_good_for_ten_minutes_and_only_as_it_was_given() {
        let (sessions, rng) = (sessions("key"), SharedRng::seeded(2));
        let flow = SignInFlow::begin(Purpose::Admin, "/admin/votes?voter=a&rule=b.c", &rng, NOW);
        let cookie = flow.cookie(&sessions);
        let at = |ms: i64, cookie: &str| SignInFlow::of_cookie(cookie, &sessions, Timestamp(NOW.0 + ms));
        assert_eq!(at(0, &cookie), Some(flow.clone()));
        assert_eq!(at(FLOW_MINUTES * 60_000 - 1, &cookie), Some(flow.clone()));
        assert_eq!(at(FLOW_MINUTES * 60_000, &cookie), None);
        let later = (NOW.0 + FLOW_MINUTES * 60_000).to_string();
        let forged = [
            cookie.replacen("admin", "visitor", 1),
            cookie.replacen(&later, "9999999999999", 1),
            cookie[..cookie.len() - 2].to_owned(),
            format!("{}.{}", flow.text, flow.state(&sessions)),
            format!("{}.{}", flow.text, flow.nonce(&sessions)),
            cookie.rsplit_once('.').unwrap().0.to_owned(),
            String::new(),
            ".".repeat(MAX_COOKIE_BYTES + 1),
        ];
        for forged in forged {
            assert_eq!(at(0, &forged), None, "{forged:.200}");
        }
        let other = super::tests::sessions("other key");
        assert_eq!(SignInFlow::of_cookie(&cookie, &other, NOW), None);
    }

    #[test]
    fn a_cookie_names_the_session_that_is_replaced_and_nobody_else_can_name_one() {
        let (sessions, rng) = (sessions("key"), SharedRng::seeded(2));
        let flow = SignInFlow::begin(Purpose::Admin, "/admin", &rng, NOW);
        let of = |cookie: &str| SignInFlow::of_cookie(cookie, &sessions, NOW);
        assert_eq!(of(&flow.cookie(&sessions)), Some(flow.clone()));
        assert_eq!(flow.clone().replacing(None), flow);
        let replacing = flow.clone().replacing(Some("a1b2".to_owned()));
        let cookie = replacing.cookie(&sessions);
        assert_eq!(of(&cookie).and_then(|flow| flow.former).as_deref(), Some("a1b2"));
        assert_eq!(of(&cookie), Some(replacing));
        assert_eq!(of(&cookie.replace("a1b2", "a1b3")), None);
        let longest = SignInFlow::begin(Purpose::Admin, &format!("/admin?{}", "x".repeat(1_993)), &rng, NOW);
        let longest = longest.replacing(Some("a".repeat(64)));
        assert_eq!(of(&longest.cookie(&sessions)), Some(longest), "the longest address that the admin leads to");
    }

    #[test]
    fn state_nonce_and_verifier_tell_nothing_of_each_other_and_differ_by_sign_in() {
        let (sessions, rng) = (sessions("key"), SharedRng::seeded(2));
        let [one, other] = [0, 1].map(|_| SignInFlow::begin(Purpose::Visitor, "/", &rng, NOW));
        let secrets = |flow: &SignInFlow| [flow.state(&sessions), flow.nonce(&sessions), flow.verifier(&sessions)];
        let mut all = [secrets(&one), secrets(&other)].concat();
        all.push(one.cookie(&sessions).rsplit_once('.').unwrap().1.to_owned());
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(one.has_state(&sessions, &one.state(&sessions)));
        for foreign in [other.state(&sessions), one.nonce(&sessions), String::new()] {
            assert!(!one.has_state(&sessions, &foreign), "{foreign}");
        }
        // RFC 7636, 4.1: 43 to 128 unreserved characters.
        assert!((43..=128).contains(&one.verifier(&sessions).len()));
        assert_eq!(one.challenge(&sessions).len(), 43);
    }

    #[test]
    fn the_challenge_is_that_of_rfc_7636() {
        // Appendix B.
        let challenge = challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
