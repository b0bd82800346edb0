//! Rules that exclude votes from the ratings.
//!
//! A rule is stored under its name, and stored names are never parsed to read a vote: a row of an older or newer version, or of a
//! script of the operator, excludes its vote whatever its rule is called.

use std::fmt;
use std::str::FromStr;

/// A published rule that excludes a vote from the ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExclusionRule {
    /// A reply names its model or maker, or the visitor's text does.
    IdentityLeak,
    /// A side failed before the vote. Only set by an operator: votes on a battle with a failed side are refused.
    FailedSide,
    /// The visitor chose the models.
    NamedMode,
    /// The voter exceeded the arena's rate limits. Only set by an operator: votes over the limits are refused.
    RateLimited,
    /// Statistical tests flag the voter.
    AnomalousVoter,
    /// The voter has voted on the same prompt, or nearly the same, before.
    DuplicatePrompt,
    /// The operator decided to exclude the vote.
    Admin,
    /// An annotator of a campaign withdrew the judgement.
    TakenBack,
    /// The annotator is excluded from the campaign.
    LeftOut,
}

impl ExclusionRule {
    /// All rules, in the order of their explanations on pages.
    pub const ALL: [Self; 9] = [
        Self::IdentityLeak,
        Self::FailedSide,
        Self::NamedMode,
        Self::RateLimited,
        Self::AnomalousVoter,
        Self::DuplicatePrompt,
        Self::Admin,
        Self::TakenBack,
        Self::LeftOut,
    ];

    /// Returns the name under which the rule is stored and exported.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IdentityLeak => "identity_leak",
            Self::FailedSide => "failed_side",
            Self::NamedMode => "named_mode",
            Self::RateLimited => "rate_limited",
            Self::AnomalousVoter => "anomalous_voter",
            Self::DuplicatePrompt => "duplicate_prompt",
            Self::Admin => "admin",
            Self::TakenBack => "taken_back",
            Self::LeftOut => "left_out",
        }
    }
}

impl fmt::Display for ExclusionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error of an unknown rule name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no rule is called {name:?}: choose one of {}", names())]
pub struct UnknownRule {
    /// Unknown name.
    pub name: String,
}

fn names() -> String {
    ExclusionRule::ALL.map(ExclusionRule::name).join(", ")
}

impl FromStr for ExclusionRule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        let found = Self::ALL.into_iter().find(|rule| rule.name() == name);
        found.ok_or_else(|| UnknownRule { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_read_back_from_its_name_and_others_are_refused() {
        for rule in ExclusionRule::ALL {
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        let refused = "surprise".parse::<ExclusionRule>().unwrap_err().to_string();
        assert!(refused.contains("\"surprise\"") && refused.contains("identity_leak, failed_side"), "{refused}");
    }
}
