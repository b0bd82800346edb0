//! Checks all sections, and rules across sections: each section checks its own values beside its fields.

use super::sections::{ModelSettings, WebhookSettings};
use super::value_checks::{is_variable_name, require, require_as};
use super::{ConfigError, Settings};
use crate::domain::settings_rule::{NumberRule, RefusedValue, VariableRule};

impl Settings {
    /// Returns the settings if all values are valid.
    pub(super) fn checked(self) -> Result<Self, ConfigError> {
        self.check_models()?;
        self.server.check()?;
        self.site.check()?;
        self.storage.check()?;
        self.bench.check()?;
        self.judge.check(&self.models)?;
        self.integrity.check()?;
        self.models.iter().try_for_each(ModelSettings::check)?;
        self.battle.check()?;
        self.pairing.check()?;
        self.rating.check()?;
        self.access.check(&self.oidc)?;
        self.admin.check()?;
        self.api.check()?;
        WebhookSettings::check_all(&self.webhooks)?;
        self.oidc.check(&self.server.public_url)?;
        self.public_log.check()?;
        self.moderation.check()?;
        self.retention.check()?;
        self.limits.check()?;
        let timeout = self.redis.timeout_ms;
        let rule = NumberRule::Between(10, 60_000);
        require((10..=60_000).contains(&timeout), "redis.timeout_ms", timeout, rule)?;
        Ok(self)
    }

    fn check_models(&self) -> Result<(), ConfigError> {
        let mut seen = std::collections::BTreeSet::new();
        for model in &self.models {
            if !seen.insert(&model.id) {
                return Err(ConfigError::DuplicateModel(model.id.clone()));
            }
            let is_weight = model.weight.is_finite() && model.weight >= 0.0;
            require(is_weight, "models.weight", model.weight, NumberRule::AtLeast(0))?;
            require_as(
                model.api_key_env.is_empty() || is_variable_name(&model.api_key_env),
                "models.api_key_env",
                // The value may be the key itself.
                RefusedValue::UnusableForModel(model.id.clone()),
                VariableRule::KeyName,
            )?;
        }
        Ok(())
    }
}
