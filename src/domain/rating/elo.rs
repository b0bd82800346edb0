//! Online Elo in log order: K = 4, every model starts at 1000, base 10, scale 400.
//!
//! The expected points of A are p = 1 / (1 + 10^((R_b − R_a) / 400)); a vote worth y points to A moves R_a by K(y − p)
//! and R_b by as much the other way. The order of the votes matters, which is why the leaderboard ranks by
//! [`super::bradley_terry`]; Elo is what moves on the page the moment a vote is cast.
//!
//! An [`EloTable`] is all that a running arena has to keep of its log: it takes up each vote as it comes, and can be
//! stored and read back to the last bit.

use serde::{Deserialize, Serialize};

use super::comparison::Comparison;
use super::scoring::Scoring;
use super::vote_log::VoteLog;
use super::{CENTRE, POINTS_PER_STRENGTH};
use crate::domain::battle::Outcome;

/// The most that one vote can move a rating.
pub const K: f64 = 4.0;

/// Expected points of a model rated `rating_a` against one rated `rating_b`.
#[must_use]
pub fn expected(rating_a: f64, rating_b: f64) -> f64 {
    // e^(d/s) with s = 400/ln 10 is 10^(d/400), at a third of its price.
    1.0 / (1.0 + ((rating_b - rating_a) / POINTS_PER_STRENGTH).exp())
}

/// How far one vote moves A's rating; B's moves as far the other way.
#[must_use]
pub fn change(rating_a: f64, rating_b: f64, outcome: Outcome) -> f64 {
    K * (outcome.points_a() - expected(rating_a, rating_b))
}

/// Elo ratings by the models' positions in the log or the set of comparisons.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EloTable {
    ratings: Vec<f64>,
    /// Likelihood of the votes for one side.
    decided: LongProduct,
    /// Likelihood of the votes for neither, squared: p·q each, of which half a win to each side is the root.
    halved: LongProduct,
}

impl EloTable {
    /// The ratings after all votes of a log.
    #[must_use]
    pub fn of_log(log: &VoteLog, scoring: Scoring) -> Self {
        let mut table = Self { ratings: vec![CENTRE; log.models.as_slice().len()], ..Self::default() };
        let counted = Outcome::ALL.map(|outcome| scoring.counts(outcome));
        for ((&a, &b), &outcome) in log.a.iter().zip(&log.b).zip(&log.outcomes) {
            if counted[outcome as usize] {
                table.count(a as usize, b as usize, outcome);
            }
        }
        table
    }

    /// The same where each vote of the log was cast so many times.
    pub(super) fn of_repeated(log: &VoteLog, scoring: Scoring, times: &[u32]) -> Self {
        let mut table = Self { ratings: vec![CENTRE; log.models.as_slice().len()], ..Self::default() };
        for (((&a, &b), &outcome), &times) in log.a.iter().zip(&log.b).zip(&log.outcomes).zip(times) {
            for _ in 0..if scoring.counts(outcome) { times } else { 0 } {
                table.count(a as usize, b as usize, outcome);
            }
        }
        table
    }

    /// Counts one vote, the next of the log, and returns how far it moved A's rating: nowhere if `scoring` drops it.
    /// Always give a table the same scoring.
    pub fn record(&mut self, comparison: Comparison, scoring: Scoring) -> f64 {
        let (a, b) = (comparison.a as usize, comparison.b as usize);
        if !scoring.counts(comparison.outcome) {
            return 0.0;
        }
        if self.ratings.len() <= a.max(b) {
            self.ratings.resize(a.max(b) + 1, CENTRE);
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
        // By position of the outcome: A wins, B wins, neither.
        self.decided.multiply([p, q, 1.0, 1.0][outcome as usize]);
        self.halved.multiply([1.0, 1.0, p * q, p * q][outcome as usize]);
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
        self.decided.log() + 0.5 * self.halved.log()
    }
}

/// The logarithm of a product of millions of probabilities, taken once in a while.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct LongProduct {
    /// Of the factors that are no longer in `product`.
    log: f64,
    product: f64,
}

impl Default for LongProduct {
    fn default() -> Self {
        Self { log: 0.0, product: 1.0 }
    }
}

impl LongProduct {
    /// Far above the least number that keeps its precision, so that one more factor does no harm.
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
