//! Witnesses that cosign the public log.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::{is_web_address, require};
use crate::domain::public_log::cosignature::WitnessKey;
use crate::domain::settings_rule::{AddressRule, TextRule};

/// `[public_log]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PublicLogSettings {
    /// Witnesses asked to cosign each checkpoint.
    pub witnesses: Vec<WitnessSettings>,
}

/// `[[public_log.witnesses]]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WitnessSettings {
    /// Public key with its name, such as `witness.example+1a2b3c4d+BAbC…`.
    pub key: String,
    /// Base address of its `add-checkpoint` endpoint.
    pub url: String,
}

impl PublicLogSettings {
    /// Checks the key and address of every witness.
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        let mut names = BTreeSet::new();
        for witness in &self.witnesses {
            let key = WitnessKey::parse(&witness.key);
            require(key.is_ok(), "public_log.witnesses.key", &witness.key, TextRule::WitnessKey)?;
            let is_new = names.insert(&witness.key);
            require(is_new, "public_log.witnesses.key", &witness.key, TextRule::UniqueWitnesses)?;
            let is_address = is_web_address(&witness.url);
            require(is_address, "public_log.witnesses.url", &witness.url, AddressRule::HttpOrHttps)?;
        }
        Ok(())
    }
}
