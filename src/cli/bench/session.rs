//! What commands that ask models work with.

use super::open_with_suites;
use crate::Location;
use crate::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::llm::discover::{DiscoveryTargets, with_discovered};
use crate::model_run::clients::model_clients;
use crate::services::benchmark::batches::BatchOptions;
use crate::services::benchmark::suite_run::RunSession;

/// Opens the database, and the models of the settings.
pub(super) async fn open(location: &Location, env: &Environment) -> CommandResult<RunSession> {
    let settings = with_discovered(location.settings(env)?, env, &DiscoveryTargets::default()).await;
    let store = open_with_suites(&settings).await?;
    Ok(RunSession { store, clients: model_clients(settings, env)?, batches: BatchOptions::default() })
}
