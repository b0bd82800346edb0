//! The sections of the settings file with their defaults. What a key means stands at its field, and once more, for
//! operators, in `deploy/langya.example.toml`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::judging::budget::Prices;
use crate::domain::rating::neighbours::SequentialOptions;
use crate::domain::rating::options::IntervalMethod;
use crate::domain::rating::value::prices::{Currency, ModelPrice, PriceDate, PriceSource};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::ServiceUrl;

/// `[server]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSettings {
    /// Address and port.
    pub listen: String,
    /// The address that visitors use, where a proxy stands in front: `https://arena.example.org`.
    pub public_url: String,
    /// Threads that serve requests; 0 means one per core.
    pub workers: usize,
    /// Open websockets at the most.
    pub max_sockets: usize,
    /// How long battles under way may go on after SIGTERM.
    pub drain_seconds: u64,
    /// Networks of the reverse proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Networks that may read `/metrics`, and only without a proxy in between.
    pub metrics_allow: Vec<IpNet>,
}

/// `[storage]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StorageSettings {
    /// Folder of the embedded database.
    pub data_dir: PathBuf,
    /// Database address: `postgres://…` or `sqlite:PATH`; empty means `langya.db` in `data_dir`.
    pub database: ServiceUrl,
    /// Connections to PostgreSQL at the most.
    pub max_connections: u32,
    /// Longest wait for one of them, in milliseconds.
    pub acquire_timeout_ms: u64,
    /// Longest statement on PostgreSQL, in milliseconds.
    pub statement_timeout_ms: u64,
}

/// `[redis]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RedisSettings {
    /// Its address: `redis://…` or `rediss://…`; empty means that this is the only instance.
    pub url: ServiceUrl,
    /// What every key and channel begins with.
    pub prefix: String,
    /// Longest wait for an answer, in milliseconds.
    pub timeout_ms: u64,
}

/// Numbers that may be used in a minute, an hour and a day; 0 means no limit. In the file a list of up to three numbers in this
/// order; the empty list means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct WindowLimits {
    /// In a minute.
    pub minute: u32,
    /// In an hour.
    pub hour: u32,
    /// In a day.
    pub day: u32,
}

impl WindowLimits {
    /// No limit.
    pub const NONE: Self = Self::of(0, 0, 0);

    /// Limits for a minute, an hour and a day.
    #[must_use]
    pub const fn of(minute: u32, hour: u32, day: u32) -> Self {
        Self { minute, hour, day }
    }
}

/// A list of more than three numbers.
#[derive(Debug, thiserror::Error)]
#[error("up to three numbers are wanted: in a minute, in an hour, in a day")]
pub struct TooManyWindows;

impl TryFrom<Vec<u32>> for WindowLimits {
    type Error = TooManyWindows;

    fn try_from(numbers: Vec<u32>) -> Result<Self, TooManyWindows> {
        let number = |window: usize| numbers.get(window).copied().unwrap_or(0);
        if numbers.len() > 3 { Err(TooManyWindows) } else { Ok(Self::of(number(0), number(1), number(2))) }
    }
}

impl From<WindowLimits> for Vec<u32> {
    fn from(limits: WindowLimits) -> Self {
        vec![limits.minute, limits.hour, limits.day]
    }
}

/// `[limits]`; 0 means no limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Turns (battles, further questions, regenerations) that one visitor may ask for.
    pub turns: WindowLimits,
    /// Votes that one visitor may cast.
    pub votes: WindowLimits,
    /// Turns for all visitors of one address.
    pub turns_per_address: WindowLimits,
    /// Votes for all visitors of one address.
    pub votes_per_address: WindowLimits,
    /// Turns for all visitors of the arena.
    pub turns_in_all: WindowLimits,
    /// Votes for all visitors of the arena.
    pub votes_in_all: WindowLimits,
    /// Tries to sign in from one address.
    pub sign_ins_per_address: WindowLimits,
    /// Battles of one visitor that are being answered at the same time.
    pub battles_at_once: u32,
    /// Battles for all visitors of one address.
    pub battles_at_once_per_address: u32,
    /// The share of a network's or the arena's turns above which a battle begins with a proof of work; 1 means never.
    pub proof_above: f64,
}

/// How people are let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessMode {
    /// Everybody takes part.
    Open,
    /// Whoever has an invite code.
    Invite,
    /// Whoever knows the arena's pass phrase.
    Passphrase,
}

/// `[access]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSettings {
    /// `open`, `invite` or `passphrase`.
    pub mode: AccessMode,
    /// The pass phrase's argon2id hash, as `langya passphrase` prints it.
    pub passphrase_hash: HashText,
    /// Days after which people sign in again.
    pub session_days: u32,
}

/// A hash that is not printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HashText(String);

impl HashText {
    /// The hash, for whoever compares with it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for HashText {
    fn from(hash: &str) -> Self {
        Self(hash.to_owned())
    }
}

impl From<String> for HashText {
    fn from(hash: String) -> Self {
        Self(hash)
    }
}

impl std::fmt::Debug for HashText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "…" })
    }
}

/// What a log line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogSettings {
    /// `text` or `json`.
    pub format: LogFormat,
}

/// How replies are released to the visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PacingMode {
    /// Both sides start together and are released from a reserve, at the tempo that the slower side keeps.
    Common,
    /// The same, with waits and tempos rounded up to published classes, of which some battles draw slower ones.
    Classes,
    /// Both replies are held until both have ended.
    Whole,
    /// Text is passed on as it arrives; speeds show.
    Raw,
}

/// `[battle]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BattleSettings {
    /// `common`, `classes`, `whole` or `raw`.
    pub pacing: PacingMode,
    /// Characters a second and side at the most, unless pacing is raw.
    pub pace_chars_per_second: u32,
    /// Time that the text lasts which is held back while models write, in milliseconds. Text that both sides have waits for
    /// four times as long at the most.
    pub reserve_ms: u64,
    /// Waits before the first text under `classes` and `whole`, in milliseconds; longer ones are multiples of the last.
    pub start_classes_ms: Vec<u64>,
    /// Characters a second and side under `classes`; slower tempos are fractions of the last.
    pub tempo_classes: Vec<u32>,
    /// Share of the battles under `classes` that take the last class, whatever their models could keep.
    pub slow_class_share: f64,
    /// Turns of one battle at the most.
    pub max_turns: u32,
    /// Bytes of one prompt at the most.
    pub max_prompt_bytes: usize,
    /// Bytes of one reply at the most; a longer one is ended there.
    pub max_reply_bytes: usize,
    /// Battles in memory at the most.
    pub max_live: usize,
    /// How long replies go on without a visitor, in milliseconds.
    pub resume_grace_ms: u64,
    /// A battle without a vote counts as abandoned after this many minutes.
    pub abandon_after_minutes: u64,
}

/// How two models are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairingPolicySetting {
    /// Every pair alike.
    Uniform,
    /// In proportion to the product of the two weights.
    Weighted,
    /// Near ratings meet more often, with a uniform share.
    Elo,
    /// In proportion to how much one more vote would shrink the interval.
    Active,
}

/// What happens to a vote on a battle that gives a model away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeakPolicy {
    /// It is kept and excluded from the ratings; the visitor is told.
    Exclude,
    /// It is rated; the visitor is told, and the receipt says so.
    Mark,
    /// Texts are not searched.
    Off,
}

/// `[integrity]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IntegritySettings {
    /// `exclude`, `mark` or `off`: votes on battles in which a reply or the visitor names a model or its maker.
    pub leaks: LeakPolicy,
}

/// `[pairing]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PairingSettings {
    /// `uniform`, `weighted`, `elo` or `active`.
    pub policy: PairingPolicySetting,
    /// Share of battles drawn uniformly under `elo` and `active`, so that all pairs occur.
    pub uniform_share: f64,
    /// Under `elo`: the rating difference at which a pair is e times rarer.
    pub elo_width: f64,
    /// A model is new until it has this many rated votes.
    pub new_model_votes: u64,
    /// A new model's weight is multiplied by this.
    pub new_model_boost: f64,
}

/// `[rating]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RatingSettings {
    /// Shortest time between two fits, in milliseconds.
    pub debounce_ms: u64,
    /// So many new votes appear on the leaderboard at once.
    pub group_votes: u32,
    /// Fewer appear when the clock reaches a multiple of so many seconds.
    pub group_seconds: u32,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// How intervals are found: `"auto"` (by leaving out one voter at a time where voters are known), `"jackknife"`,
    /// `"cluster"`, `"sandwich"`, `"bootstrap"` or `"none"`.
    pub interval: IntervalMethod,
    /// Models with fewer rated votes are provisional.
    pub min_votes: u64,
    /// Neighbours on the leaderboard are equal if they are known to differ by fewer rating points.
    pub equal_within: f64,
    /// Battles of each model at which the comparison of neighbours, which allows looking at any time, is most sensitive.
    pub tuned_battles: u64,
}

/// `[providers]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderSettings {
    /// Look for local model servers, and for keys in the environment, where no `[[models]]` are given.
    pub discover: bool,
    /// Let the practice models take part: `"auto"` while no other model is there, `"always"` or `"never"`.
    pub practice: PracticeMode,
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
    /// Failures in a row after which a model rests.
    pub breaker_failures: u32,
    /// How long it rests, in milliseconds.
    pub breaker_rest_ms: u64,
}

/// `[bench]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BenchSettings {
    /// Tries of one request before it counts as failed.
    pub attempts: u32,
    /// Longest wait before the second try, in milliseconds; doubled for each one after it.
    pub backoff_ms: u64,
    /// Requests in a row that failed in all their tries, after which a model is asked no more in this run.
    pub give_up_after: u32,
}

/// `[judge]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeSettings {
    /// Ids of the models that judge battles after the vote; none, and no battle is sent to a judge.
    pub models: Vec<String>,
    /// The share of rated battles that is judged, 0 to 1.
    pub share: f64,
    /// Which battles are drawn.
    pub seed: u64,
    /// Requests to judges in a day (UTC) at the most; 0 means no limit.
    pub max_calls_per_day: u64,
    /// Money to spend on judges in a day at the most, in the currency of the models' prices; 0 means no limit.
    pub budget_per_day: f64,
}

/// `[prices]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PriceSettings {
    /// Currency of all prices.
    pub currency: Currency,
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
    /// Price of a million tokens of input, in the currency of [`PriceSettings`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_price: Option<f64>,
    /// Price of a million tokens of output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_price: Option<f64>,
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

fn one() -> f64 {
    1.0
}

fn default_max_tokens() -> u32 {
    2048
}

fn default_max_concurrent() -> u32 {
    8
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8717".into(),
            public_url: String::new(),
            workers: 0,
            max_sockets: 10_000,
            drain_seconds: 20,
            trusted_proxies: Vec::new(),
            metrics_allow: ["127.0.0.0/8", "::1/128"].map(|net| net.parse().expect("a network")).to_vec(),
        }
    }
}

impl Default for StorageSettings {
    fn default() -> Self {
        Self {
            data_dir: "data".into(),
            database: ServiceUrl::default(),
            max_connections: 16,
            acquire_timeout_ms: 5_000,
            statement_timeout_ms: 10_000,
        }
    }
}

impl Default for RedisSettings {
    fn default() -> Self {
        Self { url: ServiceUrl::default(), prefix: "langya".into(), timeout_ms: 1_000 }
    }
}

impl Default for LimitSettings {
    /// DESIGN.md has the reasons ("Why these limits by default?").
    fn default() -> Self {
        Self {
            turns: WindowLimits::of(30, 480, 1_440),
            votes: WindowLimits::of(15, 240, 720),
            turns_per_address: WindowLimits::of(180, 3_600, 7_200),
            votes_per_address: WindowLimits::of(90, 1_800, 3_600),
            turns_in_all: WindowLimits::of(48_000, 960_000, 4_000_000),
            votes_in_all: WindowLimits::of(24_000, 480_000, 2_000_000),
            sign_ins_per_address: WindowLimits::of(30, 120, 400),
            battles_at_once: 4,
            battles_at_once_per_address: 40,
            proof_above: 0.5,
        }
    }
}

impl Default for AccessSettings {
    fn default() -> Self {
        Self { mode: AccessMode::Open, passphrase_hash: HashText::default(), session_days: 30 }
    }
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { format: LogFormat::Text }
    }
}

impl Default for BattleSettings {
    fn default() -> Self {
        Self {
            pacing: PacingMode::Common,
            pace_chars_per_second: 240,
            reserve_ms: 1_200,
            start_classes_ms: vec![3_000, 15_000],
            tempo_classes: vec![60, 25],
            slow_class_share: 0.75,
            max_turns: 10,
            max_prompt_bytes: 32_000,
            max_reply_bytes: 256 * 1024,
            max_live: 5_000,
            resume_grace_ms: 1_200,
            abandon_after_minutes: 60,
        }
    }
}

impl Default for IntegritySettings {
    fn default() -> Self {
        Self { leaks: LeakPolicy::Exclude }
    }
}

impl Default for PairingSettings {
    fn default() -> Self {
        Self {
            policy: PairingPolicySetting::Weighted,
            uniform_share: 0.2,
            elo_width: 100.0,
            new_model_votes: 50,
            new_model_boost: 2.0,
        }
    }
}

impl Default for RatingSettings {
    fn default() -> Self {
        let SequentialOptions { equal_within, tuned_battles } = SequentialOptions::default();
        Self {
            debounce_ms: 250,
            group_votes: 5,
            group_seconds: 10,
            confidence: 0.95,
            interval: IntervalMethod::Auto,
            min_votes: 30,
            equal_within,
            tuned_battles,
        }
    }
}

impl Default for ProviderSettings {
    fn default() -> Self {
        Self {
            discover: true,
            practice: PracticeMode::Auto,
            connect_timeout_ms: 5_000,
            first_token_timeout_ms: 30_000,
            idle_timeout_ms: 20_000,
            total_timeout_ms: 300_000,
            retries: 2,
            retry_backoff_ms: 500,
            breaker_failures: 3,
            breaker_rest_ms: 30_000,
        }
    }
}

impl Default for BenchSettings {
    fn default() -> Self {
        Self { attempts: 4, backoff_ms: 1_000, give_up_after: 16 }
    }
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self { models: Vec::new(), share: 0.1, seed: 0, max_calls_per_day: 1_000, budget_per_day: 0.0 }
    }
}

impl Default for PriceSettings {
    fn default() -> Self {
        Self { currency: "USD".parse().expect("a currency") }
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
    /// The prices, if both are set.
    #[must_use]
    pub fn prices(&self) -> Option<Prices> {
        Some(Prices { input: self.input_price?, output: self.output_price? })
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
            weight: one(),
            reason: String::new(),
            temperature: None,
            max_tokens: default_max_tokens(),
            max_concurrent: default_max_concurrent(),
            input_price: None,
            output_price: None,
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

    /// The name that people see: `name`, or the id where it is left out.
    #[must_use]
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }
}
