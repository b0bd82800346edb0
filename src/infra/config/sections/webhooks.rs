//! Webhooks that receive the arena's events.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::{is_variable_name, is_web_address, require, require_as};
use crate::domain::campaign::plan::is_id;
use crate::domain::settings_rule::{AddressRule, RefusedValue, TextRule, VariableRule};
use crate::domain::webhook::WebhookEvent;

/// `[[webhooks]]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebhookSettings {
    /// Name in lists: lower-case letters, digits, `-` and `_`.
    pub id: String,
    /// Address that events are posted to.
    pub url: String,
    /// Name of the environment variable that holds the signing secret.
    pub secret_env: String,
    /// Subscribed events; if empty, all events.
    pub events: Vec<WebhookEvent>,
}

impl WebhookSettings {
    /// Whether the webhook subscribes to an event.
    #[must_use]
    pub fn wants(&self, event: WebhookEvent) -> bool {
        self.events.is_empty() || self.events.contains(&event)
    }

    /// Checks the id, address and secret of each webhook.
    pub(in crate::config) fn check_all(webhooks: &[Self]) -> Result<(), ConfigError> {
        let mut ids = BTreeSet::new();
        for webhook in webhooks {
            let id = webhook.id.as_str();
            require(is_id(id), "webhooks.id", id, TextRule::WebhookId)?;
            require(ids.insert(id), "webhooks.id", id, TextRule::UniqueWebhookId)?;
            // An address may hold a name and a password.
            let unusable = || RefusedValue::UnusableForWebhook(id.to_owned());
            require_as(is_web_address(&webhook.url), "webhooks.url", unusable(), AddressRule::HttpOrHttps)?;
            let is_name = is_variable_name(&webhook.secret_env);
            require_as(is_name, "webhooks.secret_env", unusable(), VariableRule::WebhookSecretName)?;
        }
        Ok(())
    }
}
