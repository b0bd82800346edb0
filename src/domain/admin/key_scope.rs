//! API keys: scopes, names and format.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prefix of every key, which distinguishes it from other tokens and lets secret scanners find leaked keys.
pub const KEY_PREFIX: &str = "langya_";
/// Maximum length of a key's name, in characters.
pub const MAX_NAME_CHARS: usize = 60;
/// Maximum lifetime of a key that expires, in days.
pub const MAX_LIFETIME_DAYS: u32 = 3_650;

/// Permission of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyScope {
    /// Reads data that the operator does not publish.
    Read,
    /// Judges in open campaigns, as one annotator of each.
    Annotate,
    /// Reads the audit log.
    Admin,
}

/// Error of an unknown scope name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected read, annotate or admin")]
pub struct UnknownScope;

impl KeyScope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Read, Self::Annotate, Self::Admin];

    /// Returns the name of the scope.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Annotate => "annotate",
            Self::Admin => "admin",
        }
    }
}

impl std::str::FromStr for KeyScope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(UnknownScope)
    }
}

/// Joins scopes into one text, without duplicates and in the order of [`KeyScope::ALL`].
#[must_use]
pub fn join_scopes(scopes: &[KeyScope]) -> String {
    let kept = KeyScope::ALL.into_iter().filter(|scope| scopes.contains(scope));
    kept.map(KeyScope::as_str).collect::<Vec<_>>().join(",")
}

/// Parses a text of [`join_scopes`].
///
/// # Errors
/// [`UnknownScope`].
pub fn split_scopes(text: &str) -> Result<Vec<KeyScope>, UnknownScope> {
    text.split(',').map(str::parse).collect()
}

/// Parses a key's name; `None` for one that is empty, too long or not plain.
#[must_use]
pub fn parse_name(typed: &str) -> Option<&str> {
    let name = typed.trim();
    let is_name = (1..=MAX_NAME_CHARS).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_kept_once_and_in_their_order() {
        let text = join_scopes(&[KeyScope::Admin, KeyScope::Read, KeyScope::Admin]);
        assert_eq!(text, "read,admin");
        assert_eq!(split_scopes(&text), Ok(vec![KeyScope::Read, KeyScope::Admin]));
        for wrong in ["", "read,", "Read", "root"] {
            assert_eq!(split_scopes(wrong), Err(UnknownScope), "{wrong:?}");
        }
    }

    #[test]
    fn a_name_is_one_plain_line() {
        assert_eq!(parse_name(" nightly 分析 "), Some("nightly 分析"));
        for wrong in ["", "  ", "two\nlines", "\u{0}", &"x".repeat(61)] {
            assert_eq!(parse_name(wrong), None, "{wrong:?}");
        }
    }
}
