//! Public API: readers of the vote log and CORS origins.

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::config::value_checks::require;
use crate::domain::settings_rule::AddressRule;

/// Origin that stands for pages of every site.
pub const ANY_ORIGIN: &str = "*";

/// Access level of `/api/v1/votes`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VoteAccess {
    /// Everyone.
    Public,
    /// Programs with an API key of the scope `read`.
    #[default]
    Key,
    /// No one.
    Off,
}

/// `[api]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApiSettings {
    /// Access level of the vote log at `/api/v1/votes`.
    pub votes: VoteAccess,
    /// Origins whose pages may read the public part of `/api/v1`; `*` stands for all.
    pub cors_origins: Vec<String>,
}

impl ApiSettings {
    /// Checks that each origin has the form that browsers send.
    pub(in crate::config) fn check(&self) -> Result<(), ConfigError> {
        let wrong = self.cors_origins.iter().find(|origin| *origin != ANY_ORIGIN && !is_origin(origin));
        let said = wrong.map_or("", String::as_str);
        require(wrong.is_none(), "api.cors_origins", said, AddressRule::CorsOrigins)?;
        let is_alone = self.cors_origins.len() < 2 || !self.cors_origins.iter().any(|origin| origin == ANY_ORIGIN);
        require(is_alone, "api.cors_origins", ANY_ORIGIN, AddressRule::CorsOrigins)
    }
}

/// Whether a text is scheme, host, and the port unless it is the scheme's default.
fn is_origin(text: &str) -> bool {
    let url = reqwest::Url::parse(text).ok();
    url.is_some_and(|url| {
        ["http", "https"].contains(&url.scheme()) && url.has_host() && url.origin().ascii_serialization() == text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_a_browser_sends_or_all_of_them_alone() {
        let check = |origins: &[&str]| {
            let cors_origins = origins.iter().map(|&origin| origin.to_owned()).collect();
            ApiSettings { cors_origins, ..ApiSettings::default() }.check().is_ok()
        };
        assert!(check(&[]) && check(&["*"]) && check(&["https://example.org", "http://127.0.0.1:8000"]));
        for wrong in
            ["", "null", "example.org", "https://example.org/", "https://EXAMPLE.org", "https://x.org:443", "file://"]
        {
            assert!(!check(&[wrong]), "{wrong:?}");
        }
        assert!(!check(&["*", "https://example.org"]));
    }
}
