//! The models and their providers.

use std::collections::BTreeMap;
use std::time::Duration;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::allowed_addresses::private_networks;
use crate::config::ConfigError;
use crate::config::value_checks::{require, require_as};
use crate::domain::benchmark::run_manifest::ParticipantSettings;
use crate::domain::judging::budget::Prices;
use crate::domain::rating::value::prices::{ModelPrice, PriceDate, PriceSource};
use crate::domain::settings_rule::{NumberRule, RefusedValue, TextRule};
use crate::domain::sha256::sha256;
use crate::domain::text_direction;

/// The longest id of a model in bytes.
const LONGEST_ID: usize = 200;

/// `[providers]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderSettings {
    /// Look for local model servers, and for keys in the environment, where no `[[models]]` are given.
    pub discover: bool,
    /// Let the practice models take part: `"auto"` while no other model is there, `"always"` or `"never"`.
    pub practice: PracticeMode,
    /// Private networks in which models may be asked; link-local and metadata addresses never are.
    pub private_networks: Vec<IpNet>,
    /// Longest wait for a connection, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Longest wait for the first token, in milliseconds.
    pub first_token_timeout_ms: u64,
    /// Longest gap within a reply, in milliseconds.
    pub idle_timeout_ms: u64,
    /// Longest whole reply, in milliseconds.
    pub total_timeout_ms: u64,
    /// Further tries before the first token.
    pub retries: u32,
    /// Longest wait before the first further try, in milliseconds; doubled for each one after it.
    pub retry_backoff_ms: u64,
    /// Failures in a row after which the circuit breaker of a model opens.
    pub breaker_failures: u32,
    /// How long it stays open, in milliseconds.
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
    /// The limits of time as durations: connection, first token, idle, total.
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

/// When the practice models take part.
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

/// The protocol that a model's server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Chat completions as OpenAI, OpenRouter, vLLM, llama.cpp, LM Studio and LiteLLM serve them.
    Openai,
    /// Anthropic's Messages API.
    Anthropic,
    /// Ollama's own API.
    Ollama,
    /// A practice model of this program.
    Builtin,
}

impl ProviderKind {
    /// The protocol as the settings spell it.
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
    /// Name shown after the vote; the id where it is left out.
    #[serde(default)]
    pub name: String,
    /// Its maker.
    #[serde(default)]
    pub organization: String,
    /// Its licence.
    #[serde(default)]
    pub license: String,
    /// The protocol of its server.
    pub provider: ProviderKind,
    /// Where its server is; each provider has a default.
    #[serde(default)]
    pub base_url: String,
    /// Name at the provider; the id where it is left out.
    #[serde(default)]
    pub model: String,
    /// Name of the environment variable that holds the key.
    #[serde(default)]
    pub api_key_env: String,
    /// Whether it sees images beside a question.
    #[serde(default)]
    pub images: bool,
    /// Pairing weight; 0 pauses.
    #[serde(default = "one")]
    pub weight: f64,
    /// Why it was added, paused or changed, for the register of models; public.
    #[serde(default)]
    pub reason: String,
    /// Sampling temperature; the provider's own where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Longest reply in tokens.
    #[serde(default = "default_max_tokens")]
    pub max_tokens: u32,
    /// Requests that benchmarks have under way at the same time.
    #[serde(default = "default_max_concurrent")]
    pub max_concurrent: u32,
    /// Price of a million tokens of input, in the currency of `[prices]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_price: Option<f64>,
    /// Price of a million tokens of output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_price: Option<f64>,
    /// What a batch costs of these prices, 0 to 1; half where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_price: Option<f64>,
    /// When these prices were looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_date: Option<PriceDate>,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_source: Option<PriceSource>,
    /// Instruction put before each conversation.
    #[serde(default)]
    pub system_prompt: String,
    /// Further keys of the request body, as the provider names them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_body: BTreeMap<String, serde_json::Value>,
}

impl ModelSettings {
    /// The prices, if both are set.
    #[must_use]
    pub fn prices(&self) -> Option<Prices> {
        Some(Prices { input: self.input_price?, output: self.output_price? })
    }

    /// The prices in a batch, if both are set.
    #[must_use]
    pub fn batch_prices(&self) -> Option<Prices> {
        let (prices, share) = (self.prices()?, self.batch_price.unwrap_or(BATCH_PRICE));
        Some(Prices { input: share * prices.input, output: share * prices.output })
    }

    /// The prices with their date and source, if both prices are set.
    #[must_use]
    pub fn price(&self) -> Option<ModelPrice> {
        Some(ModelPrice { prices: self.prices()?, date: self.price_date, source: self.price_source.clone() })
    }

    /// An entry with only what must be given; everything else has its default.
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
            weight: one(),
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

    /// The name at the provider: `model`, or the id where it is left out.
    #[must_use]
    pub fn name_at_provider(&self) -> &str {
        if self.model.is_empty() { &self.id } else { &self.model }
    }

    /// What of it replies depend on, for the manifest of a run.
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

    /// The name that people see: `name`, or the id where it is left out.
    #[must_use]
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }
}

/// What OpenAI and Anthropic ask for a batch, as a share of their prices.
const BATCH_PRICE: f64 = 0.5;

fn one() -> f64 {
    1.0
}

fn default_max_tokens() -> u32 {
    2048
}

fn default_max_concurrent() -> u32 {
    8
}

/// Limits of time for one reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection.
    pub connect: Duration,
    /// From the request to the first token.
    pub first_token: Duration,
    /// Between two tokens.
    pub idle: Duration,
    /// For the whole reply.
    pub total: Duration,
}

impl ModelSettings {
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        require(
            (1..=LONGEST_ID).contains(&self.id.len())
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
