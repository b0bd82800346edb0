//! Comparisons: rated votes counted by pair.
//!
//! [`ComparisonSet`] takes votes one at a time, so a running arena records new votes and refits without reading the log
//! again; its counts can be stored and restored. [`Tally`] is the input of the fits: models ordered by name and pairs
//! ordered by their models, so that neither the order of the votes nor the side of a model changes a single bit of a
//! fit. Elo depends on the order and is updated vote by vote ([`crate::rating::strengths::elo`]).

use std::collections::HashMap;

use super::count_by_pair::count_by_pair;
use super::pair_counts::PairCounts;
use super::tally::Tally;
use crate::battle::Outcome;
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::{InternedTexts, SelfPlay, VoteLog};

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

/// Counts of all rated votes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComparisonSet {
    models: InternedTexts,
    pairs: HashMap<(u32, u32), PairCounts>,
    votes: u64,
}

impl ComparisonSet {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the votes of a log; models keep their positions.
    #[must_use]
    pub fn from_log(log: &VoteLog) -> Self {
        Self::restore(log.models.clone(), count_by_pair(log))
    }

    /// Restores a set from [`ComparisonSet::models`] and [`ComparisonSet::pairs`]. Repeated and swapped pairs are added
    /// up.
    #[must_use]
    pub fn restore(models: InternedTexts, pairs: impl IntoIterator<Item = (u32, u32, PairCounts)>) -> Self {
        let mut set = Self { models, ..Self::default() };
        for (first, second, counts) in pairs {
            let counts = if first < second { counts } else { counts.swapped() };
            set.votes += counts.total();
            *set.pairs.entry((first.min(second), first.max(second))).or_default() += counts;
        }
        set
    }

    /// Counts one vote and returns it as positions.
    ///
    /// # Errors
    /// [`SelfPlay`] if `a` equals `b`; nothing is recorded then.
    pub fn record(&mut self, a: &str, b: &str, outcome: Outcome) -> Result<Comparison, SelfPlay> {
        if a == b {
            return Err(SelfPlay(a.to_owned()));
        }
        let (a, b) = (self.models.position(a), self.models.position(b));
        self.pairs.entry((a.min(b), a.max(b))).or_default().add(outcome, a < b);
        self.votes += 1;
        Ok(Comparison { a, b, outcome })
    }

    /// Returns the models in order of first appearance.
    #[must_use]
    pub fn models(&self) -> &[String] {
        self.models.as_slice()
    }

    /// Returns a model's position in [`ComparisonSet::models`].
    #[must_use]
    pub fn index_of(&self, model: &str) -> Option<usize> {
        self.models.find(model).map(|position| position as usize)
    }

    /// Iterates over the counts of every pair that met, by positions with the lower one first, in no particular order.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, PairCounts)> {
        self.pairs.iter().map(|(&(first, second), &counts)| (first, second, counts))
    }

    /// Returns the number of votes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.votes
    }

    /// Whether there is no vote.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.votes == 0
    }

    /// Tallies the votes that `scoring` counts, by pair and by model.
    #[must_use]
    pub fn tally(&self, scoring: Scoring) -> Tally {
        Tally::from_pairs(self.models.as_slice(), self.pairs(), scoring)
    }
}
