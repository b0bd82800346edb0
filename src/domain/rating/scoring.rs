//! What the outcomes of votes count: ties and "both bad" can be half a win to each side, or nothing; ties can also have
//! an outcome of their own in the model.

use crate::domain::battle::Outcome;

/// What a tie counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TieRule {
    /// Half a win to each side.
    #[default]
    Half,
    /// Nothing: the vote is left out of the fit and of every count.
    Drop,
    /// A third outcome whose frequency is fitted with the strengths (Davidson 1970): see [`super::davidson`]. Elo,
    /// which has no such outcome, counts half a win to each side.
    Davidson,
}

/// What a vote for "both bad" counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BothBadRule {
    /// The same as a tie that is counted: half a win to each side, and a tie where [`TieRule::Davidson`] models ties.
    #[default]
    Half,
    /// Nothing: the vote is left out of the fit and of every count.
    Drop,
}

/// A text that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct UnknownTieRule(&'static str);

impl std::str::FromStr for TieRule {
    type Err = UnknownTieRule;

    fn from_str(text: &str) -> Result<Self, UnknownTieRule> {
        match text {
            "half" => Ok(Self::Half),
            "drop" => Ok(Self::Drop),
            "davidson" => Ok(Self::Davidson),
            _ => Err(UnknownTieRule("half, drop or davidson")),
        }
    }
}

impl std::str::FromStr for BothBadRule {
    type Err = UnknownTieRule;

    fn from_str(text: &str) -> Result<Self, UnknownTieRule> {
        match text {
            "half" => Ok(Self::Half),
            "drop" => Ok(Self::Drop),
            _ => Err(UnknownTieRule("half or drop")),
        }
    }
}

/// How outcomes become points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scoring {
    /// For ties.
    pub ties: TieRule,
    /// For "both bad".
    pub both_bad: BothBadRule,
}

impl Scoring {
    /// Whether a vote of this outcome counts at all.
    #[must_use]
    pub fn counts(self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Tie => self.ties != TieRule::Drop,
            Outcome::BothBad => self.both_bad != BothBadRule::Drop,
            Outcome::AWins | Outcome::BWins => true,
        }
    }
}
