//! Session of commands that query models.

use super::{open_for_dry_run, open_with_suites};
use crate::Location;
use crate::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::llm::model_discovery::{DiscoveryTargets, with_discovered};
use crate::model_run::LimitFlags;
use crate::model_run::clients::model_clients;
use crate::services::benchmark::batches::BatchOptions;
use crate::services::benchmark::suite_run::RunSession;

/// Opens the database and the configured models. A dry run only reads.
pub(super) async fn open(location: &Location, limits: &LimitFlags, env: &Environment) -> CommandResult<RunSession> {
    let settings = with_discovered(location.settings(env)?, env, &DiscoveryTargets::default()).await;
    let store = if limits.dry_run { open_for_dry_run(&settings).await } else { open_with_suites(&settings).await }?;
    Ok(RunSession { store, clients: model_clients(settings, env)?, batches: BatchOptions::default() })
}
