//! Retention period of texts.

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::require;
use crate::domain::settings_rule::NumberRule;
use crate::domain::time::Timestamp;

const DAY_MS: i64 = 24 * 3_600_000;

/// `[retention]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetentionSettings {
    /// Days after which the prompts and replies of a battle are deleted; 0 keeps them until an explicit deletion.
    pub text_days: u32,
}

impl RetentionSettings {
    /// Returns the start time before which battles lose their texts; `None` if texts are kept.
    #[must_use]
    pub fn texts_before(&self, now: Timestamp) -> Option<Timestamp> {
        (self.text_days > 0).then(|| Timestamp(now.0 - i64::from(self.text_days) * DAY_MS))
    }

    /// Checks the range of the days.
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        let rule = NumberRule::Between(0, 36_500);
        require(self.text_days <= 36_500, "retention.text_days", self.text_days, rule)
    }
}
