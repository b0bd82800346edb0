//! Requests to delete the texts of battles.

use std::str::FromStr;

use crate::battle::BattleId;

/// Scope of a deletion request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionScope {
    /// The texts of one battle.
    Battle,
    /// The texts of all battles of its visitor.
    Visitor,
}

/// State of a deletion request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionRequestState {
    /// Not decided yet.
    Open,
    /// The texts are deleted.
    Done,
    /// The texts stay; with a reason.
    Refused,
}

/// Reference to a battle in a deletion request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BattleReference {
    /// Id, or link to the visitor's page, `/battle/ID`.
    Id(BattleId),
    /// Token of a shared link, `/shared/TOKEN`.
    Share(String),
}

/// Error of an unknown scope or state name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope or state of a request")]
pub struct UnknownRequestName;

impl BattleReference {
    /// Parses an id or a link, of which only the path counts; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let path = text.split(['?', '#']).next().unwrap_or_default();
        match (path.rsplit_once("/shared/"), path.rsplit_once("/battle/")) {
            (Some((_, token)), _) => {
                let token = token.trim_end_matches('/');
                let is_plain = token.bytes().all(|byte| byte.is_ascii_alphanumeric());
                (is_plain && (1..=64).contains(&token.len())).then(|| Self::Share(token.to_owned()))
            }
            (None, Some((_, id))) => BattleId::parse(id.trim_end_matches('/')).map(Self::Id),
            (None, None) => BattleId::parse(text).map(Self::Id),
        }
    }
}

impl DeletionScope {
    /// All scopes.
    pub const ALL: [Self; 2] = [Self::Battle, Self::Visitor];

    /// Returns the name in the database and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Battle => "battle",
            Self::Visitor => "visitor",
        }
    }
}

impl DeletionRequestState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Open, Self::Done, Self::Refused];

    /// Returns the name in the database and in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Refused => "refused",
        }
    }
}

impl FromStr for DeletionScope {
    type Err = UnknownRequestName;

    fn from_str(text: &str) -> Result<Self, UnknownRequestName> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(UnknownRequestName)
    }
}

impl FromStr for DeletionRequestState {
    type Err = UnknownRequestName;

    fn from_str(text: &str) -> Result<Self, UnknownRequestName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(UnknownRequestName)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battle_is_named_by_its_id_or_by_either_link_whatever_the_host() {
        let id = BattleReference::Id(BattleId::new("0199-a1"));
        for text in [
            "0199-a1",
            " 0199-a1\n",
            "/battle/0199-a1",
            "https://arena.example.org/battle/0199-a1",
            "http://127.0.0.1:8717/battle/0199-a1/?lang=zh#removal",
            "arena.example.org/battle/0199-a1",
        ] {
            assert_eq!(BattleReference::parse(text), Some(id.clone()), "{text}");
        }
        let shared = BattleReference::Share("abc1".into());
        for text in ["/shared/abc1", "https://arena.example.org/shared/abc1?asked=1#removal", "x/shared/abc1/"] {
            assert_eq!(BattleReference::parse(text), Some(shared.clone()), "{text}");
        }
        for text in ["https://x/shared/", "https://x/shared/a-b", "https://x/battle/a\u{9f}", &"x".repeat(65)] {
            assert_eq!(BattleReference::parse(text), None, "{text}");
        }
    }
}
