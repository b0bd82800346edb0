//! Sessions of people who run the arena.

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::require;
use crate::domain::settings_rule::NumberRule;

/// `[admin]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdminSettings {
    /// Minutes without a request after which a session ends.
    pub idle_minutes: u32,
    /// Hours after the sign-in at which a session ends at the latest.
    pub session_hours: u32,
    /// Hours for which a link that makes an account can be used.
    pub link_hours: u32,
}

impl Default for AdminSettings {
    fn default() -> Self {
        Self { idle_minutes: 60, session_hours: 12, link_hours: 24 }
    }
}

impl AdminSettings {
    /// Whether every time is one that makes sense.
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        let Self { idle_minutes, session_hours, link_hours } = *self;
        let (minutes, hours) = (NumberRule::Between(1, 1_440), NumberRule::Between(1, 168));
        require((1..=1_440).contains(&idle_minutes), "admin.idle_minutes", idle_minutes, minutes)?;
        require((1..=168).contains(&session_hours), "admin.session_hours", session_hours, hours)?;
        require((1..=168).contains(&link_hours), "admin.link_hours", link_hours, hours)
    }
}
