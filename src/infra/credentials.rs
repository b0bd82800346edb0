//! Hashes of what people sign in with: the arena's pass phrase and the codes of invites.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use sha2::{Digest, Sha256};

use crate::rng::hex;

/// What a guess is compared with where the settings have no hash, so that it takes as long.
const NO_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$bGFuZ3lhLW5vLWhhc2g$\
     AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Whether an argon2 hash is that of a guess. A hash that cannot be read is nobody's.
#[must_use]
pub fn is_hash_of(hash: &str, guess: &str) -> bool {
    let (hash, known) = match PasswordHash::new(hash) {
        Ok(hash) => (hash, true),
        Err(_) => (PasswordHash::new(NO_HASH).expect("a fixed hash"), false),
    };
    Argon2::default().verify_password(guess.as_bytes(), &hash).is_ok() && known
}

/// The hash of a pass phrase by argon2id with a salt of its own, for the settings.
///
/// # Errors
/// A system without randomness, and a pass phrase of gigabytes.
pub fn passphrase_hash(passphrase: &str) -> Result<String, argon2::password_hash::Error> {
    Ok(Argon2::default().hash_password(passphrase.as_bytes())?.to_string())
}

/// What is kept of an invite's code, of which the letters are given. It has 128 random bits, so a plain hash cannot be turned back.
#[must_use]
pub fn code_hash(letters: &str) -> String {
    hex(&Sha256::digest(format!("langya invite {letters}")))
}
