//! Accounts of an OpenID Connect provider: source of their role, and choice of their name.

use std::collections::BTreeMap;

use super::account;
use super::role::Role;

/// Source of an account's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleSource {
    /// Assigned by an owner.
    Owner,
    /// Determined by a claim of the provider at each sign-in.
    Claim,
}

impl RoleSource {
    /// Returns the name in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Claim => "claim",
        }
    }
}

/// Returns the highest role of a claim's values; `None` where they have none.
#[must_use]
pub fn role_of_values(values: &[&str], roles: &BTreeMap<String, Role>) -> Option<Role> {
    values.iter().filter_map(|value| roles.get(*value)).max().copied()
}

/// Returns candidate names of a new account, of which the first free one is used: the provider's name, or else part of a hash.
#[must_use]
pub fn names(called: Option<&str>, subject_hash: &str) -> Vec<String> {
    // Only the local part of a mail address is used, so that no list of names reveals addresses.
    let called = called.and_then(|called| called.split('@').next()).and_then(|called| account::parse_name(called).ok());
    let short = format!("sso-{}", subject_hash.get(..8).unwrap_or(subject_hash));
    called.into_iter().chain([short, format!("sso-{}", subject_hash.get(..32).unwrap_or(subject_hash))]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_role_of_the_values_counts_and_unknown_values_give_none() {
        let roles = BTreeMap::from([("staff".to_owned(), Role::Reviewer), ("boss".to_owned(), Role::Owner)]);
        for (values, expected) in [
            (&["staff"][..], Some(Role::Reviewer)),
            (&["boss", "staff"], Some(Role::Owner)),
            (&["staff", "guest", "boss"], Some(Role::Owner)),
            (&["Staff", "owner", "", "staff,boss"], None),
            (&[], None),
        ] {
            assert_eq!(role_of_values(values, &roles), expected, "{values:?}");
        }
        assert_eq!(role_of_values(&["staff"], &BTreeMap::new()), None);
    }

    #[test]
    fn an_account_is_called_as_at_the_provider_where_that_is_a_name() {
        let hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        let first = |called| names(called, hash)[0].clone();
        assert_eq!(first(Some("Ada.L")), "ada.l");
        assert_eq!(first(Some("ada@example.org")), "ada");
        for strange in [None, Some(""), Some("@example.org"), Some("Ada Lovelace"), Some("аda"), Some("<b>")] {
            assert_eq!(first(strange), "sso-01234567", "{strange:?}");
        }
        assert!(names(None, hash).iter().all(|name| account::parse_name(name).as_ref() == Ok(name)));
    }
}
