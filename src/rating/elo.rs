//! Online Elo in log order: K = 4, every model starts at 1000, base 10, scale 400.
//!
//! The expected points of A are p = 1 / (1 + 10^((R_b − R_a) / 400)); a vote worth y points to A moves R_a by K(y − p)
//! and R_b by as much the other way. The order of the votes matters, which is why the leaderboard ranks by
//! [`super::bradley_terry`]; Elo is what moves on the page the moment a vote is cast.

use super::CENTRE;
use super::comparison::{Comparison, ComparisonSet, Scoring};
use crate::battle::Outcome;

/// The most that one vote can move a rating.
pub const K: f64 = 4.0;
const SCALE: f64 = 400.0;

/// Expected points of a model rated `rating_a` against one rated `rating_b`.
#[must_use]
pub fn expected(rating_a: f64, rating_b: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf((rating_b - rating_a) / SCALE))
}

/// How far one vote moves A's rating; B's moves as far the other way.
#[must_use]
pub fn change(rating_a: f64, rating_b: f64, outcome: Outcome) -> f64 {
    K * (outcome.points_a() - expected(rating_a, rating_b))
}

/// Elo ratings by position in [`ComparisonSet::models`], and how far the log has been read.
#[derive(Debug, Clone, Default)]
pub struct EloTable {
    ratings: Vec<f64>,
    scoring: Scoring,
    read: usize,
    log_likelihood: f64,
}

impl EloTable {
    /// A table in which no vote has been counted.
    #[must_use]
    pub fn new(scoring: Scoring) -> Self {
        Self { scoring, ..Self::default() }
    }

    /// The ratings after all votes of a set.
    #[must_use]
    pub fn replay(comparisons: &ComparisonSet, scoring: Scoring) -> Self {
        let mut table = Self::new(scoring);
        table.catch_up(comparisons);
        table
    }

    /// Counts the votes that were added to the set since the last call. Always give it the same, growing set.
    pub fn catch_up(&mut self, comparisons: &ComparisonSet) {
        for &comparison in comparisons.log().get(self.read..).unwrap_or_default() {
            self.record(comparison);
        }
    }

    /// Counts one vote, the next of the log, and returns how far it moved A's rating.
    pub fn record(&mut self, comparison: Comparison) -> f64 {
        self.read += 1;
        let (a, b) = (comparison.a as usize, comparison.b as usize);
        let Some(points) = self.scoring.points_a(comparison.outcome) else { return 0.0 };
        if self.ratings.len() <= a.max(b) {
            self.ratings.resize(a.max(b) + 1, CENTRE);
        }
        let (rating_a, rating_b) = (self.ratings[a], self.ratings[b]);
        let change = change(rating_a, rating_b, comparison.outcome);
        self.log_likelihood +=
            points * expected(rating_a, rating_b).ln() + (1.0 - points) * expected(rating_b, rating_a).ln();
        self.ratings[a] += change;
        self.ratings[b] -= change;
        change
    }

    /// How far a vote would move A's rating if it were the next.
    #[must_use]
    pub fn change(&self, a: usize, b: usize, outcome: Outcome) -> f64 {
        change(self.rating(a), self.rating(b), outcome)
    }

    /// The rating of the model at a position; the start where it has no vote yet.
    #[must_use]
    pub fn rating(&self, index: usize) -> f64 {
        self.ratings.get(index).copied().unwrap_or(CENTRE)
    }

    /// Log likelihood of the votes, each predicted from the ratings before it.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }
}
