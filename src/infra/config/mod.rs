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
    WebhookSettings, WindowLimits, WitnessSettings, is_private_way, is_public_by_tls,
};
pub use service_url::ServiceUrl;
pub use value_checks::is_variable_name;

/// The settings file that is read where it exists and no other is named.
pub const DEFAULT_FILE: &str = "langya.toml";

/// Everything that an operator can set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Where the arena listens and what it accepts.
    pub server: ServerSettings,
    /// What the arena is called and who runs it.
    pub site: SiteSettings,
    /// Where the data is kept.
    pub storage: StorageSettings,
    /// How battles run.
    pub battle: BattleSettings,
    /// Which rules exclude votes from the ratings.
    pub integrity: IntegritySettings,
    /// What may not be asked.
    pub moderation: ModerationSettings,
    /// How long what was said is kept.
    pub retention: RetentionSettings,
    /// How two models are chosen.
    pub pairing: PairingSettings,
    /// How and when the leaderboard is fitted.
    pub rating: RatingSettings,
    /// The bus between instances.
    pub redis: RedisSettings,
    /// How much one visitor or address may do.
    pub limits: LimitSettings,
    /// Who may take part.
    pub access: AccessSettings,
    /// Sessions of people who run the arena.
    pub admin: AdminSettings,
    /// What programs may read, and pages of which sites.
    pub api: ApiSettings,
    /// Where people sign in, if not here.
    pub oidc: OidcSettings,
    /// Who signs the public log beside the arena.
    pub public_log: PublicLogSettings,
    /// What the log looks like.
    pub log: LoggingSettings,
    /// Limits of time and repetition for every model.
    pub providers: ProviderSettings,
    /// How benchmarks ask models and judges.
    pub bench: BenchSettings,
    /// Which models judge the arena's own battles.
    pub judge: JudgeSettings,
    /// What the prices of models are in.
    pub prices: PriceSettings,
    /// Other names of models, by their ids: what papers, tables and other leaderboards call them.
    pub aliases: BTreeMap<String, Vec<String>>,
    /// Addresses that events are posted to.
    pub webhooks: Vec<WebhookSettings>,
    /// The models under test.
    pub models: Vec<ModelSettings>,
}

/// Why the settings cannot be used. Each message names the key and the way out.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file that `--config` names cannot be read.
    #[error("cannot read the settings file {path}: {source}")]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The text is not TOML, has an unknown key or a value of the wrong kind.
    #[error("{origin}: {reason}; deploy/langya.example.toml and /docs/settings list every key")]
    Invalid {
        /// Where the text came from.
        origin: String,
        /// What is wrong, with the key's name.
        reason: String,
    },
    /// A key variable is named and not set.
    #[error(
        "model \"{model}\" needs the key variable {variable}, which is unset or empty: export it, or take api_key_env out"
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
        /// What stands there.
        value: RefusedValue,
        /// What may stand there.
        rule: SettingRule,
    },
    /// No battle could begin.
    #[error(
        "a battle needs two models and {0} can be drawn: add [[models]] with a weight above 0, or set \
         providers.practice = \"always\""
    )]
    TooFewModels(usize),
    /// The HTTP client for the providers cannot be made.
    #[error("no HTTP client for the providers: {reason}; install the system's certificates (ca-certificates)")]
    NoHttpClient {
        /// The system's reason.
        reason: String,
    },
}

impl ConfigError {
    /// The refusal of a value that breaks a rule.
    pub(crate) fn out_of_range(key: &'static str, value: RefusedValue, rule: impl Into<SettingRule>) -> Self {
        Self::OutOfRange { key, value, rule: rule.into() }
    }
}

impl Settings {
    /// The models that have prices.
    #[must_use]
    pub fn price_list(&self) -> PriceList {
        let price = |model: &ModelSettings| Some((model.id.clone(), model.price()?));
        PriceList {
            currency: Some(self.prices.currency.clone()),
            models: self.models.iter().filter_map(price).collect(),
        }
    }

    /// Whether images may stand beside a question: two models that take part see them.
    #[must_use]
    pub fn takes_images(&self) -> bool {
        let seeing = self.models.iter().filter(|model| model.images && model.weight > 0.0);
        self.battle.max_images > 0 && seeing.count() >= 2
    }
}

#[cfg(test)]
mod tests;
