//! A sign-in that is under way: what the browser keeps in a cookie meanwhile, and what is derived from it.
//!
//! The cookie holds a random number, a time, where to go on and which session ends then, signed by the arena. State, nonce and the verifier of PKCE are other
//! signatures of the same text: so nothing is stored for people who never come back, and neither the provider nor the browser learns
//! the verifier before it is used.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::domain::time::Timestamp;
use crate::rng::SharedRng;
use crate::sessions::Sessions;

/// Minutes within which people come back from the provider.
pub const FLOW_MINUTES: i64 = 10;
/// Bytes of a cookie at most: one with an address of 2000 bytes and a session is shorter, and browsers keep it.
const MOST_BYTES: usize = 3_072;
const COOKIE: &str = "oidc cookie";
const STATE: &str = "oidc state";
const NONCE: &str = "oidc nonce";
const VERIFIER: &str = "oidc verifier";

/// Whom a sign-in is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Somebody who runs the arena.
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

/// A sign-in that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Whom it is for.
    pub purpose: Purpose,
    /// Address of the arena to go on at.
    pub next: String,
    /// What identifies the admin's session that the new one replaces. The browser keeps its cookie back when people return from another site.
    pub former: Option<String>,
    /// What is signed.
    text: String,
}

impl Flow {
    /// Begins one.
    #[must_use]
    pub fn begin(purpose: Purpose, next: &str, rng: &SharedRng, now: Timestamp) -> Self {
        let expires = now.0 + FLOW_MINUTES * 60_000;
        let text = format!("{}.{expires}.{}.{}", purpose.as_str(), rng.token(), URL_SAFE_NO_PAD.encode(next));
        Self { purpose, next: next.to_owned(), former: None, text }
    }

    /// The same as a sign-in that replaces a session; `former` is plain and without a dot.
    #[must_use]
    pub fn replacing(self, former: Option<String>) -> Self {
        let text = former.iter().fold(self.text, |text, former| format!("{text}.{former}"));
        Self { former, text, ..self }
    }

    /// What the browser keeps.
    #[must_use]
    pub fn cookie(&self, sessions: &Sessions) -> String {
        format!("{}.{}", self.text, sessions.signature(COOKIE, &self.text))
    }

    /// The sign-in of a cookie, which has to be ours and not expired.
    #[must_use]
    pub fn of_cookie(cookie: &str, sessions: &Sessions, now: Timestamp) -> Option<Self> {
        let (text, signature) = cookie.rsplit_once('.').filter(|_| cookie.len() <= MOST_BYTES)?;
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

    /// What the provider sends back.
    #[must_use]
    pub fn state(&self, sessions: &Sessions) -> String {
        sessions.signature(STATE, &self.text)
    }

    /// Whether the provider sent back what it was given; takes as long for a guess that is nearly right.
    #[must_use]
    pub fn has_state(&self, sessions: &Sessions, state: &str) -> bool {
        sessions.is_signature(STATE, &self.text, state)
    }

    /// What the ID token has to repeat.
    #[must_use]
    pub fn nonce(&self, sessions: &Sessions) -> String {
        sessions.signature(NONCE, &self.text)
    }

    /// What proves that the user of the code began the sign-in (RFC 7636).
    pub(super) fn verifier(&self, sessions: &Sessions) -> String {
        sessions.signature(VERIFIER, &self.text)
    }

    /// What the provider gets of the verifier beforehand.
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
        let flow = Flow::begin(Purpose::Admin, "/admin/votes?voter=a&rule=b.c", &rng, NOW);
        let cookie = flow.cookie(&sessions);
        let at = |ms: i64, cookie: &str| Flow::of_cookie(cookie, &sessions, Timestamp(NOW.0 + ms));
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
            ".".repeat(MOST_BYTES + 1),
        ];
        for forged in forged {
            assert_eq!(at(0, &forged), None, "{forged:.200}");
        }
        let other = super::tests::sessions("other key");
        assert_eq!(Flow::of_cookie(&cookie, &other, NOW), None);
    }

    #[test]
    fn a_cookie_names_the_session_that_is_replaced_and_nobody_else_can_name_one() {
        let (sessions, rng) = (sessions("key"), SharedRng::seeded(2));
        let flow = Flow::begin(Purpose::Admin, "/admin", &rng, NOW);
        let of = |cookie: &str| Flow::of_cookie(cookie, &sessions, NOW);
        assert_eq!(of(&flow.cookie(&sessions)), Some(flow.clone()));
        assert_eq!(flow.clone().replacing(None), flow);
        let replacing = flow.clone().replacing(Some("a1b2".to_owned()));
        let cookie = replacing.cookie(&sessions);
        assert_eq!(of(&cookie).and_then(|flow| flow.former).as_deref(), Some("a1b2"));
        assert_eq!(of(&cookie), Some(replacing));
        assert_eq!(of(&cookie.replace("a1b2", "a1b3")), None);
        let longest = Flow::begin(Purpose::Admin, &format!("/admin?{}", "x".repeat(1_993)), &rng, NOW);
        let longest = longest.replacing(Some("a".repeat(64)));
        assert_eq!(of(&longest.cookie(&sessions)), Some(longest), "the longest address that the admin leads to");
    }

    #[test]
    fn state_nonce_and_verifier_tell_nothing_of_each_other_and_differ_by_sign_in() {
        let (sessions, rng) = (sessions("key"), SharedRng::seeded(2));
        let [one, other] = [0, 1].map(|_| Flow::begin(Purpose::Visitor, "/", &rng, NOW));
        let secrets = |flow: &Flow| [flow.state(&sessions), flow.nonce(&sessions), flow.verifier(&sessions)];
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
