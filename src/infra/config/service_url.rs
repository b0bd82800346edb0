//! Address of a database or of Redis; it may hold a password, so it is displayed without credentials.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Address with credentials that is never printed in full.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServiceUrl(String);

impl ServiceUrl {
    /// Returns the complete address with its credentials, for connecting.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the address is unset.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for ServiceUrl {
    fn from(address: &str) -> Self {
        Self(address.to_owned())
    }
}

impl From<String> for ServiceUrl {
    fn from(address: String) -> Self {
        Self(address)
    }
}

/// Scheme, host, port and name: no user, no password, no options.
impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((scheme, rest)) = self.0.split_once("://") else {
            return f.write_str(self.0.split(':').next().unwrap_or_default());
        };
        let (place, options) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
        // An unescaped password: its end is ambiguous.
        if options.contains('@') {
            return write!(f, "{scheme}://…");
        }
        let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
        write!(f, "{scheme}://{place}")
    }
}

impl fmt::Debug for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, shown: &str) {
        assert_eq!(ServiceUrl::from(address).to_string(), shown);
        assert_eq!(format!("{:?}", ServiceUrl::from(address)), shown);
    }

    #[test]
    fn a_password_is_never_shown() {
        check("postgres://me:secret@db:5432/arena?sslmode=require&password=secret", "postgres://db:5432/arena");
        check("postgres://me:sec@ret@db/arena", "postgres://db/arena");
        check("postgres://me:sec?ret@db/arena", "postgres://…");
        check("postgres://me:sec#ret@db/arena", "postgres://…");
        check("postgres://db/arena?password=sec@ret", "postgres://…");
        check("redis://:secret@127.0.0.1:6379/0", "redis://127.0.0.1:6379/0");
        check("redis://127.0.0.1", "redis://127.0.0.1");
        check("mysql:secret", "mysql");
        check("", "");
    }
}
