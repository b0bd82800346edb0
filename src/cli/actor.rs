//! Actor of a command, for the audit log.

use crate::infra::config::Environment;
use crate::services::admin::actor::Actor;

/// Maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 100;

/// Returns the operating system user as the actor.
pub(super) fn actor(env: &Environment) -> Actor {
    Actor::of_command(env.user().unwrap_or("operator").chars().take(MAX_NAME_CHARS).collect())
}
