//! The rules that settings of several sections share, and the refusal of a value.

use super::ConfigError;

/// Whether an environment variable can have this name.
#[must_use]
pub fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a text is the origin of a site: a scheme, a host and perhaps a port, as a policy for frames can name it.
pub(super) fn is_web_origin(text: &str) -> bool {
    let is_plain =
        |url: reqwest::Url| matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text;
    reqwest::Url::parse(text).is_ok_and(is_plain)
}

/// Whether a text is an address of the web, with a host.
pub(super) fn is_web_address(text: &str) -> bool {
    reqwest::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Refuses a value of a key, unless the rule holds.
pub(super) fn require(
    holds: bool,
    key: &'static str,
    value: impl ToString,
    rule: &'static str,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::OutOfRange { key, value: value.to_string(), rule }) }
}
