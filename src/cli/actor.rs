//! Who runs a command, for the audit log.

use crate::infra::config::Environment;
use crate::services::admin::actor::Actor;

/// Most characters of a name.
const LONGEST_NAME: usize = 100;

/// The user of the operating system.
pub(super) fn actor(env: &Environment) -> Actor {
    Actor::of_command(env.user().unwrap_or("operator").chars().take(LONGEST_NAME).collect())
}
