//! Second factor of an account: time-based codes (TOTP), and recovery codes for a lost device.

use rand::Rng;
use sha2::{Digest, Sha256};

use super::actor::Actor;
use super::users::{AdminUsers, UserError};
use crate::domain::access::invite_code;
use crate::domain::admin::action::AdminAction;
use crate::domain::admin::second_factor::{CONFIRM_MINUTES, SecondFactor};
use crate::domain::admin::totp;
use crate::domain::hex::{decode_hex, hex};
use crate::domain::time::Timestamp;
use crate::infra::storage::{AdminUserRow, StoreError};

/// Number of recovery codes of an account.
const RECOVERY_CODES: usize = 8;

impl AdminUsers {
    /// Returns the state of a user's second factor.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn second_factor(&self, name: &str, issuer: &str) -> Result<SecondFactor, UserError> {
        let user = self.find(name).await?;
        Ok(match (&user.totp_secret, pending_of(&user, self.clock.now())) {
            (Some(_), _) => SecondFactor::On,
            (None, None) => SecondFactor::Off,
            (None, Some(pending)) => {
                let secret = decode_hex(pending).unwrap_or_default();
                let address = totp::address(&secret, issuer, &user.name);
                SecondFactor::Pending { secret: totp::secret_text(&secret), address }
            }
        })
    }

    /// Creates a pending secret, which replaces an earlier one. Requires the passphrase: with a stolen session alone, a thief could
    /// otherwise lock the user out.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn begin_second_factor(&self, name: &str, passphrase: &str) -> Result<(), UserError> {
        let user = self.find(name).await?;
        if user.provider.is_some() {
            return Err(UserError::AtProvider(user.name));
        }
        let user = self.confirm(&user.name, passphrase).await?;
        let mut secret = [0; totp::SECRET_BYTES];
        self.rng.with(|rng| rng.fill_bytes(&mut secret));
        Ok(self.store.begin_admin_totp(&user.id, &hex(&secret), self.clock.now()).await?)
    }

    /// Enables the second factor by its first code, and returns the recovery codes, which are shown only once; `None` for a wrong code, and
    /// where no secret is pending any more.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn confirm_second_factor(&self, code: &str, actor: &Actor) -> Result<Option<Vec<String>>, UserError> {
        let user = self.find(&actor.name).await?;
        if user.provider.is_some() {
            return Err(UserError::AtProvider(user.name));
        }
        let now = self.clock.now();
        let Some(pending) = pending_of(&user, now) else { return Ok(None) };
        let Some(step) = step_of(pending, code, now, None) else { return Ok(None) };
        let codes: Vec<String> = (0..RECOVERY_CODES).map(|_| self.recovery_code()).collect();
        let hashes: Vec<String> = codes.iter().filter_map(|code| recovery_hash(code)).collect();
        let entry = actor.entry(&self.rng, self.clock.as_ref(), AdminAction::EnableTotp, &user.name);
        let confirmed = self.store.confirm_admin_totp(&user.id, pending, step, &hashes, &entry).await?;
        Ok(confirmed.then_some(codes))
    }

    /// Disables the second factor.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn disable_second_factor(&self, passphrase: &str, actor: &Actor) -> Result<(), UserError> {
        let user = self.confirm(&actor.name, passphrase).await?;
        let entry = actor.entry(&self.rng, self.clock.as_ref(), AdminAction::DisableTotp, &user.name);
        Ok(self.store.disable_admin_totp(&user.id, &entry).await?)
    }

    /// Whether a code or recovery code is valid for a user, and uses it up; always true for a user without a second factor.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) async fn verify_second_factor(&self, user: &AdminUserRow, typed: &str) -> Result<bool, StoreError> {
        let Some(secret) = &user.totp_secret else { return Ok(true) };
        let now = self.clock.now();
        if let Some(step) = step_of(secret, typed, now, Some(user.totp_step)) {
            return self.store.take_admin_totp(&user.id, step).await;
        }
        match recovery_hash(typed) {
            Some(hash) => self.store.take_admin_recovery_code(&user.id, &hash, now).await,
            None => Ok(false),
        }
    }

    fn recovery_code(&self) -> String {
        let mut bits = [0; 16];
        self.rng.with(|rng| rng.fill_bytes(&mut bits));
        invite_code::encode(u128::from_be_bytes(bits))
    }
}

/// Returns the pending secret, unless it has expired.
fn pending_of(user: &AdminUserRow, now: Timestamp) -> Option<&str> {
    let begun_at = user.totp_pending_at?;
    let waits = now.0 - begun_at.0 < CONFIRM_MINUTES * 60_000;
    user.totp_pending.as_deref().filter(|_| waits)
}

/// Returns the time step of a code; `None` for a wrong code, and for a secret truncated in the database.
fn step_of(secret: &str, code: &str, now: Timestamp, used: Option<i64>) -> Option<i64> {
    totp::step_of(&decode_hex(secret)?, code, now.0, used)
}

/// Computes the stored hash of a recovery code, which has 128 random bits.
fn recovery_hash(typed: &str) -> Option<String> {
    let letters = invite_code::normalised(typed)?;
    Some(hex(&Sha256::digest(format!("langya recovery code {letters}"))))
}
