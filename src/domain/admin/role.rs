//! Roles of the people who run the arena; each includes the permissions of the previous one.

use serde::{Deserialize, Serialize};

/// Role of an operator account, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads the admin pages.
    Viewer,
    /// Decides in the review queues.
    Reviewer,
    /// Excludes votes, runs models, campaigns and benchmarks.
    Operator,
    /// Assigns the roles.
    Owner,
}

/// Error of an unknown role name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected viewer, reviewer, operator or owner")]
pub struct UnknownRole;

impl Role {
    /// All roles, in ascending order.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Reviewer, Self::Operator, Self::Owner];

    /// Returns the name of the role.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Reviewer => "reviewer",
            Self::Operator => "operator",
            Self::Owner => "owner",
        }
    }

    /// Whether this role has the permissions of `least`.
    #[must_use]
    pub fn covers(self, least: Self) -> bool {
        self >= least
    }
}

impl std::str::FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(UnknownRole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_covers_itself_and_those_below() {
        for (at, role) in Role::ALL.into_iter().enumerate() {
            for (other_at, other) in Role::ALL.into_iter().enumerate() {
                assert_eq!(role.covers(other), at >= other_at, "{role:?} {other:?}");
            }
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert_eq!("root".parse::<Role>(), Err(UnknownRole));
    }
}
