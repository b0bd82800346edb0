//! Winner of a vote by position in the pair.

use super::super::counts::tally::PairTally;
use crate::battle::Outcome;

/// Winner of a vote on a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairWinner {
    First,
    Second,
    Neither,
}

impl PairWinner {
    pub(super) const ALL: [Self; 3] = [Self::First, Self::Second, Self::Neither];

    pub(super) fn new(outcome: Outcome, first_is_a: bool) -> Self {
        match outcome {
            Outcome::AWins if first_is_a => Self::First,
            Outcome::BWins if !first_is_a => Self::First,
            Outcome::AWins | Outcome::BWins => Self::Second,
            Outcome::Tie | Outcome::BothBad => Self::Neither,
        }
    }

    pub(super) fn points_first(self) -> f64 {
        match self {
            Self::First => 1.0,
            Self::Second => 0.0,
            Self::Neither => 0.5,
        }
    }

    /// Returns the pair's votes for this winner.
    pub(super) fn votes(self, pair: &mut PairTally) -> &mut f64 {
        match self {
            Self::First => &mut pair.first_wins,
            Self::Second => &mut pair.second_wins,
            Self::Neither => &mut pair.halves,
        }
    }
}
