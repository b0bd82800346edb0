//! Sections of the settings file with their defaults. The meaning of a key is documented at its field, and for operators in
//! `deploy/langya.example.toml`.

mod access;
mod admin;
mod api;
mod battle;
mod limits;
mod models;
mod moderation;
mod oidc;
mod public_log;
mod rating;
mod retention;
mod server;
mod site;
mod webhooks;

pub use access::{AccessMode, AccessSettings, HashText};
pub use admin::AdminSettings;
pub use api::{ANY_ORIGIN, ApiSettings, VoteAccess};
pub use battle::{
    BattleSettings, FlaggedVoterPolicy, IntegritySettings, LeakPolicy, PacingMode, PairingPolicySetting,
    PairingSettings,
};
pub use limits::{LimitSettings, WindowLimits};
pub use models::{ModelSettings, PracticeMode, ProviderKind, ProviderSettings, Timeouts};
pub use moderation::{ModerationSettings, OnFailure};
pub use oidc::{ClientSecret, OidcSettings, is_secure_transport};
pub use public_log::{PublicLogSettings, WitnessSettings};
pub use rating::{BenchSettings, JudgeSettings, PriceSettings, RatingSettings};
pub use retention::RetentionSettings;
pub use server::{LoggingFormat, LoggingSettings, RedisSettings, ServerSettings, StorageSettings, is_public_by_tls};
pub use site::SiteSettings;
pub use webhooks::WebhookSettings;
