//! Sessions of people who run the arena.

use serde::{Deserialize, Serialize};

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
