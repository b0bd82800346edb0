//! Sessions: tokens signed by this arena, and the visitor pseudonyms derived from them.
//!
//! A token is a random number and its signature, `NUMBER.SIGNATURE`, so no session is stored. The session of an account also names the
//! account, `NUMBER-ACCOUNT.SIGNATURE`: all sessions of an account are one visitor, and each can be ended separately. A session that
//! continues the visitor of the previous one names the visitor, `NUMBER_VISITOR.SIGNATURE`. The key is a secret of the database: every
//! instance signs with it, and it survives restarts.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

use crate::domain::battle::VisitorId;
use crate::domain::hex::{decode_hex, hex};
use crate::rng::SharedRng;
use crate::storage::{Store, StoreError};
use crate::time::clock::Clock;

/// Name of the key among the database's secrets.
const KEY_NAME: &str = "session_key";

/// Issues and verifies session tokens.
pub struct Sessions {
    /// Keyed HMAC before any input.
    keyed: Hmac<Sha256>,
    rng: Arc<SharedRng>,
}

/// A newly issued session.
pub struct NewSession {
    /// Token for the visitor.
    pub token: String,
    /// Session of the token.
    pub session: Session,
}

/// A valid session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Pseudonym under which battles and votes are stored.
    pub visitor: VisitorId,
    /// Pseudonym of this session alone, under which its sign-in is stored; the same as the visitor's in the first session of a visitor
    /// without an account.
    pub id: VisitorId,
    /// Whether the session belongs to an account.
    pub has_account: bool,
}

impl Session {
    /// Returns the pseudonym under which consent is looked up. All sessions of an account belong to one person; otherwise another person
    /// may have given consent in the previous session of the browser, so each session needs its own.
    #[must_use]
    pub fn consent_id(&self) -> &VisitorId {
        if self.has_account { &self.visitor } else { &self.id }
    }
}

impl Sessions {
    /// Reads the database's key, or creates it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open(store: &Store, rng: Arc<SharedRng>, clock: &dyn Clock) -> Result<Self, StoreError> {
        let fresh = rng.token() + &rng.token();
        let key = store.secret(KEY_NAME, &fresh, clock.now()).await?;
        Ok(Self::with_key(key.expose_secret(), rng))
    }

    /// Creates the issuer with this key.
    #[must_use]
    pub fn with_key(key: &str, rng: Arc<SharedRng>) -> Self {
        let keyed = Hmac::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
        Self { keyed, rng }
    }

    /// Issues a session.
    #[must_use]
    pub fn issue(&self) -> NewSession {
        self.sign(self.rng.token())
    }

    /// Issues a session for a user of a provider. Without the arena's key the user cannot be identified from it.
    #[must_use]
    pub fn issue_for(&self, issuer: &str, subject: &str) -> NewSession {
        let account = self.signature("account", &format!("{issuer}\n{subject}"));
        self.sign(format!("{}-{}", self.rng.token(), &account[..32]))
    }

    /// Issues another session of a visitor without an account. Its token cannot be derived from the previous one.
    #[must_use]
    pub fn issue_replacement(&self, visitor: &VisitorId) -> NewSession {
        self.sign(format!("{}_{}", self.rng.token(), visitor.as_str()))
    }

    fn sign(&self, number: String) -> NewSession {
        let signature = hex(&self.signed(&number).finalize().into_bytes());
        NewSession { session: session_of(&number), token: format!("{number}.{signature}") }
    }

    /// Returns the session of this token; `None` if it is invalid.
    #[must_use]
    pub fn find(&self, token: &str) -> Option<Session> {
        let (number, signature) = token.split_once('.')?;
        // Compares signatures in constant time.
        self.signed(number).verify_slice(&decode_hex(signature)?).ok()?;
        Some(session_of(number))
    }

    /// Returns the visitor of this token; `None` if it is invalid.
    #[must_use]
    pub fn visitor(&self, token: &str) -> Option<VisitorId> {
        self.find(token).map(|session| session.visitor)
    }

    /// Signs a text for a purpose other than sessions; hexadecimal.
    #[must_use]
    pub fn signature(&self, purpose: &str, text: &str) -> String {
        let keyed = self.keyed.clone().chain_update("langya ").chain_update(purpose).chain_update(" ");
        hex(&keyed.chain_update(text).finalize().into_bytes())
    }

    /// Whether this is the signature of a text; compares in constant time.
    #[must_use]
    pub fn is_signature(&self, purpose: &str, text: &str, signature: &str) -> bool {
        let keyed = self.keyed.clone().chain_update("langya ").chain_update(purpose).chain_update(" ");
        decode_hex(signature).is_some_and(|bytes| keyed.chain_update(text).verify_slice(&bytes).is_ok())
    }

    fn signed(&self, number: &str) -> Hmac<Sha256> {
        self.keyed.clone().chain_update("langya session ").chain_update(number)
    }
}

/// Derives the session of a number. Numbers contain neither a dash nor an underscore, so no session is mistaken for an account or for
/// another visitor's.
fn session_of(number: &str) -> Session {
    let (id, account) = (pseudonym(number), number.split_once('-'));
    let visitor = match (account, number.split_once('_')) {
        (Some((_, account)), _) => pseudonym(&format!("-{account}")),
        (None, Some((_, visitor))) => VisitorId::new(visitor),
        (None, None) => id.clone(),
    };
    Session { visitor, id, has_account: account.is_some() }
}

fn pseudonym(number: &str) -> VisitorId {
    VisitorId::new(hex(&Sha256::digest(format!("langya visitor {number}"))[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(key: &str, seed: u64) -> Sessions {
        Sessions::with_key(key, Arc::new(SharedRng::seeded(seed)))
    }

    #[test]
    fn a_token_is_good_wherever_the_key_is_the_same() {
        let (one, other) = (sessions("key", 1), sessions("key", 2));
        let session = one.issue();
        assert_eq!(one.find(&session.token), Some(session.session.clone()));
        assert_eq!(other.find(&session.token), Some(session.session.clone()));
        assert_eq!(session.session.id, session.session.visitor);
        assert_ne!(one.issue().session.visitor, session.session.visitor);
        assert!(!session.token.contains(session.session.visitor.as_str()));
        assert_eq!(sessions("other key", 1).visitor(&session.token), None);
    }

    #[test]
    fn all_sessions_of_an_account_are_one_visitor_whom_only_this_arena_knows() {
        let sessions = sessions("key", 1);
        let [one, other] = [0, 1].map(|_| sessions.issue_for("https://id.example", "ada@example.org"));
        assert_eq!(one.session.visitor, other.session.visitor);
        assert_ne!((&one.session.id, &one.token), (&other.session.id, &other.token));
        assert_ne!(one.session.id, one.session.visitor);
        assert_eq!(sessions.find(&one.token), Some(one.session.clone()));
        let visitor = |key: &str, issuer: &str, subject: &str| {
            super::tests::sessions(key, 1).issue_for(issuer, subject).session.visitor
        };
        assert_eq!(visitor("key", "https://id.example", "ada@example.org"), one.session.visitor);
        assert_ne!(visitor("other key", "https://id.example", "ada@example.org"), one.session.visitor);
        assert_ne!(visitor("key", "https://other.example", "ada@example.org"), one.session.visitor);
        assert_ne!(visitor("key", "https://id.example", "eve@example.org"), one.session.visitor);
        let (number, rest) = one.token.split_once('-').unwrap();
        for forged in
            [format!("{number}.{}", rest.split_once('.').unwrap().1), format!("-{rest}"), format!("x{}", one.token)]
        {
            assert_eq!(sessions.find(&forged), None, "{forged}");
        }
    }

    #[test]
    fn another_session_of_a_visitor_has_a_token_and_an_id_of_its_own() {
        let sessions = sessions("key", 1);
        let first = sessions.issue();
        let second = sessions.issue_replacement(&first.session.visitor);
        let third = sessions.issue_replacement(&second.session.visitor);
        for again in [&second, &third] {
            assert_eq!(sessions.find(&again.token), Some(again.session.clone()));
            assert_eq!(again.session.visitor, first.session.visitor);
            assert!(again.session.id != first.session.id && !again.session.has_account);
        }
        assert_ne!((&second.session.id, &second.token), (&third.session.id, &third.token));
        let (named, signature) = second.token.split_once('.').unwrap();
        let other = sessions.issue().session.visitor;
        for forged in [
            format!("{}_{}.{signature}", named.split_once('_').unwrap().0, other.as_str()),
            format!("{}.{signature}", named.split_once('_').unwrap().0),
            format!("{}_{}", first.token.split_once('.').unwrap().0, second.token.split_once('_').unwrap().1),
        ] {
            assert_eq!(sessions.find(&forged), None, "{forged}");
        }
    }

    #[test]
    fn a_token_that_was_not_issued_is_nobodys() {
        let sessions = sessions("key", 1);
        let token = sessions.issue().token;
        let (number, signature) = token.split_once('.').unwrap();
        let chosen = "0123456789abcdef0123456789abcdef";
        for forged in [
            chosen.to_owned(),
            format!("{chosen}."),
            format!("{chosen}.{signature}"),
            format!("{chosen}.{}", "0".repeat(64)),
            format!("{number}.{}", &signature[..62]),
            format!("{number}.{signature}00"),
            format!("{number}.{signature}.{signature}"),
            format!("{number}.+{}", &signature[1..]),
            format!("{number}x.{signature}"),
            format!("{number}.é"),
            number.to_owned(),
            format!(".{signature}"),
            ".".to_owned(),
            String::new(),
        ] {
            assert_eq!(sessions.visitor(&forged), None, "{forged:?}");
        }
    }
}
