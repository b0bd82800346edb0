//! The models and their providers.

use std::collections::BTreeMap;
use std::time::Duration;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::allowed_addresses::private_networks;
use crate::config::ConfigError;
use crate::config::value_checks::{require, require_as};
use crate::domain::benchmark::runs::run_manifest::ParticipantSettings;
use crate::domain::judging::budget::Prices;
use crate::domain::rating::value::prices::{ModelPrice, PriceDate, PriceSource};
use crate::domain::settings_rule::{NumberRule, RefusedValue, TextRule};
use crate::domain::sha256::sha256;
use crate::domain::text_direction;

/// Maximum length of a model id in bytes.
const MAX_ID_BYTES: usize = 200;

/// `[providers]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderSettings {
    /// Discovers local model servers, and providers by keys in the environment, if no `[[models]]` are given.
    pub discover: bool,
    /// Use of the practice models: `"auto"` while there is no other model, `"always"` or `"never"`.
    pub practice: PracticeMode,
    /// Private networks in which models may be; link-local and metadata addresses are never allowed.
    pub private_networks: Vec<IpNet>,
    /// Connection timeout in milliseconds.
    pub connect_timeout_ms: u64,
    /// Timeout until the first token, in milliseconds.
    pub first_token_timeout_ms: u64,
    /// Maximum gap within a reply, in milliseconds.
    pub idle_timeout_ms: u64,
    /// Timeout of the whole reply, in milliseconds.
    pub total_timeout_ms: u64,
    /// Retries before the first token.
    pub retries: u32,
    /// Maximum wait before the first retry, in milliseconds; doubled for each one after it.
    pub retry_backoff_ms: u64,
    /// Consecutive failures after which the circuit breaker of a model opens.
    pub breaker_failures: u32,
    /// Milliseconds for which the circuit breaker stays open.
    pub breaker_open_ms: u64,
}

impl Default for ProviderSettings {
    fn default() -> Self {
        Self {
            discover: true,
            practice: PracticeMode::Auto,
            private_networks: private_networks(),
            connect_timeout_ms: 5_000,
            first_token_timeout_ms: 30_000,
            idle_timeout_ms: 20_000,
            total_timeout_ms: 300_000,
            retries: 2,
            retry_backoff_ms: 500,
            breaker_failures: 3,
            breaker_open_ms: 30_000,
        }
    }
}

impl ProviderSettings {
    /// Returns the timeouts as durations.
    #[must_use]
    pub fn timeouts(&self) -> Timeouts {
        Timeouts {
            connect: Duration::from_millis(self.connect_timeout_ms),
            first_token: Duration::from_millis(self.first_token_timeout_ms),
            idle: Duration::from_millis(self.idle_timeout_ms),
            total: Duration::from_millis(self.total_timeout_ms),
        }
    }
}

/// Policy for the use of practice models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PracticeMode {
    /// While no other model is configured or found.
    Auto,
    /// Beside other models too.
    Always,
    /// Not at all.
    Never,
}

/// Protocol of a model's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Chat completions as served by OpenAI, OpenRouter, vLLM, llama.cpp, LM Studio and LiteLLM.
    Openai,
    /// Anthropic's Messages API.
    Anthropic,
    /// Ollama's own API.
    Ollama,
    /// A practice model of this program.
    Builtin,
}

impl ProviderKind {
    /// Returns the name of the protocol in the settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
            Self::Builtin => "builtin",
        }
    }
}

/// One entry of `[[models]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Key used in logs and exports.
    pub id: String,
    /// Name shown after the vote; defaults to the id.
    #[serde(default)]
    pub name: String,
    /// Organization that makes the model.
    #[serde(default)]
    pub organization: String,
    /// Licence of the model.
    #[serde(default)]
    pub license: String,
    /// Protocol of its server.
    pub provider: ProviderKind,
    /// Base address of its server; each provider has a default.
    #[serde(default)]
    pub base_url: String,
    /// Name at the provider; defaults to the id.
    #[serde(default)]
    pub model: String,
    /// Name of the environment variable that holds the key.
    #[serde(default)]
    pub api_key_env: String,
    /// Whether it accepts images.
    #[serde(default)]
    pub images: bool,
    /// Pairing weight; 0 pauses.
    #[serde(default = "default_weight")]
    pub weight: f64,
    /// Reason why it was added, paused or changed, for the public model register.
    #[serde(default)]
    pub reason: String,
    /// Sampling temperature; defaults to the provider's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Maximum length of a reply in tokens.
    #[serde(default = "default_max_tokens")]
    pub max_tokens: u32,
    /// Maximum number of concurrent benchmark requests.
    #[serde(default = "default_max_concurrent")]
    pub max_concurrent: u32,
    /// Price of a million input tokens, in the currency of `[prices]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_price: Option<f64>,
    /// Price of a million output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_price: Option<f64>,
    /// Price of batch requests as a share of these prices, 0 to 1; defaults to half.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_price: Option<f64>,
    /// Date of these prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_date: Option<PriceDate>,
    /// Source of these prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_source: Option<PriceSource>,
    /// System prompt of each conversation.
    #[serde(default)]
    pub system_prompt: String,
    /// Additional keys of the request body, as the provider names them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_body: BTreeMap<String, serde_json::Value>,
}

impl ModelSettings {
    /// Returns the prices if both are set.
    #[must_use]
    pub fn prices(&self) -> Option<Prices> {
        Some(Prices { input: self.input_price?, output: self.output_price? })
    }

    /// Returns the batch prices if both are set.
    #[must_use]
    pub fn batch_prices(&self) -> Option<Prices> {
        let (prices, share) = (self.prices()?, self.batch_price.unwrap_or(DEFAULT_BATCH_PRICE));
        Some(Prices { input: share * prices.input, output: share * prices.output })
    }

    /// Returns the prices with their date and source if both are set.
    #[must_use]
    pub fn price(&self) -> Option<ModelPrice> {
        Some(ModelPrice { prices: self.prices()?, date: self.price_date, source: self.price_source.clone() })
    }

    /// Creates an entry with defaults for everything optional.
    #[must_use]
    pub fn minimal(id: impl Into<String>, provider: ProviderKind) -> Self {
        Self {
            id: id.into(),
            name: String::new(),
            organization: String::new(),
            license: String::new(),
            provider,
            base_url: String::new(),
            model: String::new(),
            api_key_env: String::new(),
            images: false,
            weight: default_weight(),
            reason: String::new(),
            temperature: None,
            max_tokens: default_max_tokens(),
            max_concurrent: default_max_concurrent(),
            input_price: None,
            output_price: None,
            batch_price: None,
            price_date: None,
            price_source: None,
            system_prompt: String::new(),
            extra_body: BTreeMap::new(),
        }
    }

    /// Returns the name at the provider: `model`, or the id if that is empty.
    #[must_use]
    pub fn name_at_provider(&self) -> &str {
        if self.model.is_empty() { &self.id } else { &self.model }
    }

    /// Returns the settings that replies depend on, for the manifest of a run.
    #[must_use]
    pub fn participant(&self) -> ParticipantSettings {
        let sampled = (self.temperature, self.max_tokens, &self.system_prompt, &self.extra_body);
        let all = serde_json::json!([self.provider, self.base_url, self.name_at_provider(), sampled]).to_string();
        ParticipantSettings {
            provider: self.provider.as_str().to_owned(),
            model: self.name_at_provider().to_owned(),
            settings_sha256: sha256(all.as_bytes()),
        }
    }

    /// Returns the display name: `name`, or the id if that is empty.
    #[must_use]
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }
}

/// Default batch price as a share of the normal prices, as at OpenAI and Anthropic.
const DEFAULT_BATCH_PRICE: f64 = 0.5;

fn default_weight() -> f64 {
    1.0
}

fn default_max_tokens() -> u32 {
    2048
}

fn default_max_concurrent() -> u32 {
    8
}

/// Timeouts of one reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Timeout of the connection.
    pub connect: Duration,
    /// Timeout from the request to the first token.
    pub first_token: Duration,
    /// Timeout between two tokens.
    pub idle: Duration,
    /// Timeout of the whole reply.
    pub total: Duration,
}

impl ModelSettings {
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        require(
            (1..=MAX_ID_BYTES).contains(&self.id.len())
                && self.id.trim() == self.id
                && !self.id.contains(char::is_control)
                && text_direction::in_name(&self.id) == self.id,
            "models.id",
            format!("{:?}", self.id.chars().take(40).collect::<String>()),
            TextRule::ModelId,
        )?;
        require_as(
            self.reason.chars().count() <= 500
                && !self.reason.contains(char::is_control)
                && text_direction::in_name(&self.reason) == self.reason,
            "models.reason",
            RefusedValue::UnusableForModel(self.id.clone()),
            TextRule::OneLine(500),
        )?;
        let temperature = self.temperature.unwrap_or(0.0);
        let is_temperature = temperature.is_finite() && temperature >= 0.0;
        require(is_temperature, "models.temperature", temperature, NumberRule::AtLeast(0))?;
        require(self.max_tokens >= 1, "models.max_tokens", self.max_tokens, NumberRule::AtLeast(1))?;
        require(self.max_concurrent >= 1, "models.max_concurrent", self.max_concurrent, NumberRule::AtLeast(1))?;
        for (key, price) in [("models.input_price", self.input_price), ("models.output_price", self.output_price)] {
            let price = price.unwrap_or(0.0);
            require(price.is_finite() && price >= 0.0, key, price, NumberRule::TokenPrice)?;
        }
        let share = self.batch_price.unwrap_or(0.0);
        require((0.0..=1.0).contains(&share), "models.batch_price", share, NumberRule::PriceShare)?;
        Ok(())
    }
}
