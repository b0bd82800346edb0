//! A vote as positions of its models, and the counts of a pair by outcome.

use std::collections::BTreeMap;

use super::scoring::Scoring;
use crate::battle::Outcome;

/// One vote between two models, by position in the comparison set or the vote log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// The model on side A.
    pub a: u32,
    /// The model on side B.
    pub b: u32,
    /// The vote.
    pub outcome: Outcome,
}

/// Votes of one pair by outcome; `first` is the model with the lower position.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// Votes for the first.
    pub first_wins: u64,
    /// Votes for the second.
    pub second_wins: u64,
    /// Ties.
    pub ties: u64,
    /// Votes for "both bad".
    pub both_bad: u64,
}

impl PairCounts {
    /// Number of votes.
    #[must_use]
    pub fn total(self) -> u64 {
        self.first_wins + self.second_wins + self.ties + self.both_bad
    }

    /// The counts with the two models swapped.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { first_wins: self.second_wins, second_wins: self.first_wins, ..self }
    }

    /// Counts one more vote.
    pub fn add(&mut self, outcome: Outcome, first_is_a: bool) {
        match outcome {
            Outcome::AWins if first_is_a => self.first_wins += 1,
            Outcome::BWins if !first_is_a => self.first_wins += 1,
            Outcome::AWins | Outcome::BWins => self.second_wins += 1,
            Outcome::Tie => self.ties += 1,
            Outcome::BothBad => self.both_bad += 1,
        }
    }

    /// The counts that `scoring` keeps; adds the dropped ones to `dropped` by name.
    pub(super) fn counted(self, scoring: Scoring, dropped: &mut BTreeMap<&'static str, u64>) -> Self {
        let mut kept = self;
        for (count, outcome) in [(&mut kept.ties, Outcome::Tie), (&mut kept.both_bad, Outcome::BothBad)] {
            if !scoring.counts(outcome) && *count > 0 {
                *dropped.entry(outcome.as_str()).or_default() += std::mem::take(count);
            }
        }
        kept
    }
}

impl std::ops::AddAssign for PairCounts {
    fn add_assign(&mut self, other: Self) {
        self.first_wins += other.first_wins;
        self.second_wins += other.second_wins;
        self.ties += other.ties;
        self.both_bad += other.both_bad;
    }
}
