//! Sessions: tokens that only this arena can issue, and the pseudonyms of the visitors who bring them.
//!
//! A token is a random number and its signature, `NUMBER.SIGNATURE`, so no session has to be kept. The key is a secret of
//! the database: every instance signs with it, and it outlives restarts.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

use crate::clock::Clock;
use crate::domain::battle::VisitorId;
use crate::rng::{SharedRng, hex};
use crate::storage::{Store, StoreError};

/// The key's name among the database's secrets.
const KEY_NAME: &str = "session_key";

/// Issues and checks session tokens.
pub struct Sessions {
    /// The keyed hash, before anything is put into it.
    keyed: Hmac<Sha256>,
    rng: Arc<SharedRng>,
}

/// A new session.
pub struct NewSession {
    /// What the visitor brings from now on.
    pub token: String,
    /// Pseudonym under which battles and votes are kept.
    pub visitor: VisitorId,
}

impl Sessions {
    /// Reads the database's key, or makes one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open(store: &Store, rng: Arc<SharedRng>, clock: &dyn Clock) -> Result<Self, StoreError> {
        let fresh = rng.token() + &rng.token();
        let key = store.secret(KEY_NAME, &fresh, clock.now()).await?;
        Ok(Self::with_key(key.expose_secret(), rng))
    }

    /// Signs with this key.
    #[must_use]
    pub fn with_key(key: &str, rng: Arc<SharedRng>) -> Self {
        let keyed = Hmac::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
        Self { keyed, rng }
    }

    /// Begins a session.
    #[must_use]
    pub fn issue(&self) -> NewSession {
        let number = self.rng.token();
        let signature = hex(&self.signed(&number).finalize().into_bytes());
        NewSession { visitor: pseudonym(&number), token: format!("{number}.{signature}") }
    }

    /// The visitor who was given this token; `None` where it is not one of ours.
    #[must_use]
    pub fn visitor(&self, token: &str) -> Option<VisitorId> {
        let (number, signature) = token.split_once('.')?;
        // Takes as long for a signature that is nearly right as for any other.
        self.signed(number).verify_slice(&bytes_of(signature)?).ok()?;
        Some(pseudonym(number))
    }

    /// The signature of a text for another purpose than a session, in hexadecimal.
    #[must_use]
    pub fn signature(&self, purpose: &str, text: &str) -> String {
        let keyed = self.keyed.clone().chain_update("langya ").chain_update(purpose).chain_update(" ");
        hex(&keyed.chain_update(text).finalize().into_bytes())
    }

    /// Whether this is the signature of a text; takes as long for one that is nearly right.
    #[must_use]
    pub fn is_signature(&self, purpose: &str, text: &str, signature: &str) -> bool {
        let keyed = self.keyed.clone().chain_update("langya ").chain_update(purpose).chain_update(" ");
        bytes_of(signature).is_some_and(|bytes| keyed.chain_update(text).verify_slice(&bytes).is_ok())
    }

    fn signed(&self, number: &str) -> Hmac<Sha256> {
        self.keyed.clone().chain_update("langya session ").chain_update(number)
    }
}

fn pseudonym(number: &str) -> VisitorId {
    VisitorId::new(hex(&Sha256::digest(format!("langya visitor {number}"))[..16]))
}

/// The bytes that hexadecimal digits stand for.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
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
        assert_eq!(one.visitor(&session.token), Some(session.visitor.clone()));
        assert_eq!(other.visitor(&session.token), Some(session.visitor.clone()));
        assert_ne!(one.issue().visitor, session.visitor);
        assert!(!session.token.contains(session.visitor.as_str()));
        assert_eq!(sessions("other key", 1).visitor(&session.token), None);
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
