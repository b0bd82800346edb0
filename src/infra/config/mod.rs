//! Settings: defaults, then `langya.toml`, then `LANGYA__SECTION__KEY`, then flags.
//!
//! The only reader of the environment. Unknown keys are refused by name. `deploy/langya.example.toml` lists every key
//! with its default, and a test compares the two.

mod current;
pub mod edit;
pub mod key_home;
mod pacing;
mod restart;
mod rules;
mod sections;
mod service_url;
pub mod settings_file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::domain::battle::mode::BattleMode;
use crate::domain::rating::value::prices::PriceList;
use crate::domain::text_direction;

pub use current::CurrentSettings;
pub use sections::{
    ANY_ORIGIN, AccessMode, AccessSettings, AdminSettings, ApiSettings, BattleSettings, BenchSettings, ClientSecret,
    FlaggedVoterPolicy, HashText, IntegritySettings, JudgeSettings, LeakPolicy, LimitSettings, LogFormat, LogSettings,
    ModelSettings, ModerationSettings, OidcSettings, OnFailure, PacingMode, PairingPolicySetting, PairingSettings,
    PracticeMode, PriceSettings, ProviderKind, ProviderSettings, PublicLogSettings, RatingSettings, RedisSettings,
    RetentionSettings, ServerSettings, SiteSettings, StorageSettings, Timeouts, VoteAccess, WebhookSettings,
    WindowLimits, WitnessSettings, is_private_way,
};
pub use service_url::ServiceUrl;

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
    /// What instances tell each other through.
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
    pub log: LogSettings,
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
    #[error("{origin}: {reason}; deploy/langya.example.toml lists every key")]
    Invalid {
        /// Where the text came from.
        origin: String,
        /// What is wrong, with the key's name.
        reason: String,
    },
    /// A key variable is named and not set.
    #[error(
        "model \"{model}\" needs the key variable {variable}, which is not set: export it, or take api_key_env out"
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
        value: String,
        /// What may stand there.
        rule: &'static str,
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

/// What the reader of TOML says, in one line, and of the text that it points at only the key: a value may be secret.
fn in_one_line(error: &toml::de::Error) -> String {
    let message = error.to_string();
    let mut said = Vec::new();
    for line in message.lines() {
        match line.split_once('|') {
            Some((number, text)) if number.trim().chars().all(|c| c.is_ascii_digit()) => {
                let key = text.split_once('=').map(|(key, _)| key.trim());
                // What goes on from the line above may have the sign within a value.
                if let Some(key) = key.filter(|key| key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)))
                {
                    said.push(format!("at \"{key}\""));
                }
            }
            _ => said.push(line.trim().to_owned()),
        }
    }
    said.join(": ")
}

/// As [`in_one_line`], for a file: the reader repeats a text that stands where another kind of value is expected.
fn in_one_line_without_values(error: &toml::de::Error) -> String {
    let line = in_one_line(error);
    match (line.find(": string \""), line.rfind("\", expected ")) {
        (Some(start), Some(end)) if start < end => format!("{}: string{}", &line[..start], &line[end + 1..]),
        _ => line,
    }
}

/// The process's environment variables, read once.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads the variables of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self(std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect())
    }

    /// Variables given by a test.
    pub fn of<const N: usize>(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
    }

    /// A variable's value as a secret; `None` where it is not set or empty.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<SecretString> {
        self.0.get(name).filter(|value| !value.is_empty()).map(|value| SecretString::from(value.clone()))
    }

    /// Name of the user of the operating system; `None` where no variable names one.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        let named = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| self.0.get(name));
        named.map(String::as_str).filter(|name| !name.is_empty())
    }

    fn overrides(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(k, v)| Some((k.strip_prefix("LANGYA__")?, v.as_str())))
    }
}

impl Settings {
    /// Reads `path` (or `langya.toml` where it exists and no path is given) and lays the environment over it.
    ///
    /// # Errors
    /// [`ConfigError`] names the key and the way out.
    pub fn load(path: Option<&Path>, env: &Environment) -> Result<Self, ConfigError> {
        let (origin, text) = match path {
            Some(path) => (path.display().to_string(), read(path)?),
            None if Path::new(DEFAULT_FILE).exists() => (DEFAULT_FILE.into(), read(Path::new(DEFAULT_FILE))?),
            None => ("the environment".into(), String::new()),
        };
        Self::parse(&text, &origin, env)
    }

    /// Reads settings from TOML text; `origin` names it in messages.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn parse(text: &str, origin: &str, env: &Environment) -> Result<Self, ConfigError> {
        let invalid = |reason: String| ConfigError::Invalid { origin: origin.to_owned(), reason };
        // Once by itself, for messages that name the line; the environment may still complete it.
        toml::from_str::<Settings>(text).map_err(|error| invalid(in_one_line_without_values(&error)))?;
        let mut table: toml::Table = text.parse().map_err(|error| invalid(in_one_line(&error)))?;
        for (name, value) in env.overrides() {
            overlay(&mut table, name, value)
                .map_err(|reason| ConfigError::Invalid { origin: format!("LANGYA__{name}"), reason })?;
        }
        let settings: Settings = table.try_into().map_err(|error: toml::de::Error| ConfigError::Invalid {
            origin: "the environment (LANGYA__…)".into(),
            reason: in_one_line(&error),
        })?;
        let mut settings = settings.checked()?;
        settings.oidc = settings.oidc.with_secret(env);
        Ok(settings)
    }

    /// The models that have prices.
    #[must_use]
    pub fn price_list(&self) -> PriceList {
        let price = |model: &ModelSettings| Some((model.id.clone(), model.price()?));
        PriceList {
            currency: Some(self.prices.currency.clone()),
            models: self.models.iter().filter_map(price).collect(),
        }
    }

    fn checked(self) -> Result<Self, ConfigError> {
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
        let above = self.limits.proof_above;
        require((0.0..=1.0).contains(&above), "limits.proof_above", above, "0 to 1, where 1 means never")?;
        let timeout = self.redis.timeout_ms;
        require((10..=60_000).contains(&timeout), "redis.timeout_ms", timeout, "10 to 60000")?;
        Ok(self)
    }

    fn check_models(&self) -> Result<(), ConfigError> {
        let mut seen = std::collections::BTreeSet::new();
        for model in &self.models {
            if !seen.insert(&model.id) {
                return Err(ConfigError::DuplicateModel(model.id.clone()));
            }
            require(model.weight.is_finite() && model.weight >= 0.0, "models.weight", model.weight, "0 or more")?;
            require(
                model.api_key_env.is_empty() || is_variable_name(&model.api_key_env),
                "models.api_key_env",
                // What stands there may be the key.
                format!("unusable for model {:?}", model.id),
                "write the name of an environment variable such as OPENAI_API_KEY, and never the key",
            )?;
        }
        Ok(())
    }
}

impl Settings {
    /// Whether images may stand beside a question: two models that take part see them.
    #[must_use]
    pub fn takes_images(&self) -> bool {
        let seeing = self.models.iter().filter(|model| model.images && model.weight > 0.0);
        self.battle.max_images > 0 && seeing.count() >= 2
    }
}

impl BattleSettings {
    fn check(&self) -> Result<(), ConfigError> {
        self.check_pacing()?;
        let modes = self.modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>().join(", ");
        let anonymous = self.modes.contains(&BattleMode::Anonymous);
        require(anonymous, "battle.modes", modes, "a list with \"anonymous\" in it")?;
        require(self.max_turns >= 1, "battle.max_turns", self.max_turns, "1 or more")?;
        require(
            (1..=60_000).contains(&self.max_prompt_bytes),
            "battle.max_prompt_bytes",
            self.max_prompt_bytes,
            "1 to 60000, so that a frame of 64 KiB holds it",
        )?;
        require(self.max_images <= 10, "battle.max_images", self.max_images, "0 to 10")?;
        require(
            (1..=32 << 20).contains(&self.max_image_bytes),
            "battle.max_image_bytes",
            self.max_image_bytes,
            "1 to 33554432, since an image is read in memory",
        )?;
        require(self.max_reply_bytes >= 1, "battle.max_reply_bytes", self.max_reply_bytes, "1 or more")?;
        require(self.max_live >= 1, "battle.max_live", self.max_live, "1 or more")?;
        Ok(())
    }
}

impl PairingSettings {
    /// Refuses numbers that no pairing can have.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`].
    pub fn check(&self) -> Result<(), ConfigError> {
        require((0.0..=1.0).contains(&self.uniform_share), "pairing.uniform_share", self.uniform_share, "0 to 1")?;
        require(self.elo_width > 0.0, "pairing.elo_width", self.elo_width, "more than 0")?;
        let boost = self.new_model_boost;
        require(boost.is_finite() && boost >= 1.0, "pairing.new_model_boost", boost, "1 or more")?;
        Ok(())
    }
}

impl RatingSettings {
    fn check(&self) -> Result<(), ConfigError> {
        require(
            self.confidence > 0.0 && self.confidence < 1.0,
            "rating.confidence",
            self.confidence,
            "between 0 and 1, for example 0.95",
        )?;
        let within = self.equal_within;
        require(within.is_finite() && within >= 0.0, "rating.equal_within", within, "0 or more, in rating points")?;
        require(self.group_votes >= 1, "rating.group_votes", self.group_votes, "1 or more")?;
        let seconds = self.group_seconds;
        require((1..=3_600).contains(&seconds), "rating.group_seconds", seconds, "1 to 3600")?;
        require(self.tuned_battles >= 1, "rating.tuned_battles", self.tuned_battles, "1 or more")?;
        Ok(())
    }
}

impl StorageSettings {
    fn check(&self) -> Result<(), ConfigError> {
        require(self.max_connections >= 1, "storage.max_connections", self.max_connections, "1 or more")?;
        require(self.acquire_timeout_ms >= 1, "storage.acquire_timeout_ms", self.acquire_timeout_ms, "1 or more")
    }
}

impl BenchSettings {
    fn check(&self) -> Result<(), ConfigError> {
        require(self.attempts >= 3, "bench.attempts", self.attempts, "3 or more")?;
        require(self.give_up_after >= 1, "bench.give_up_after", self.give_up_after, "1 or more")
    }
}

impl JudgeSettings {
    fn check(&self, models: &[ModelSettings]) -> Result<(), ConfigError> {
        require((0.0..=1.0).contains(&self.share), "judge.share", self.share, "0 to 1")?;
        let budget = self.budget_per_day;
        require(budget.is_finite() && budget >= 0.0, "judge.budget_per_day", budget, "0 or more")?;
        let twice = (1..self.models.len()).find(|at| self.models[..*at].contains(&self.models[*at]));
        let name = twice.map_or("", |at| &self.models[at]);
        require(twice.is_none(), "judge.models", format!("{name:?} twice"), "each judge once")?;
        let has_prices = |judge: &String| {
            models.iter().any(|model| model.id == *judge && model.input_price.is_some() && model.output_price.is_some())
        };
        let unpriced = self.models.iter().find(|judge| budget > 0.0 && !has_prices(judge));
        require(
            unpriced.is_none(),
            "judge.budget_per_day",
            budget,
            "0 unless every judge is one of [[models]] with input_price and output_price",
        )
    }
}

impl IntegritySettings {
    fn check(&self) -> Result<(), ConfigError> {
        let has_use = self.leak_judge.is_empty() || self.leaks == LeakPolicy::Exclude;
        require(has_use, "integrity.leak_judge", &self.leak_judge, "a model beside leaks = \"exclude\", or \"\"")
    }
}

impl ModelSettings {
    fn check(&self) -> Result<(), ConfigError> {
        require(
            !self.id.contains(char::is_control) && text_direction::in_name(&self.id) == self.id,
            "models.id",
            format!("{:?}", self.id),
            "a name without control characters",
        )?;
        require(
            self.reason.chars().count() <= 500
                && !self.reason.contains(char::is_control)
                && text_direction::in_name(&self.reason) == self.reason,
            "models.reason",
            format!("unusable for model {:?}", self.id),
            "one line of at most 500 characters",
        )?;
        require(self.max_concurrent >= 1, "models.max_concurrent", self.max_concurrent, "1 or more")?;
        for (key, price) in [("models.input_price", self.input_price), ("models.output_price", self.output_price)] {
            let price = price.unwrap_or(0.0);
            require(price.is_finite() && price >= 0.0, key, price, "0 or more, the price of a million tokens")?;
        }
        let share = self.batch_price.unwrap_or(0.0);
        require((0.0..=1.0).contains(&share), "models.batch_price", share, "0 to 1, a share of the prices")?;
        Ok(())
    }
}

/// Whether an environment variable can have this name.
#[must_use]
pub fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a text is the origin of a site: a scheme, a host and perhaps a port, as a policy for frames can name it.
fn is_web_origin(text: &str) -> bool {
    let is_plain =
        |url: reqwest::Url| matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text;
    reqwest::Url::parse(text).is_ok_and(is_plain)
}

fn is_web_address(text: &str) -> bool {
    reqwest::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn read(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    let bytes = crate::formats::read_file(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| unreadable(std::io::Error::other("it is not UTF-8")))
}

fn require(holds: bool, key: &'static str, value: impl ToString, rule: &'static str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::OutOfRange { key, value: value.to_string(), rule }) }
}

/// Every key with its default.
fn defaults() -> toml::Table {
    toml::Table::try_from(Settings::default()).unwrap_or_default()
}

/// Lays `SECTION__KEY=value` over the table: as it stands where the key holds text, else as TOML writes numbers, booleans and
/// lists.
fn overlay(table: &mut toml::Table, name: &str, value: &str) -> Result<(), String> {
    let lower = name.to_lowercase();
    let Some((section, key)) = lower.split_once("__") else {
        return Err("names no key: write LANGYA__SECTION__KEY".into());
    };
    let is_text = defaults().get(section).and_then(|section| section.get(key)).is_some_and(toml::Value::is_str);
    let parsed = value.parse::<toml::Value>().ok().filter(|value| !is_text && !value.is_table());
    let section_table = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    let Some(section_table) = section_table.as_table_mut() else {
        return Err(format!("`{section}` is a list: set it in langya.toml"));
    };
    section_table.insert(key.to_owned(), parsed.unwrap_or_else(|| toml::Value::String(value.to_owned())));
    Ok(())
}

#[cfg(test)]
mod tests;
