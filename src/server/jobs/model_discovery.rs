//! Models that are found rather than configured.

use std::borrow::Cow;

use crate::infra::allowed_addresses::AllowedAddresses;
use crate::infra::config::{Environment, Settings};
use crate::infra::llm::model_discovery::{self, DiscoveryTargets};

/// These settings, and where they name no model and allow to look: with the models of local servers and of keys in the
/// environment. Practice models then leave or stay as the settings say.
pub(super) async fn with_found_models<'a>(settings: &'a Settings, env: &Environment) -> Cow<'a, Settings> {
    if !settings.providers.discover || !settings.models.is_empty() {
        return Cow::Borrowed(settings);
    }
    let allowed = AllowedAddresses::new(&settings.providers.private_networks);
    let models = model_discovery::discover(env, &DiscoveryTargets { allowed, ..DiscoveryTargets::default() }).await;
    Cow::Owned(Settings { models, ..settings.clone() })
}
