//! Validation rules of the settings and descriptions of rejected values, as data: `infra::config` applies them. `Display` is the English
//! text, `render::i18n` has the others.

use std::fmt;

use crate::webhook::MIN_SECRET_BYTES;

/// Maximum size of a prompt, in bytes.
pub const MAX_PROMPT_BYTES: usize = 60_000;
/// Maximum size of an image, in bytes.
pub const MAX_IMAGE_BYTES: usize = 32 << 20;
/// Maximum expected number of battles per model.
pub const MAX_EXPECTED_BATTLES: u64 = 1_000_000;
/// Maximum wait in milliseconds.
pub const MAX_WAIT_MS: u64 = 600_000;
/// Maximum speed, in characters per second.
pub const MAX_CHARS_PER_SECOND: u32 = 100_000;
/// Ids of the practice models.
pub const PRACTICE_MODELS: [&str; 5] =
    ["practice-echo", "practice-rules", "practice-calculator", "practice-retriever", "practice-scholar"];

/// Validation rule of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingRule {
    /// A number, or a list of numbers.
    Number(NumberRule),
    /// A name, a text or a list of them.
    Text(TextRule),
    /// An address, or a list of addresses.
    Address(AddressRule),
    /// The name of an environment variable, and what the variable holds.
    Variable(VariableRule),
    /// Requirements of sign-in settings.
    SignIn(SignInRule),
}

impl fmt::Display for SettingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(rule) => fmt::Display::fmt(rule, f),
            Self::Text(rule) => fmt::Display::fmt(rule, f),
            Self::Address(rule) => fmt::Display::fmt(rule, f),
            Self::Variable(rule) => fmt::Display::fmt(rule, f),
            Self::SignIn(rule) => fmt::Display::fmt(rule, f),
        }
    }
}

impl From<NumberRule> for SettingRule {
    fn from(rule: NumberRule) -> Self {
        Self::Number(rule)
    }
}

impl From<TextRule> for SettingRule {
    fn from(rule: TextRule) -> Self {
        Self::Text(rule)
    }
}

impl From<AddressRule> for SettingRule {
    fn from(rule: AddressRule) -> Self {
        Self::Address(rule)
    }
}

impl From<VariableRule> for SettingRule {
    fn from(rule: VariableRule) -> Self {
        Self::Variable(rule)
    }
}

impl From<SignInRule> for SettingRule {
    fn from(rule: SignInRule) -> Self {
        Self::SignIn(rule)
    }
}

/// Rule of a setting that holds numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberRule {
    /// A number from the first to the second bound, inclusive.
    Between(u32, u32),
    /// A number of at least this.
    AtLeast(u32),
    /// Every number above 0.
    AboveZero,
    /// A difference of ratings.
    RatingPoints,
    /// A price per million tokens.
    TokenPrice,
    /// A share of the prices outside a batch.
    PriceShare,
    /// A share, or 1 for a limit that is never exceeded.
    ShareOrNever,
    /// The confidence level of intervals.
    Confidence,
    /// Bytes of a prompt that fits into one websocket frame.
    PromptBytes,
    /// Bytes of an image.
    ImageBytes,
    /// Expected battles per model.
    ExpectedBattles,
    /// Budget for judges, which requires prices of all judges.
    BudgetOfPricedJudges,
    /// Waits in milliseconds.
    RisingWaits,
    /// Speeds in characters per second.
    FallingSpeeds,
    /// Limits per minute, hour and day.
    OrderedLimits,
}

impl fmt::Display for NumberRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Between(least, most) => return write!(f, "{least} to {most}"),
            Self::AtLeast(least) => return write!(f, "{least} or more"),
            Self::AboveZero => "more than 0",
            Self::RatingPoints => "0 or more, in rating points",
            Self::TokenPrice => "0 or more, the price of a million tokens",
            Self::PriceShare => "0 to 1, a share of the prices",
            Self::ShareOrNever => "0 to 1, where 1 means never",
            Self::Confidence => "0.000001 to 0.999999, for example 0.95",
            Self::PromptBytes => return write!(f, "1 to {MAX_PROMPT_BYTES}, so that a frame of 64 KiB holds it"),
            Self::ImageBytes => return write!(f, "1 to {MAX_IMAGE_BYTES}, since an image is read in memory"),
            Self::ExpectedBattles => {
                return write!(f, "1 to {MAX_EXPECTED_BATTLES}, the battles of each model that you expect");
            }
            Self::BudgetOfPricedJudges => "0 unless every judge is one of [[models]] with input_price and output_price",
            Self::RisingWaits => return write!(f, "one or more waits from 1 to {MAX_WAIT_MS}, in rising order"),
            Self::FallingSpeeds => {
                return write!(f, "one or more speeds from 1 to {MAX_CHARS_PER_SECOND}, in falling order");
            }
            Self::OrderedLimits => "limits per minute, hour and day, none below the one before it; 0 for no limit",
        };
        f.write_str(text)
    }
}

/// Rule of a setting that holds names or texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRule {
    /// Battle modes, which include the anonymous one.
    AnonymousAmongModes,
    /// The judge of identity leaks, or none.
    LeakJudge,
    /// The id of a model.
    ModelId,
    /// A practice model of this program.
    PracticeModel,
    /// One line of at most this many characters.
    OneLine(u32),
    /// Texts of at most this many characters each.
    ShortTexts(u32),
    /// The id of a webhook.
    WebhookId,
    /// A webhook id that is unique.
    UniqueWebhookId,
    /// Judges without duplicates.
    UniqueJudges,
    /// Witnesses without duplicates.
    UniqueWitnesses,
    /// The public key of a witness.
    WitnessKey,
    /// Categories of a moderation endpoint.
    Categories,
    /// An image file.
    LogoFile,
    /// A colour for links and buttons.
    AccentColour,
}

impl fmt::Display for TextRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::OneLine(most) => return write!(f, "one line of at most {most} characters"),
            Self::ShortTexts(most) => return write!(f, "texts of at most {most} characters"),
            Self::AnonymousAmongModes => "a list with \"anonymous\" in it",
            Self::LeakJudge => "a model beside leaks = \"exclude\", or \"\"",
            Self::ModelId => "a name of 1 to 200 bytes, without control characters and without spaces around it",
            Self::PracticeModel => {
                let [others @ .., last] = PRACTICE_MODELS;
                return write!(f, "provider \"builtin\" has {} and {last}", others.join(", "));
            }
            Self::WebhookId => "lower-case letters, digits, - and _",
            Self::UniqueWebhookId => "each webhook its own",
            Self::UniqueJudges => "each judge once",
            Self::UniqueWitnesses => "each witness once",
            Self::WitnessKey => "NAME+ID+KEY, as the operator of the witness gives it",
            Self::Categories => "names of categories such as \"sexual/minors\", or \"*\" for all",
            Self::LogoFile => "a .svg, .png, .webp or .jpg file",
            Self::AccentColour => {
                "a colour such as \"#1d6755\", dark enough to be read on light pages (contrast 4.5 to 1)"
            }
        };
        f.write_str(text)
    }
}

/// Rule of a setting that holds addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressRule {
    /// An HTTP or HTTPS address.
    HttpOrHttps,
    /// An HTTP address, preferably with TLS.
    HttpsPage,
    /// A mail or web address.
    Contact,
    /// The listening address of the arena.
    Listen,
    /// The public address of the arena.
    PublicUrl,
    /// Sites that may frame the leaderboard.
    FramingSites,
    /// Origins whose pages may read the API.
    CorsOrigins,
    /// The address of a model API.
    Models,
    /// The address of a moderation endpoint, or nothing.
    ModerationOrNone,
    /// The address of a moderation endpoint.
    Moderation,
    /// An address that begins with `http://` or `https://`.
    HttpScheme,
    /// An address without a query and fragment.
    WithoutQuery,
    /// A model's address without a user and password.
    WithoutKey,
    /// The address of a model list without a user and password.
    WithoutUser,
    /// A moderation endpoint's address without a user, password, query and fragment.
    ModerationWithoutCredentials,
    /// An address that `infra::allowed_addresses` allows for models.
    ReachableForModels,
    /// An address allowed for webhooks, without a user, password and fragment.
    ReachableForWebhooks,
}

impl fmt::Display for AddressRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::HttpOrHttps => "an address with http:// or https://",
            Self::HttpsPage => "an address with https://",
            Self::Contact => "mailto:… or an address with https://",
            Self::Listen => "an IP address and a port, such as 127.0.0.1:8717, or 0.0.0.0:8717 for every address",
            Self::PublicUrl => "write scheme, host and port, such as https://arena.example.org, or nothing",
            Self::FramingSites => "addresses such as https://lab.example.org, without a path, or \"*\"",
            Self::CorsOrigins => "origins such as https://example.org, without a path; \"*\" alone stands for all",
            Self::Models => "write an address such as http://127.0.0.1:8000/v1",
            Self::ModerationOrNone => "write one such as https://api.openai.com/v1, or nothing",
            Self::Moderation => "write an address such as https://api.openai.com/v1",
            Self::HttpScheme => "write an address that starts with http:// or https://",
            Self::WithoutQuery => "write the address without what follows a ? or #",
            Self::WithoutKey => {
                "write no name and no password into the address: name the key's variable as api_key_env"
            }
            Self::WithoutUser => "write it without a user or password: the settings file would hold them",
            Self::ModerationWithoutCredentials => {
                "write no name, no password and nothing after a ? or # into the address"
            }
            Self::ReachableForModels => {
                "link-local and metadata addresses are not allowed, and private networks only if \
                 providers.private_networks lists them"
            }
            Self::ReachableForWebhooks => {
                "write no user name, password or fragment (#); link-local and metadata addresses are not allowed, and private \
                 networks only if providers.private_networks lists them"
            }
        };
        f.write_str(text)
    }
}

/// Rule of a setting that names an environment variable, and of the variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableRule {
    /// The name of a variable that holds an API key.
    KeyName,
    /// The name of a variable that holds a webhook's secret.
    WebhookSecretName,
    /// The name of a variable that holds the arena's client secret at a sign-in provider.
    ClientSecretName,
    /// A variable whose value can be sent as a key.
    SendableKey,
    /// A variable that holds a key, or none.
    ModerationKey,
    /// A variable that holds a long secret.
    WebhookSecret,
    /// A variable that holds a secret, or none.
    ClientSecret,
}

impl fmt::Display for VariableRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::KeyName => "write the name of an environment variable such as OPENAI_API_KEY, and never the key",
            Self::WebhookSecretName => {
                "write the name of an environment variable such as HOOK_SECRET, and never the secret"
            }
            Self::ClientSecretName => {
                "write the name of an environment variable such as OIDC_CLIENT_SECRET, and never the secret"
            }
            Self::SendableKey => "the variable's value has characters that no key has, such as a line break",
            Self::ModerationKey => "export the variable with a key in it, or remove api_key_env",
            Self::WebhookSecret => {
                return write!(f, "set the variable to a secret of {MIN_SECRET_BYTES} characters or more");
            }
            Self::ClientSecret => "export the variable where the arena runs, or remove client_secret_env",
        };
        f.write_str(text)
    }
}

/// Requirements of sign-in settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInRule {
    /// The passphrase hash of an arena that requires a passphrase.
    PassphraseHash,
    /// The issuer address of the provider at which visitors sign in.
    IssuerForVisitors,
    /// The issuer address of the provider at which operators sign in.
    IssuerForAdmins,
    /// The address that identifies a provider.
    Issuer,
    /// The arena's client id at the provider.
    ClientId,
    /// The redirect address after signing in at the provider.
    ReturnAddress,
    /// The scopes requested from the provider.
    Scopes,
    /// Roles by the values of a claim.
    RolesOfClaim,
}

impl fmt::Display for SignInRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::PassphraseHash => "write what `langya passphrase` prints, because access.mode is \"passphrase\"",
            Self::IssuerForVisitors => "write the provider's address, because access.mode is \"oidc\"",
            Self::IssuerForAdmins => "the provider's address, where oidc.admins is true",
            Self::Issuer => "https://…, as the provider calls itself; http:// on this machine only",
            Self::ClientId => "the id that the provider gave the arena",
            Self::ReturnAddress => "the arena's public address, to which the provider sends people back",
            Self::Scopes => "words without spaces, such as \"email\"",
            Self::RolesOfClaim => "values and their roles where oidc.role_claim names a claim, and nowhere else",
        };
        f.write_str(text)
    }
}

/// Description of a rejected value in an error message. Values that may be secret are not repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusedValue {
    /// The value itself.
    Shown(String),
    /// A value that is withheld.
    Unusable,
    /// A withheld value of the model with this id.
    UnusableForModel(String),
    /// A withheld value of the webhook with this id.
    UnusableForWebhook(String),
    /// The value of one model.
    OfModel {
        /// The value.
        value: String,
        /// The model's id.
        model: String,
    },
    /// No value.
    Empty,
    /// The name of a variable that is not set.
    UnsetVariable(String),
    /// A duplicate name.
    Twice(String),
    /// Number of entries, where the rule requires none or some.
    Count(usize),
    /// A value that is no passphrase hash.
    NotAHash,
    /// A value that is no address of a moderation endpoint.
    NotAnEndpoint,
    /// A value that is no bare address of a site.
    NotASite,
    /// A value that is no list of sites.
    NotASiteList,
}

impl fmt::Display for RefusedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Shown(value) => value.as_str(),
            Self::Unusable => "unusable",
            Self::UnusableForModel(model) => return write!(f, "unusable for model {model:?}"),
            Self::UnusableForWebhook(webhook) => return write!(f, "unusable for webhook {webhook:?}"),
            Self::OfModel { value, model } => return write!(f, "{value:?} for model {model:?}"),
            Self::Empty => "empty",
            Self::UnsetVariable(variable) => return write!(f, "{variable:?}, which is not set"),
            Self::Twice(name) => return write!(f, "{name:?} twice"),
            Self::Count(values) => return write!(f, "{values} values"),
            Self::NotAHash => "not an argon2id hash",
            Self::NotAnEndpoint => "not the address of an endpoint",
            Self::NotASite => "not the address of a site alone",
            Self::NotASiteList => "not a list of sites",
        };
        f.write_str(text)
    }
}
