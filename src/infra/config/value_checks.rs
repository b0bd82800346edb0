//! Validation rules shared by several sections, and the error for a refused value.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

use super::ConfigError;
use crate::domain::settings_rule::{RefusedValue, SettingRule};

/// Whether a text is a valid name of an environment variable.
#[must_use]
pub fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a text is a web origin (a scheme, a host and optionally a port), as a frame policy can name it.
pub(super) fn is_web_origin(text: &str) -> bool {
    let is_plain =
        |url: reqwest::Url| matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text;
    reqwest::Url::parse(text).is_ok_and(is_plain)
}

/// Whether a text is an HTTP(S) address with a host.
pub(super) fn is_web_address(text: &str) -> bool {
    reqwest::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Whether a text is an address that visitors can open: only a scheme, a host and optionally a port.
pub(super) fn is_site_address(text: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(text) else { return false };
    let is_plain = url.username().is_empty() && url.password().is_none() && url.path() == "/" && url.query().is_none();
    let host = url.host_str().unwrap_or_default();
    // Visitors cannot open a wildcard address.
    let is_host = !host.contains(['*', ',']) && !matches!(host, "0.0.0.0" | "[::]");
    is_web_address(text) && is_plain && url.fragment().is_none() && is_host && text.trim() == text
}

/// A network; a single address is the network of that address.
struct Network(IpNet);

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Inside the visitor, so that the error names the line of this text and not that of the list.
        deserializer.deserialize_str(NetworkVisitor)
    }
}

struct NetworkVisitor;

impl Visitor<'_> for NetworkVisitor {
    type Value = Network;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a network such as 10.0.0.0/8")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Network, E> {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        // The text is not repeated: it may be a misplaced address with a password.
        network.map(Network).map_err(|_| E::custom("not a network: write one such as 10.0.0.0/8, or an address"))
    }
}

/// Deserializes a list of networks, each as [`Network`].
pub(super) fn networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    Ok(Vec::<Network>::deserialize(deserializer)?.into_iter().map(|network| network.0).collect())
}

/// Refuses the value of a key, which the error repeats, unless the rule holds.
pub(super) fn require(
    holds: bool,
    key: &'static str,
    value: impl ToString,
    rule: impl Into<SettingRule>,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::out_of_range(key, RefusedValue::Shown(value.to_string()), rule)) }
}

/// Refuses a value like [`require`], with a description in place of the value.
pub(super) fn require_as(
    holds: bool,
    key: &'static str,
    value: RefusedValue,
    rule: impl Into<SettingRule>,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::out_of_range(key, value, rule)) }
}
