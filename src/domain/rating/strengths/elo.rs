//! Online Elo in log order: K = 4, initial rating 1000, base 10, scale 400.
//!
//! The expected points of A are p = 1 / (1 + 10^((R_b − R_a) / 400)); a vote worth y points to A moves R_a by K(y − p)
//! and R_b by the same amount in the opposite direction. The result depends on the order of the votes, so the
//! leaderboard ranks by [`super::bradley_terry`]; Elo is the rating that a page updates with every vote.
//!
//! An [`EloTable`] is the whole state: it takes one vote at a time and can be stored and restored exactly.

use serde::{Deserialize, Serialize};

use super::super::counts::comparison::Comparison;
use super::super::votes::scoring::Scoring;
use super::super::votes::vote_log::VoteLog;
use super::super::{MEAN_RATING, POINTS_PER_STRENGTH};
use crate::battle::Outcome;

/// Maximum change of a rating by one vote.
pub const K: f64 = 4.0;

/// Computes the expected points of a model rated `rating_a` against one rated `rating_b`.
#[must_use]
pub fn expected(rating_a: f64, rating_b: f64) -> f64 {
    // e^(d/s) with s = 400/ln 10 equals 10^(d/400) at a third of the cost.
    1.0 / (1.0 + ((rating_b - rating_a) / POINTS_PER_STRENGTH).exp())
}

/// Computes the change of A's rating by one vote; B's changes by the opposite amount.
#[must_use]
pub fn change(rating_a: f64, rating_b: f64, outcome: Outcome) -> f64 {
    K * (outcome.points_a() - expected(rating_a, rating_b))
}

/// Elo ratings by position of the models in the log or the comparison set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EloTable {
    ratings: Vec<f64>,
    /// Likelihood of the votes for one side.
    decided: LongProduct,
    /// Squared likelihood of the votes for neither: p·q each, whose root is half a win for each side.
    halved: LongProduct,
}

impl EloTable {
    /// Computes the ratings after all votes of a log.
    #[must_use]
    pub fn from_log(log: &VoteLog, scoring: Scoring) -> Self {
        let mut table = Self { ratings: vec![MEAN_RATING; log.models.as_slice().len()], ..Self::default() };
        let counted = Outcome::ALL.map(|outcome| scoring.counts(outcome));
        for ((&a, &b), &outcome) in log.a.iter().zip(&log.b).zip(&log.outcomes) {
            if counted[outcome as usize] {
                table.count(a as usize, b as usize, outcome);
            }
        }
        table
    }

    /// Computes the ratings after a log in which each vote is repeated `times` times.
    pub(in crate::rating) fn from_repeated(log: &VoteLog, scoring: Scoring, times: &[u32]) -> Self {
        let mut table = Self { ratings: vec![MEAN_RATING; log.models.as_slice().len()], ..Self::default() };
        for (((&a, &b), &outcome), &times) in log.a.iter().zip(&log.b).zip(&log.outcomes).zip(times) {
            for _ in 0..if scoring.counts(outcome) { times } else { 0 } {
                table.count(a as usize, b as usize, outcome);
            }
        }
        table
    }

    /// Counts the next vote of the log and returns the change of A's rating: 0 if `scoring` drops the vote. Always call
    /// a table with the same scoring.
    pub fn record(&mut self, comparison: Comparison, scoring: Scoring) -> f64 {
        let (a, b) = (comparison.a as usize, comparison.b as usize);
        if !scoring.counts(comparison.outcome) {
            return 0.0;
        }
        if self.ratings.len() <= a.max(b) {
            self.ratings.resize(a.max(b) + 1, MEAN_RATING);
        }
        self.count(a, b, comparison.outcome)
    }

    #[inline]
    fn count(&mut self, a: usize, b: usize, outcome: Outcome) -> f64 {
        let (rating_a, rating_b) = (self.ratings[a], self.ratings[b]);
        let p = expected(rating_a, rating_b);
        let q = 1.0 - p;
        let change = K * (outcome.points_a() - p);
        self.ratings[a] += change;
        self.ratings[b] -= change;
        // Indexed by outcome: A wins, B wins, tie, both bad.
        self.decided.multiply([p, q, 1.0, 1.0][outcome as usize]);
        self.halved.multiply([1.0, 1.0, p * q, p * q][outcome as usize]);
        change
    }

    /// Computes the change of A's rating if this were the next vote.
    #[must_use]
    pub fn change(&self, a: usize, b: usize, outcome: Outcome) -> f64 {
        change(self.rating(a), self.rating(b), outcome)
    }

    /// Returns the rating of the model at a position; the initial rating for a model without votes.
    #[must_use]
    pub fn rating(&self, index: usize) -> f64 {
        self.ratings.get(index).copied().unwrap_or(MEAN_RATING)
    }

    /// Returns the log likelihood of the votes, each predicted from the ratings before it.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.decided.log() + 0.5 * self.halved.log()
    }
}

/// Logarithm of a product of millions of probabilities; takes the logarithm only when the product gets small.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct LongProduct {
    /// Sum of the logarithms of the factors already moved out of `product`.
    log: f64,
    product: f64,
}

impl Default for LongProduct {
    fn default() -> Self {
        Self { log: 0.0, product: 1.0 }
    }
}

impl LongProduct {
    /// Far above the smallest normal number, so one more factor keeps full precision.
    const SMALL: f64 = 1e-200;

    #[inline]
    fn multiply(&mut self, factor: f64) {
        self.product *= factor;
        if self.product < Self::SMALL {
            self.log += self.product.ln();
            self.product = 1.0;
        }
    }

    fn log(self) -> f64 {
        self.log + self.product.ln()
    }
}
