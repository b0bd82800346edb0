//! Hashes of credentials: passphrases by argon2id, verified a few at a time and in constant time, and invite codes.

use std::sync::Arc;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use crate::domain::hex::hex;

/// Maximum number of concurrent hashes; each takes 19 MiB and a core for a moment.
const MAX_CONCURRENT_HASHES: usize = 2;
/// Maximum wait in the queue.
const HASH_QUEUE_TIMEOUT: Duration = Duration::from_secs(10);
/// Hash to compare with if the settings have none, so that a check takes as long.
const PLACEHOLDER_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$bGFuZ3lhLW5vLWhhc2g$\
     AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Error of a passphrase check.
#[derive(Debug, thiserror::Error)]
pub enum PassphraseError {
    /// Too many checks are waiting.
    #[error("many passphrases are being checked: try again in a moment")]
    Busy,
    /// The system has no random number generator.
    #[error("the passphrase cannot be hashed")]
    Hash(#[from] argon2::password_hash::Error),
}

/// Verifies and hashes passphrases on blocking threads.
#[derive(Debug)]
pub struct PassphraseChecks(Arc<Semaphore>);

impl Default for PassphraseChecks {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONCURRENT_HASHES)))
    }
}

impl PassphraseChecks {
    /// Whether a guess has this hash. Takes equally long for any guess, also if the hash is invalid.
    ///
    /// # Errors
    /// [`PassphraseError::Busy`].
    pub async fn is_hash_of(&self, hash: &str, guess: &str) -> Result<bool, PassphraseError> {
        let (hash, guess) = (hash.to_owned(), guess.to_owned());
        self.run(move || is_hash_of(&hash, &guess)).await
    }

    /// Hashes a passphrase.
    ///
    /// # Errors
    /// [`PassphraseError`].
    pub async fn hash(&self, passphrase: &str) -> Result<String, PassphraseError> {
        let passphrase = passphrase.to_owned();
        Ok(self.run(move || passphrase_hash(&passphrase)).await??)
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, PassphraseError> {
        let turn = tokio::time::timeout(HASH_QUEUE_TIMEOUT, Arc::clone(&self.0).acquire_owned()).await;
        let turn = turn.map_err(|_| PassphraseError::Busy)?;
        // The thread holds the permit until it ends, because it continues when its caller is cancelled.
        let in_turn = move || {
            let done = work();
            drop(turn);
            done
        };
        tokio::task::spawn_blocking(in_turn).await.map_err(|_| PassphraseError::Busy)
    }
}

fn is_hash_of(hash: &str, guess: &str) -> bool {
    let (hash, known) = match PasswordHash::new(hash) {
        Ok(hash) => (hash, true),
        Err(_) => (PasswordHash::new(PLACEHOLDER_HASH).expect("a fixed hash"), false),
    };
    Argon2::default().verify_password(guess.as_bytes(), &hash).is_ok() && known
}

/// Hashes a passphrase by argon2id with a new salt, for the settings.
///
/// # Errors
/// A system without randomness, and a passphrase of gigabytes.
pub fn passphrase_hash(passphrase: &str) -> Result<String, argon2::password_hash::Error> {
    Ok(Argon2::default().hash_password(passphrase.as_bytes())?.to_string())
}

/// Returns the stored hash of an invite code, given its letters. The code has 128 random bits, so a plain hash cannot be reversed.
#[must_use]
pub fn code_hash(letters: &str) -> String {
    hex(&Sha256::digest(format!("langya invite {letters}")))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_check_keeps_its_turn_until_it_ends_also_when_nobody_waits_for_it() {
        let checks = PassphraseChecks::default();
        let (began, has_begun) = oneshot::channel();
        let (release, held) = mpsc::channel::<()>();
        let work = move || {
            let _ = began.send(());
            let _ = held.recv();
        };
        tokio::select! {
            _ = checks.run(work) => panic!("it ended before it was released"),
            begun = has_begun => begun.unwrap(),
        }
        assert_eq!(checks.0.available_permits(), MAX_CONCURRENT_HASHES - 1);
        drop(release);
        let all = u32::try_from(MAX_CONCURRENT_HASHES).unwrap();
        assert!(checks.0.acquire_many(all).await.is_ok(), "its turn is given back");
    }
}
