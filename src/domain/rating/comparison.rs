//! Comparisons: the rated votes as indexed pairs and as counts a pair.
//!
//! [`ComparisonSet`] takes votes one at a time, so that a running arena records new ones and refits without reading the
//! log again; it can be taken apart into its counts, stored, and put together from them. [`Tally`] is what the fits
//! read: models in the order of their names and pairs in the order of their models, so that neither the order of the
//! votes nor the side on which a model stood can change one bit of a fit. Elo, which depends on the order, is kept
//! beside it vote by vote ([`super::elo`]).

use std::collections::{BTreeMap, HashMap};

use super::counting;
use super::scoring::Scoring;
use super::tally::Tally;
use super::vote_log::{Names, VoteLog};
use crate::domain::battle::Outcome;

/// One vote between two models, by their positions in [`ComparisonSet::models`] or [`VoteLog::models`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// The model on side A.
    pub a: u32,
    /// The model on side B.
    pub b: u32,
    /// What the person said.
    pub outcome: Outcome,
}

/// A vote of a model against itself: it says nothing about any model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("model {0:?} is compared with itself: a vote needs two different models")]
pub struct SelfPlay(pub String);

/// All rated votes so far, counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComparisonSet {
    models: Names,
    pairs: HashMap<(u32, u32), PairCounts>,
    votes: u64,
}

/// Votes of one pair; `first` is the model with the lower position.
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

impl ComparisonSet {
    /// No votes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The votes of a log; models keep their positions.
    #[must_use]
    pub fn of_log(log: &VoteLog) -> Self {
        Self::restore(log.models.clone(), counting::count(log))
    }

    /// Puts together what [`ComparisonSet::models`] and [`ComparisonSet::pairs`] gave. Counts of one pair that come
    /// several times, or turned, are added up.
    #[must_use]
    pub fn restore(models: Names, pairs: impl IntoIterator<Item = (u32, u32, PairCounts)>) -> Self {
        let mut set = Self { models, ..Self::default() };
        for (first, second, counts) in pairs {
            let counts = if first < second { counts } else { counts.turned() };
            set.votes += counts.total();
            *set.pairs.entry((first.min(second), first.max(second))).or_default() += counts;
        }
        set
    }

    /// Adds one vote and returns it by positions. A model's name is kept exactly as it is given.
    ///
    /// # Errors
    /// [`SelfPlay`] where `a` and `b` are the same; nothing is recorded then.
    pub fn record(&mut self, a: &str, b: &str, outcome: Outcome) -> Result<Comparison, SelfPlay> {
        if a == b {
            return Err(SelfPlay(a.to_owned()));
        }
        let (a, b) = (self.models.position(a), self.models.position(b));
        self.pairs.entry((a.min(b), a.max(b))).or_default().add(outcome, a < b);
        self.votes += 1;
        Ok(Comparison { a, b, outcome })
    }

    /// The models in the order in which they first appeared.
    #[must_use]
    pub fn models(&self) -> &[String] {
        self.models.as_slice()
    }

    /// A model's position in [`ComparisonSet::models`].
    #[must_use]
    pub fn index_of(&self, model: &str) -> Option<usize> {
        self.models.find(model).map(|position| position as usize)
    }

    /// The counts of every pair that met, by positions with the lower one first, in no particular order.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, PairCounts)> {
        self.pairs.iter().map(|(&(first, second), &counts)| (first, second, counts))
    }

    /// Number of votes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.votes
    }

    /// Whether there is no vote.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.votes == 0
    }

    /// The votes that `scoring` counts, added up by pair and by model.
    #[must_use]
    pub fn tally(&self, scoring: Scoring) -> Tally {
        Tally::of_pairs(self.models.as_slice(), self.pairs(), scoring)
    }
}

impl PairCounts {
    /// All votes of the pair.
    #[must_use]
    pub fn total(self) -> u64 {
        self.first_wins + self.second_wins + self.ties + self.both_bad
    }

    /// The counts as the second model sees them.
    #[must_use]
    pub fn turned(self) -> Self {
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

    /// These counts without what `scoring` drops; what is dropped is added to `dropped` by name.
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
