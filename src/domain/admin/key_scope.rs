//! API keys: what programs may do with one, and what it looks like.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What every key begins with, so that it can be distinguished from other tokens and found where it does not belong.
pub const KEY_PREFIX: &str = "langya_";
/// Characters of a key's name at most.
pub const MOST_NAME_CHARS: usize = 60;
/// Days after which a key expires at the latest, where it expires at all.
pub const MOST_DAYS: u32 = 3_650;

/// What a key lets programs do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyScope {
    /// Reads what the operator does not show to everybody.
    Read,
    /// Judges in open campaigns, as one annotator of each.
    Annotate,
    /// Reads the audit log.
    Admin,
}

/// An unknown name of a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected read, annotate or admin")]
pub struct UnknownScope;

impl KeyScope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Read, Self::Annotate, Self::Admin];

    /// Name of the scope.
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

/// Scopes as one text, each once and in the order of [`KeyScope::ALL`].
#[must_use]
pub fn join_scopes(scopes: &[KeyScope]) -> String {
    let kept = KeyScope::ALL.into_iter().filter(|scope| scopes.contains(scope));
    kept.map(KeyScope::as_str).collect::<Vec<_>>().join(",")
}

/// The scopes of a text of [`join_scopes`].
///
/// # Errors
/// [`UnknownScope`].
pub fn split_scopes(text: &str) -> Result<Vec<KeyScope>, UnknownScope> {
    text.split(',').map(str::parse).collect()
}

/// The name of a key as it is kept; `None` for one that is empty, too long or not plain.
#[must_use]
pub fn parse_name(typed: &str) -> Option<&str> {
    let name = typed.trim();
    let is_name = (1..=MOST_NAME_CHARS).contains(&name.chars().count()) && !name.chars().any(char::is_control);
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
