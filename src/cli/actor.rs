//! Actor of a command, for the audit log.

use crate::infra::config::Environment;
use crate::services::admin::actor::Actor;

/// Maximum length of a name in characters.
const LONGEST_NAME: usize = 100;

/// Returns the operating system user as the actor.
pub(super) fn actor(env: &Environment) -> Actor {
    Actor::of_command(env.user().unwrap_or("operator").chars().take(LONGEST_NAME).collect())
}
