//! Admission of visitors.

use serde::{Deserialize, Serialize};

use super::OidcSettings;
use crate::config::ConfigError;
use crate::config::value_checks::{require, require_as};
use crate::domain::settings_rule::{NumberRule, RefusedValue, SignInRule};

/// Admission mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessMode {
    /// Everyone.
    Open,
    /// People with an invite code.
    Invite,
    /// People who know the arena's passphrase.
    Passphrase,
    /// People with an account at the provider of `[oidc]`.
    Oidc,
}

/// `[access]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSettings {
    /// `open`, `invite`, `passphrase` or `oidc`.
    pub mode: AccessMode,
    /// The passphrase's argon2id hash, as `langya passphrase` prints it.
    pub passphrase_hash: HashText,
    /// Days after which people sign in again.
    pub session_days: u32,
}

impl Default for AccessSettings {
    fn default() -> Self {
        Self { mode: AccessMode::Open, passphrase_hash: HashText::default(), session_days: 30 }
    }
}

/// A password hash that is never printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HashText(String);

impl HashText {
    /// Returns the hash for comparison.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for HashText {
    fn from(hash: &str) -> Self {
        Self(hash.to_owned())
    }
}

impl From<String> for HashText {
    fn from(hash: String) -> Self {
        Self(hash)
    }
}

impl std::fmt::Debug for HashText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "…" })
    }
}

impl AccessSettings {
    /// Checks that visitors can sign in by this mode.
    pub(in crate::config) fn check(&self, oidc: &OidcSettings) -> Result<(), ConfigError> {
        let needs_provider = self.mode == AccessMode::Oidc;
        let has_provider = !needs_provider || oidc.is_set();
        require_as(has_provider, "oidc.issuer", RefusedValue::Empty, SignInRule::IssuerForVisitors)?;
        let days = self.session_days;
        require((1..=365).contains(&days), "access.session_days", days, NumberRule::Between(1, 365))?;
        let needed = self.mode == AccessMode::Passphrase;
        require_as(
            !needed || self.passphrase_hash.expose().starts_with("$argon2id$"),
            "access.passphrase_hash",
            RefusedValue::NotAHash,
            SignInRule::PassphraseHash,
        )
    }
}
