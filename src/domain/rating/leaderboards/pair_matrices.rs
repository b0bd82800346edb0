//! Counts and predictions of every pair of models.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::counts::tally::{PairTally, Tally};
use super::super::public_scale::ScaledModel;
use crate::rating::counts::pair_counts::PairCounts;
use crate::rating::strengths::fit::Fit;
use crate::stats::real;

/// Square matrices over the models in leaderboard order. Entry (i, j) is model i against model j. Counts have 32 bits, since
/// thousands of models have millions of entries; a log has fewer votes than that.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Matrices {
    /// The models.
    pub models: Vec<String>,
    /// Rated votes of the pair.
    pub battles: Vec<Vec<u32>>,
    /// Votes for model i.
    pub wins: Vec<Vec<u32>>,
    /// Ties.
    pub ties: Vec<Vec<u32>>,
    /// Votes for "both bad".
    pub both_bad: Vec<Vec<u32>>,
    /// Predicted share of points of model i, a tie being half a point; `None` for a model against itself, between
    /// components, and between two models that both only won or both only lost.
    pub predicted: Vec<Vec<Option<f64>>>,
}

impl Matrices {
    pub(in crate::rating) fn new(tally: &Tally, fit: &Fit, scaled: &[ScaledModel], order: &[String]) -> Self {
        let rows: HashMap<&str, usize> = order.iter().enumerate().map(|(row, name)| (name.as_str(), row)).collect();
        let row_of: Vec<usize> = tally.models.iter().map(|model| rows[model.name.as_str()]).collect();
        let counts = PairOutcomes { tally, row_of: &row_of };
        let mut predicted = vec![vec![None; order.len()]; order.len()];
        for (i, one) in scaled.iter().enumerate() {
            for (j, other) in scaled.iter().enumerate().filter(|&(j, _)| i != j) {
                predicted[row_of[i]][row_of[j]] = one.win_rate(other, fit);
            }
        }
        Self {
            models: order.to_vec(),
            battles: counts.matrix(PairCounts::total),
            wins: counts.matrix(|pair| pair.first_wins),
            ties: counts.matrix(|pair| pair.ties),
            both_bad: counts.matrix(|pair| pair.both_bad),
            predicted,
        }
    }
}

struct PairOutcomes<'a> {
    tally: &'a Tally,
    row_of: &'a [usize],
}

impl PairOutcomes<'_> {
    /// Builds the matrix of `count` for every pair, from the perspective of each of its models.
    fn matrix(&self, count: impl Fn(PairCounts) -> u64) -> Vec<Vec<u32>> {
        let count = |counts: PairCounts| u32::try_from(count(counts)).unwrap_or(u32::MAX);
        let mut matrix = vec![vec![0; self.row_of.len()]; self.row_of.len()];
        for (pair, &counts) in self.tally.pairs.iter().zip(&self.tally.counts) {
            let (first, second) = (self.row_of[pair.first], self.row_of[pair.second]);
            matrix[first][second] = count(counts);
            matrix[second][first] = count(counts.swapped());
        }
        matrix
    }
}

/// Computes for each model the mean, over its opponents, of its share of points against each.
pub(super) fn empirical_win_rates(tally: &Tally) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_u64); tally.models.len()];
    for (PairTally { first, second, .. }, counts) in tally.pairs.iter().zip(&tally.counts) {
        let halves = real(counts.ties + counts.both_bad);
        for (model, wins) in [(*first, counts.first_wins), (*second, counts.second_wins)] {
            sums[model].0 += (real(wins) + 0.5 * halves) / real(counts.total());
            sums[model].1 += 1;
        }
    }
    sums.into_iter().map(|(sum, opponents)| sum / real(opponents)).collect()
}
