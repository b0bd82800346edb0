//! The environment variables of the process.

use std::collections::BTreeMap;

use secrecy::SecretString;

/// The process's environment variables, read once.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads the variables of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self(std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect())
    }

    /// Creates an environment for a test.
    pub fn of<const N: usize>(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
    }

    /// Returns a variable's value as a secret; `None` if it is unset or empty.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<SecretString> {
        self.0.get(name).filter(|value| !value.is_empty()).map(|value| SecretString::from(value.clone()))
    }

    /// Returns the name of the operating system's user; `None` if no variable holds one.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        let named = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| self.0.get(name));
        named.map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Returns the settings among the variables: `SECTION__KEY` and the value.
    pub(super) fn overrides(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(k, v)| Some((k.strip_prefix("LANGYA__")?, v.as_str())))
    }

    /// Returns the variables of this program that are not settings: `LANGYA_` and the rest of the name.
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        self.0.keys().filter_map(|name| name.strip_prefix("LANGYA_").filter(|rest| !rest.starts_with('_')))
    }
}
