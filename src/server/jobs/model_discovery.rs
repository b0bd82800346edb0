//! Discovery of models without a configuration.

use std::borrow::Cow;

use crate::infra::allowed_addresses::AllowedAddresses;
use crate::infra::config::{Environment, Settings};
use crate::infra::llm::model_discovery::{self, DiscoveryTargets};

/// Returns the settings; if they name no model and allow discovery, with the models of local servers and of API keys in the environment.
/// Practice models are then kept or removed as configured.
pub(super) async fn with_found_models<'a>(settings: &'a Settings, env: &Environment) -> Cow<'a, Settings> {
    if !settings.providers.discover || !settings.models.is_empty() {
        return Cow::Borrowed(settings);
    }
    let allowed = AllowedAddresses::new(&settings.providers.private_networks);
    let models = model_discovery::discover(env, &DiscoveryTargets { allowed, ..DiscoveryTargets::default() }).await;
    Cow::Owned(Settings { models, ..settings.clone() })
}
