//! Joint sandwich of strengths and effects, for independent votes or clustered by voter.
//!
//! V = H⁺ B H⁺ over (θ, β), H = Σ c·p(1−p)·uuᵀ with u = (e_first − e_second, x). For independent votes B = Σ
//! c²(p−y)²·uuᵀ; clustered by voter g, B = G/(G−1) · Σ_g s_g·s_gᵀ, s_g = Σ_{v∈g} c(p−y)·u (Liang and Zeger 1986;
//! Cameron and Miller 2015).

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::super::FitError;
use super::super::intervals::sandwich::ROUNDING;
use super::super::votes::vote_log::Labels;
use super::negative_log_likelihood::{Shares, StyleLoss, squared};
use crate::stats::real_len;

/// Variances of the strengths and effects, in the order of the point.
pub(super) struct Variances {
    pub(super) values: DVector<f64>,
    /// Effective number of voters by parameter, if the variances are those between voters with Student's t.
    pub(super) voters: Option<Vec<f64>>,
    /// Parameters that are not determined without one of the voters.
    pub(super) single_voter: Vec<bool>,
    /// Joint covariance of the strengths and effects.
    pub(super) covariance: DMatrix<f64>,
}

impl Variances {
    /// Creates variances with normal intervals.
    pub(super) fn of_votes(covariance: DMatrix<f64>) -> Self {
        Self { values: covariance.diagonal(), voters: None, single_voter: Vec::new(), covariance }
    }

    pub(super) fn is_carried(&self, place: usize) -> bool {
        self.single_voter.get(place).copied().unwrap_or(false)
    }

    /// Computes the standard error of a parameter; `None` where every vote equals its prediction, so that nothing varies.
    pub(super) fn error(&self, place: usize) -> Option<f64> {
        Some(self.values[place].sqrt()).filter(|error| *error > ROUNDING && !self.is_carried(place))
    }
}

/// Whether the votes of each model, in the order of the point, all equal their predictions: the rest of its variance is the error of
/// its opponents and of the effects.
pub(super) fn has_zero_variance(loss: &StyleLoss<'_>, point: &DVector<f64>) -> Vec<bool> {
    let own = loss.matrix(&loss.sums(point, squared)).diagonal();
    own.iter().take(loss.models().len()).map(|square| square.sqrt() <= ROUNDING).collect()
}

/// Computes the covariance of the strengths and effects at the optimum. `None` if one voter cast all votes.
pub(super) fn covariance(
    loss: &StyleLoss<'_>,
    point: &DVector<f64>,
    voters: Option<&Labels>,
) -> Result<Option<DMatrix<f64>>, FitError> {
    if point.is_empty() {
        return Ok(Some(DMatrix::zeros(0, 0)));
    }
    let middle = match voters {
        None => Some(loss.matrix(&loss.sums(point, squared))),
        Some(voters) => middle_by_voter(loss, point, voters),
    };
    let Some(middle) = middle else { return Ok(None) };
    let inverse = regularized_hessian_inverse(loss, point)?;
    let mut covariance = &inverse * (middle * &inverse);
    // The matrix is positive semidefinite: negative values are rounding.
    (0..point.len()).for_each(|place| covariance[(place, place)] = covariance[(place, place)].max(0.0));
    Ok(Some(covariance))
}

/// Computes the inverse of the Hessian with held means, whose stiffness is multiplied only by zeros of B.
pub(super) fn regularized_hessian_inverse(
    loss: &StyleLoss<'_>,
    point: &DVector<f64>,
) -> Result<DMatrix<f64>, FitError> {
    let singular = || FitError::Solver("the Hessian with style features cannot be inverted".into());
    Ok(loss.regularized_hessian(point).cholesky().ok_or_else(singular)?.inverse())
}

fn middle_by_voter(loss: &StyleLoss<'_>, point: &DVector<f64>, voters: &Labels) -> Option<DMatrix<f64>> {
    let scores = scores(loss, point);
    let (order, begins) = by_voter(&loss.votes().rows, voters);
    let mut middle = DMatrix::zeros(point.len(), point.len());
    let mut sum = SparseSum::new(point.len());
    let groups = loss.votes().groups.as_slice();
    let group_of = |vote: usize| groups.partition_point(|group| group.begin <= vote) - 1;
    for bounds in begins.windows(2) {
        for &vote in &order[bounds[0]..bounds[1]] {
            let (vote, pair) = (vote as usize, groups[group_of(vote as usize)]);
            sum.add(pair.first, scores[vote]);
            sum.add(pair.second, -scores[vote]);
            for (place, &feature) in loss.kept().iter().enumerate() {
                sum.add(loss.models().len() + place, scores[vote] * loss.votes().votes[vote].x[feature]);
            }
        }
        sum.square_into(&mut middle);
    }
    let clusters = begins.len() - 1;
    (clusters > 1).then(|| middle * (real_len(clusters) / real_len(clusters - 1)))
}

/// Computes c·(p − y) of every vote.
fn scores(loss: &StyleLoss<'_>, point: &DVector<f64>) -> Vec<f64> {
    let votes = loss.votes();
    let predict = loss.predict(point);
    let of_group = |(group, pair): (usize, &super::features::FeatureGroup)| {
        let difference = point[pair.first] - point[pair.second];
        votes.votes[pair.begin..votes.end_of(group)]
            .iter()
            .map(|vote| vote.weight * Shares::at(predict(difference, vote)).residual(vote.points))
            .collect::<Vec<f64>>()
    };
    votes.groups.par_iter().enumerate().map(|(group, pair)| of_group((group, pair))).flatten_iter().collect()
}

/// Sorts votes by voter and returns them with the start of each voter's votes, plus the end. A vote without a voter is its own cluster.
pub(super) fn by_voter(rows: &[u32], voters: &Labels) -> (Vec<u32>, Vec<usize>) {
    let named = u32::try_from(voters.names.as_slice().len()).unwrap_or(u32::MAX);
    let mut next = u64::from(named);
    let mut keyed: Vec<(u64, u32)> = Vec::with_capacity(rows.len());
    for (vote, &row) in (0_u32..).zip(rows) {
        let voter = voters.rows[row as usize];
        let key = if voter == Labels::NONE {
            next += 1;
            next
        } else {
            u64::from(voter)
        };
        keyed.push((key, vote));
    }
    keyed.par_sort_unstable();
    let mut begins: Vec<usize> = (0..keyed.len()).filter(|&at| at == 0 || keyed[at].0 != keyed[at - 1].0).collect();
    begins.push(keyed.len());
    (keyed.into_iter().map(|(_, vote)| vote).collect(), begins)
}

/// A sparse vector of sums.
struct SparseSum {
    values: Vec<f64>,
    touched: Vec<usize>,
    is_touched: Vec<bool>,
}

impl SparseSum {
    fn new(size: usize) -> Self {
        Self { values: vec![0.0; size], touched: Vec::new(), is_touched: vec![false; size] }
    }

    fn add(&mut self, place: usize, value: f64) {
        if !std::mem::replace(&mut self.is_touched[place], true) {
            self.touched.push(place);
        }
        self.values[place] += value;
    }

    /// Adds the outer product of the sum with itself to `matrix` and clears the sum.
    fn square_into(&mut self, matrix: &mut DMatrix<f64>) {
        for &i in &self.touched {
            for &j in &self.touched {
                matrix[(i, j)] += self.values[i] * self.values[j];
            }
        }
        for place in self.touched.drain(..) {
            self.values[place] = 0.0;
            self.is_touched[place] = false;
        }
    }
}
