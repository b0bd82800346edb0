//! Signing key of the public log. It is stored among the secrets of the database, so that all instances of an arena share it; access to the
//! database allows signing.

use std::fmt;

use ring::signature::{Ed25519KeyPair, KeyPair};

use crate::domain::hex::decode_hex;
use crate::domain::public_log::checkpoint::Checkpoint;
use crate::domain::public_log::promise::VotePromise;
use crate::domain::public_log::signed_note::VerifierKey;

/// Size of a private key in bytes.
pub const SEED_BYTES: usize = 32;

/// Signs checkpoints and vote promises.
pub struct PublicLogKey {
    pair: Ed25519KeyPair,
    verifier: VerifierKey,
}

/// The private key or the name is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the key or the name of the public log in the database cannot be used: restore the table secrets from a backup"
)]
pub struct UnusableKey;

impl PublicLogKey {
    /// Creates a key from 64 hexadecimal digits and a name.
    ///
    /// # Errors
    /// [`UnusableKey`].
    pub fn new(name: &str, seed: &str) -> Result<Self, UnusableKey> {
        let bytes = decode_hex(seed).filter(|bytes| bytes.len() == SEED_BYTES).ok_or(UnusableKey)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&bytes).map_err(|_| UnusableKey)?;
        let public = pair.public_key().as_ref().try_into().map_err(|_| UnusableKey)?;
        Ok(Self { verifier: VerifierKey::new(name, public).ok_or(UnusableKey)?, pair })
    }

    /// Returns the verifier key of its signatures.
    #[must_use]
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// Signs a checkpoint and returns the note.
    #[must_use]
    pub fn sign(&self, checkpoint: &Checkpoint) -> String {
        self.sign_text(&checkpoint.to_text())
    }

    /// Signs a vote promise and returns the note.
    #[must_use]
    pub fn sign_promise(&self, promise: &VotePromise) -> String {
        self.sign_text(&promise.to_text(self.verifier.name()))
    }

    fn sign_text(&self, text: &str) -> String {
        self.verifier.signed(text, self.pair.sign(text.as_bytes()).as_ref())
    }
}

impl fmt::Debug for PublicLogKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicLogKey({})", self.verifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::public_log::hash::TreeHash;
    use crate::domain::public_log::merkle_proof::TreeHead;

    #[test]
    fn what_a_key_signs_is_verified() {
        // The first key pair of RFC 8032, section 7.1.
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let key = PublicLogKey::new("arena.example/log", seed).unwrap();
        assert!(
            format!("{key:?}").starts_with("PublicLogKey(arena.example/log+")
                && !format!("{key:?}").contains(&seed[..8])
        );
        let head = TreeHead { size: 3, root: TreeHash::leaf(b"x") };
        let checkpoint = Checkpoint { origin: "arena.example/log".into(), head };
        let note = key.sign(&checkpoint);
        assert_eq!(Checkpoint::parse(key.verifier().verify(&note).unwrap()), Some(checkpoint));
        assert!(key.verifier().verify(&note.replace("\n3\n", "\n4\n")).is_err());
        assert_eq!(VerifierKey::parse(&key.verifier().to_string()).unwrap(), *key.verifier());
    }

    #[test]
    fn a_broken_secret_is_refused() {
        for (name, seed) in
            [("a", ""), ("a", "00"), ("a", &"zz".repeat(32)), ("a b", &"00".repeat(32)), ("a", &"ü".repeat(32))]
        {
            assert_eq!(PublicLogKey::new(name, seed).err(), Some(UnusableKey), "{name} {seed}");
        }
    }
}
