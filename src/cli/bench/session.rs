//! What commands that ask models work with.

use super::model_clients::ModelClients;
use super::open_beside;
use crate::cli::Location;
use crate::cli::error::CommandResult;
use crate::infra::config::Environment;
use crate::infra::llm::discover::{Places, with_discovered};
use crate::infra::storage::Store;

/// The database and the models of the settings.
pub(in crate::cli) struct Session {
    /// The database.
    pub(in crate::cli) store: Store,
    /// The models.
    pub(in crate::cli) askers: ModelClients,
}

impl Session {
    pub(super) async fn open(location: &Location, env: &Environment) -> CommandResult<Self> {
        let settings = with_discovered(location.settings(env)?, env, &Places::default()).await;
        let store = open_beside(&settings).await?;
        Ok(Self { store, askers: ModelClients::make(settings, env)? })
    }
}
