//! What keeps `langya serve` from starting apart from its database: what the settings name in the environment, and addresses that
//! cannot be used. The doctor and the reload of an edited settings file say so before a start does.

use crate::infra::config::{ConfigError, Environment, Settings};
use crate::infra::llm::roster::Roster;
use crate::infra::moderation::ModerationEndpoint;
use crate::infra::redis::{AddressError, check_address};
use crate::infra::webhooks::WebhookSender;

/// Why an arena would not start.
#[derive(Debug, thiserror::Error)]
pub enum StartRefusal {
    /// A setting, or the variable that it names.
    #[error(transparent)]
    Settings(#[from] ConfigError),
    /// The address of Redis.
    #[error(transparent)]
    Redis(#[from] AddressError),
}

/// Looks at all that a start looks at.
///
/// # Errors
/// [`StartRefusal`]
pub fn check_start(settings: &Settings, env: &Environment) -> Result<(), StartRefusal> {
    settings.oidc.check_secret()?;
    // The seed only spreads the waits between tries.
    Roster::build(settings, env, 0)?.check_pairable(settings)?;
    check_kept_until_restart(settings, env)
}

/// Looks at what a running arena keeps as it is until its next start.
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
