//! Models that are found rather than configured join the arena shortly after its start.

use std::sync::Arc;

use crate::app::AppState;
use crate::config::{Environment, Settings};
use crate::llm::discover::{self, Places};
use crate::llm::roster::Roster;

/// Looks once for local model servers and for keys in the environment, where no model is configured, and puts what it
/// finds in place of the practice models (or beside them, as the settings say).
pub async fn join_found_models(app: Arc<AppState>, env: Environment) {
    let settings = app.settings.now();
    if !settings.providers.discover || !settings.models.is_empty() {
        return;
    }
    let (shutdown, places) = (app.tasks.shutdown(), Places::default());
    let found = tokio::select! {
        found = discover::discover(&env, &places) => found,
        () = shutdown.cancelled() => return,
    };
    if found.is_empty() {
        return;
    }
    let settings = Settings { models: found, ..(*settings).clone() };
    let joined = match Roster::build(&settings, &env, app.chance.seed()) {
        Ok(roster) => app.models.exchange(roster, &app.store, app.clock.as_ref()).await,
        Err(error) => return tracing::warn!(error = %error, "the models that were found cannot be used"),
    };
    if let Err(error) = joined {
        tracing::error!(error = ?error, "the models that were found could not be registered");
    }
}
