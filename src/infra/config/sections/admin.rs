//! Sessions of administrators.

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::require;
use crate::domain::settings_rule::NumberRule;

/// `[admin]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdminSettings {
    /// Minutes of inactivity after which a session ends.
    pub idle_minutes: u32,
    /// Maximum duration of a session in hours.
    pub session_hours: u32,
    /// Hours for which an account invitation link is valid.
    pub link_hours: u32,
}

impl Default for AdminSettings {
    fn default() -> Self {
        Self { idle_minutes: 60, session_hours: 12, link_hours: 24 }
    }
}

impl AdminSettings {
    /// Checks the range of every time.
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        let Self { idle_minutes, session_hours, link_hours } = *self;
        let (minutes, hours) = (NumberRule::Between(1, 1_440), NumberRule::Between(1, 168));
        require((1..=1_440).contains(&idle_minutes), "admin.idle_minutes", idle_minutes, minutes)?;
        require((1..=168).contains(&session_hours), "admin.session_hours", session_hours, hours)?;
        require((1..=168).contains(&link_hours), "admin.link_hours", link_hours, hours)
    }
}
