//! Scoring of ties and both-bad votes. Both can count as half a win for each side or not at all; ties can also be an outcome of
//! their own.

use crate::battle::Outcome;

/// Treatment of ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TieRule {
    /// Half a win for each side.
    #[default]
    Half,
    /// Not at all: the vote is left out of the fit and of every count.
    Drop,
    /// A separate outcome whose frequency is fitted with the strengths (Davidson 1970): see [`super::super::strengths::davidson`]. Elo
    /// counts it as half a win for each side.
    Davidson,
}

/// Treatment of both-bad votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BothBadRule {
    /// Like a counted tie: half a win for each side, or a tie under [`TieRule::Davidson`].
    #[default]
    Half,
    /// Not at all: the vote is left out of the fit and of every count.
    Drop,
}

/// An unknown name of a rule.
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

/// Treatment of votes for neither side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scoring {
    /// Ties.
    pub ties: TieRule,
    /// Both-bad votes.
    pub both_bad: BothBadRule,
}

impl Scoring {
    /// Whether a vote with this outcome is rated.
    #[must_use]
    pub fn counts(self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Tie => self.ties != TieRule::Drop,
            Outcome::BothBad => self.both_bad != BothBadRule::Drop,
            Outcome::AWins | Outcome::BWins => true,
        }
    }
}
