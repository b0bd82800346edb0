//! Restricts the servers that an API key may be sent to. A person who manages models on a page may not know the environment, so a page
//! never sends the value of a variable to an unrelated server.

use reqwest::Url;

use super::Settings;

/// Variables whose keys belong to one server only, whatever the settings say.
const KNOWN_KEY_HOSTS: [(&str, &str); 3] = [
    ("OPENAI_API_KEY", "https://api.openai.com"),
    ("ANTHROPIC_API_KEY", "https://api.anthropic.com"),
    ("OPENROUTER_API_KEY", "https://openrouter.ai"),
];

/// Whether the key in a variable belongs to the server at an address: that of the provider the variable is named after, or of a configured
/// model that already uses this key.
#[must_use]
pub fn belongs_to(variable: &str, address: &str, settings: &Settings) -> bool {
    let Some(server) = origin(address) else { return false };
    let known = KNOWN_KEY_HOSTS.iter().filter(|(name, _)| *name == variable).map(|(_, server)| *server);
    let used = settings.models.iter().filter(|model| model.api_key_env == variable).map(|model| &*model.base_url);
    known.chain(used).filter_map(origin).any(|home| home == server)
}

/// Returns scheme, host and port.
fn origin(address: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok().filter(Url::has_host)?;
    Some(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ModelSettings, ProviderKind};

    #[test]
    fn a_key_is_for_its_provider_and_for_servers_that_have_it_already() {
        let used = ModelSettings {
            api_key_env: "OUR_KEY".into(),
            base_url: "https://models.example:8443/v1".into(),
            ..ModelSettings::minimal("m", ProviderKind::Openai)
        };
        let settings = Settings { models: vec![used], ..Settings::default() };
        let check = |variable: &str, address: &str| belongs_to(variable, address, &settings);
        assert!(check("OUR_KEY", " https://models.example:8443/other/models"));
        assert!(check("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"));
        for (variable, address) in [
            ("OUR_KEY", "http://models.example:8443/v1"),
            ("OUR_KEY", "https://models.example/v1"),
            ("OUR_KEY", "https://evil.example:8443"),
            ("OUR_KEY", "https://models.example:8443@evil.example"),
            ("OPENROUTER_API_KEY", "http://openrouter.ai/api/v1"),
            ("LANGYA__STORAGE__DATABASE", "https://models.example:8443/v1"),
            ("OUR_KEY", "models.example"),
        ] {
            assert!(!check(variable, address), "{variable} to {address}");
        }
    }
}
