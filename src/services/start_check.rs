//! Checks that `langya serve` runs at start, except for the database: environment variables named by the settings, and unusable addresses.
//! The doctor and the reload of an edited settings file run them too.

use crate::infra::config::{ConfigError, Environment, Settings};
use crate::infra::llm::roster::Roster;
use crate::infra::moderation::ModerationEndpoint;
use crate::infra::redis::{AddressError, check_address};
use crate::infra::webhooks::WebhookSender;

/// Error that keeps the arena from starting.
#[derive(Debug, thiserror::Error)]
pub enum StartRefusal {
    /// Invalid setting, or invalid variable that it names.
    #[error(transparent)]
    Settings(#[from] ConfigError),
    /// Invalid address of Redis.
    #[error(transparent)]
    Redis(#[from] AddressError),
}

/// Runs all checks of a start.
///
/// # Errors
/// [`StartRefusal`]
pub fn check_start(settings: &Settings, env: &Environment) -> Result<(), StartRefusal> {
    settings.oidc.check_secret()?;
    // The seed only spreads the waits between tries.
    Roster::build(settings, env, 0)?.check_pairable(settings)?;
    check_kept_until_restart(settings, env)
}

/// Checks the settings that take effect only at the next start.
///
/// # Errors
/// [`StartRefusal`]
pub fn check_kept_until_restart(settings: &Settings, env: &Environment) -> Result<(), StartRefusal> {
    ModerationEndpoint::open(settings, env)?;
    WebhookSender::open(settings, env)?;
    if !settings.redis.url.is_empty() {
        check_address(&settings.redis)?;
    }
    Ok(())
}
