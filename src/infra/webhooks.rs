//! Sends messages to the configured webhooks, only to addresses allowed for models. Of a response only its status is used.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};

use crate::allowed_addresses::AllowedAddresses;
use crate::config::{ConfigError, Environment, Settings, WebhookSettings};
use crate::domain::settings_rule::{AddressRule, RefusedValue, SettingRule, VariableRule};
use crate::domain::time::Timestamp;
use crate::domain::webhook::{MIN_SECRET_BYTES, WebhookEvent, signature};
use crate::llm::{HttpClient, connection_problem, http_client_within};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Response timeout.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Reason why a message was not accepted. No variant contains the address, the secret or the receiver's text.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The webhook is no longer configured.
    #[error("the settings have no such webhook")]
    Unknown,
    /// The receiver is unreachable.
    #[error("it cannot be reached: {0}")]
    Http(String),
    /// The receiver redirects, which is not followed.
    #[error("it answers with status {0}, which leads to another address: write that one as webhooks.url")]
    Moved(StatusCode),
    /// The receiver refuses the message.
    #[error("it answers with status {0}")]
    Status(StatusCode),
}

/// Sender to the configured webhooks.
#[derive(Debug)]
pub struct WebhookSender {
    http: HttpClient,
    receivers: BTreeMap<String, Receiver>,
}

#[derive(Debug)]
struct Receiver {
    url: Url,
    secret: SecretString,
    settings: WebhookSettings,
}

impl WebhookSender {
    /// Creates the sender of the settings.
    ///
    /// # Errors
    /// [`ConfigError`] for an address that is not allowed, and a secret that is unset or too short.
    pub fn open(settings: &Settings, env: &Environment) -> Result<Self, ConfigError> {
        let http = http_client_within(CONNECT_TIMEOUT, &AllowedAddresses::new(&settings.providers.private_networks))?;
        let mut receivers = BTreeMap::new();
        for webhook in &settings.webhooks {
            let refused = |key: &'static str, rule: SettingRule| {
                ConfigError::out_of_range(key, RefusedValue::UnusableForWebhook(webhook.id.clone()), rule)
            };
            let url = Url::parse(&webhook.url).ok().filter(|url| {
                url.username().is_empty() && url.password().is_none() && url.fragment().is_none() && http.reaches(url)
            });
            let url = url.ok_or_else(|| refused("webhooks.url", AddressRule::ReachableForWebhooks.into()))?;
            let secret = env.secret(&webhook.secret_env);
            let secret = secret
                .filter(|secret| secret.expose_secret().len() >= MIN_SECRET_BYTES)
                .ok_or_else(|| refused("webhooks.secret_env", VariableRule::WebhookSecret.into()))?;
            receivers.insert(webhook.id.clone(), Receiver { url, secret, settings: webhook.clone() });
        }
        Ok(Self { http, receivers })
    }

    /// Returns the webhooks by their ids.
    pub fn webhooks(&self) -> impl Iterator<Item = &WebhookSettings> {
        self.receivers.values().map(|receiver| &receiver.settings)
    }

    /// Returns the host of a webhook's address only, since the rest may be secret.
    #[must_use]
    pub fn host(&self, webhook: &str) -> &str {
        self.receivers.get(webhook).and_then(|receiver| receiver.url.host_str()).unwrap_or_default()
    }

    /// Sends a message to a webhook.
    ///
    /// # Errors
    /// [`WebhookError`] unless the response status is from 200 to 299.
    pub async fn send(
        &self,
        webhook: &str,
        event: WebhookEvent,
        body: String,
        now: Timestamp,
    ) -> Result<(), WebhookError> {
        let receiver = self.receivers.get(webhook).ok_or(WebhookError::Unknown)?;
        let signature = signature(receiver.secret.expose_secret().as_bytes(), now.0.div_euclid(1_000), &body);
        let request = self.http.for_url(&receiver.url).post(receiver.url.clone()).timeout(RESPONSE_TIMEOUT);
        let request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let request = request.header("langya-event", event.as_str()).header("langya-signature", signature);
        let sent = request.body(body).send().await;
        match sent.map_err(|error| WebhookError::Http(connection_problem(&error)))?.status() {
            status if status.is_success() => Ok(()),
            status if status.is_redirection() => Err(WebhookError::Moved(status)),
            status => Err(WebhookError::Status(status)),
        }
    }
}
