//! Requests to delete what was said in battles.

use std::str::FromStr;

use crate::battle::BattleId;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionScope {
    /// The texts of one battle.
    Battle,
    /// The texts of all battles of its visitor.
    Visitor,
}

/// Where a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionRequestState {
    /// Nobody has decided it.
    Open,
    /// The texts are deleted.
    Done,
    /// They stay, with a reason.
    Refused,
}

/// How a person names a battle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BattleReference {
    /// By its id, or by a link to the page that its visitor has, `/battle/ID`.
    Id(BattleId),
    /// By a link to it as its visitor shares it, `/shared/TOKEN`: the token.
    Share(String),
}

/// No scope or state has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope or state of a request")]
pub struct UnknownRequestWord;

impl BattleReference {
    /// Reads an id or a link; of a link only the path counts. `None` for a text that names no battle.
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

    /// Name in the database and in lists.
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

    /// Name in the database and in lists.
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
    type Err = UnknownRequestWord;

    fn from_str(text: &str) -> Result<Self, UnknownRequestWord> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(UnknownRequestWord)
    }
}

impl FromStr for DeletionRequestState {
    type Err = UnknownRequestWord;

    fn from_str(text: &str) -> Result<Self, UnknownRequestWord> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(UnknownRequestWord)
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
