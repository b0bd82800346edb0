//! Settings: defaults, then `langya.toml`, then `LANGYA__SECTION__KEY`, then flags.
//!
//! The only reader of the environment. Unknown keys are refused by name. `deploy/langya.example.toml` lists every key
//! with its default, and a test compares the two.

mod current;
pub mod edit;
mod environment;
pub mod key_destination;
mod load;
mod pacing;
mod pairing_and_rating;
mod restart_required;
mod sections;
mod service_url;
mod validate;
mod value_checks;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::domain::rating::value::prices::PriceList;
use crate::domain::settings_rule::{RefusedValue, SettingRule};

pub use current::CurrentSettings;
pub use environment::Environment;
pub use load::ignored_variables;
pub use sections::{
    ANY_ORIGIN, AccessMode, AccessSettings, AdminSettings, ApiSettings, BattleSettings, BenchSettings, ClientSecret,
    FlaggedVoterPolicy, HashText, IntegritySettings, JudgeSettings, LeakPolicy, LimitSettings, LoggingFormat,
    LoggingSettings, ModelSettings, ModerationSettings, OidcSettings, OnFailure, PacingMode, PairingPolicySetting,
    PairingSettings, PracticeMode, PriceSettings, ProviderKind, ProviderSettings, PublicLogSettings, RatingSettings,
    RedisSettings, RetentionSettings, ServerSettings, SiteSettings, StorageSettings, Timeouts, VoteAccess,
    WebhookSettings, WindowLimits, WitnessSettings, is_public_by_tls, is_secure_transport,
};
pub use service_url::ServiceUrl;
pub use value_checks::is_variable_name;

/// Settings file that is read if it exists and no other is named.
pub const DEFAULT_FILE: &str = "langya.toml";

/// All settings of an arena.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Listen address, proxies and connection limits.
    pub server: ServerSettings,
    /// Name, appearance and operator of the arena.
    pub site: SiteSettings,
    /// Database and data folder.
    pub storage: StorageSettings,
    /// Modes, pacing and size limits of battles.
    pub battle: BattleSettings,
    /// Rules that exclude votes from the ratings.
    pub integrity: IntegritySettings,
    /// Refusal rules and the moderation endpoint.
    pub moderation: ModerationSettings,
    /// Retention period of texts.
    pub retention: RetentionSettings,
    /// Policy that pairs models.
    pub pairing: PairingSettings,
    /// Fit schedule and statistical options of the leaderboard.
    pub rating: RatingSettings,
    /// Connection to Redis, the bus between instances.
    pub redis: RedisSettings,
    /// Rate and concurrency limits.
    pub limits: LimitSettings,
    /// Admission of visitors.
    pub access: AccessSettings,
    /// Sessions of administrators.
    pub admin: AdminSettings,
    /// Public API: readers of the vote log and CORS origins.
    pub api: ApiSettings,
    /// OpenID Connect provider for sign-ins.
    pub oidc: OidcSettings,
    /// Witnesses that cosign the public log.
    pub public_log: PublicLogSettings,
    /// Log format.
    pub log: LoggingSettings,
    /// Timeouts and retries for every model.
    pub providers: ProviderSettings,
    /// Retry policy of benchmark requests.
    pub bench: BenchSettings,
    /// Automatic judging of the arena's own battles.
    pub judge: JudgeSettings,
    /// Currency of model prices.
    pub prices: PriceSettings,
    /// Alternative names of models by id, as papers, tables and other leaderboards use them.
    pub aliases: BTreeMap<String, Vec<String>>,
    /// Webhooks that events are posted to.
    pub webhooks: Vec<WebhookSettings>,
    /// The models under test.
    pub models: Vec<ModelSettings>,
}

/// Error in the settings. Each message names the key and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file that `--config` names cannot be read.
    #[error("cannot read the settings file {path}: {source}")]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The text is not TOML, has an unknown key or a value of the wrong kind.
    #[error("{origin}: {reason}; deploy/langya.example.toml and /docs/settings list every key")]
    Invalid {
        /// Source of the text.
        origin: String,
        /// Description of the problem, with the key's name.
        reason: String,
    },
    /// A key variable is named but unset.
    #[error(
        "model \"{model}\" needs the key variable {variable}, which is unset or empty: export it where the arena runs, or remove api_key_env"
    )]
    MissingKey {
        /// The model's id.
        model: String,
        /// The variable.
        variable: String,
    },
    /// Two models share an id.
    #[error("two models have the id \"{0}\": give each one of [[models]] an id of its own")]
    DuplicateModel(String),
    /// A value is outside its range.
    #[error("{key} is {value}: {rule}")]
    OutOfRange {
        /// The key with its section.
        key: &'static str,
        /// The refused value.
        value: RefusedValue,
        /// Rule for allowed values.
        rule: SettingRule,
    },
    /// No battle could start.
    #[error(
        "a battle needs two models and {0} can take part: add [[models]] with a weight above 0, or set \
         providers.practice = \"always\""
    )]
    TooFewModels(usize),
    /// The HTTP client for the providers cannot be created.
    #[error("no HTTP client for the providers: {reason}; install the system's certificates (ca-certificates)")]
    NoHttpClient {
        /// Error of the operating system.
        reason: String,
    },
}

impl ConfigError {
    /// Builds the error for a value that breaks a rule.
    pub(crate) fn out_of_range(key: &'static str, value: RefusedValue, rule: impl Into<SettingRule>) -> Self {
        Self::OutOfRange { key, value, rule: rule.into() }
    }
}

impl Settings {
    /// Returns the prices of the models that have them.
    #[must_use]
    pub fn price_list(&self) -> PriceList {
        let price = |model: &ModelSettings| Some((model.id.clone(), model.price()?));
        PriceList {
            currency: Some(self.prices.currency.clone()),
            models: self.models.iter().filter_map(price).collect(),
        }
    }

    /// Whether prompts may have images: at least two active models accept them.
    #[must_use]
    pub fn takes_images(&self) -> bool {
        let seeing = self.models.iter().filter(|model| model.images && model.weight > 0.0);
        self.battle.max_images > 0 && seeing.count() >= 2
    }
}

#[cfg(test)]
mod tests;
