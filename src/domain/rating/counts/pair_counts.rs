//! Counts of the votes of a pair by outcome.

use std::collections::BTreeMap;

use crate::battle::Outcome;
use crate::battle::vote_receipt::CrowdAgreement;
use crate::rating::votes::scoring::Scoring;

/// Minimum number of earlier votes on a pair for a comparison with a new vote.
pub const MIN_VOTES_TO_COMPARE: u64 = 10;

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
    /// Returns the number of votes.
    #[must_use]
    pub fn total(self) -> u64 {
        self.first_wins + self.second_wins + self.ties + self.both_bad
    }

    /// Returns the counts with the two models swapped.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { first_wins: self.second_wins, second_wins: self.first_wins, ..self }
    }

    /// Computes the agreement of earlier votes with a vote that has the first model on side A; `None` with fewer than
    /// [`MIN_VOTES_TO_COMPARE`].
    #[must_use]
    pub fn agreement(self, outcome: Outcome) -> Option<CrowdAgreement> {
        let same = match outcome {
            Outcome::AWins => self.first_wins,
            Outcome::BWins => self.second_wins,
            Outcome::Tie => self.ties,
            Outcome::BothBad => self.both_bad,
        };
        let votes = self.total();
        (votes >= MIN_VOTES_TO_COMPARE).then_some(CrowdAgreement { same, votes })
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

    /// Subtracts `votes`, which must be among the counts.
    #[must_use]
    pub fn without(self, votes: Self) -> Self {
        Self {
            first_wins: self.first_wins.saturating_sub(votes.first_wins),
            second_wins: self.second_wins.saturating_sub(votes.second_wins),
            ties: self.ties.saturating_sub(votes.ties),
            both_bad: self.both_bad.saturating_sub(votes.both_bad),
        }
    }

    /// Returns the counts that `scoring` keeps; adds the dropped ones to `dropped` by name.
    pub(in crate::rating) fn counted(self, scoring: Scoring, dropped: &mut BTreeMap<&'static str, u64>) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vote_is_compared_with_ten_earlier_ones_at_the_least() {
        let counts = PairCounts { first_wins: 4, second_wins: 3, ties: 2, both_bad: 1 };
        let same = |counts: PairCounts| Outcome::ALL.map(|outcome| counts.agreement(outcome).map(|found| found.same));
        assert_eq!(same(counts), [4, 3, 2, 1].map(Some));
        assert_eq!(same(counts.swapped()), [3, 4, 2, 1].map(Some));
        assert_eq!(counts.agreement(Outcome::Tie), Some(CrowdAgreement { same: 2, votes: 10 }));
        assert_eq!(same(PairCounts { ties: 1, ..counts }), [None; 4], "nine are too few");
    }
}
