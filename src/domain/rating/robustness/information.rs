//! Covariance of the strengths of one component: that of the intervals of the leaderboard, or that of independent votes
//! where they have none.

use nalgebra::{DMatrix, DVector};

use super::super::counts::tally::{PairTally, Tally};
use super::super::intervals::sandwich::Intervals;
use super::super::strengths::negative_log_likelihood::logistic;
use super::FitError;
use crate::rating::strengths::fit::{Fit, ModelStrength};
use crate::stats::cholesky::{cholesky, inverse};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::max_t::level_of_each_pair;
use crate::stats::real_len;

/// Strengths of one component with their covariance.
#[derive(Debug)]
pub(super) struct Information {
    /// Rated models, by position in the tally; at least two.
    pub(super) members: Vec<usize>,
    /// θ by position in `members`.
    pub(super) strengths: DVector<f64>,
    /// V by position in `members`, up to terms that cancel in differences.
    covariance: DMatrix<f64>,
    /// Effective number of voters by member, where V comes from the variation between voters; 0 for a model that only a single voter's
    /// votes connect with the rest.
    voters: Option<Vec<f64>>,
    /// Whether the leaderboard has an interval of each member: without one, it differs from no other.
    measured: Vec<bool>,
    /// Level of each comparison of two members at which the rank intervals hold simultaneously.
    pub(super) level_of_pairs: ConfidenceLevel,
}

impl Information {
    /// Creates one for each component with at least two rated models.
    pub(super) fn of_components(
        tally: &Tally,
        fit: &Fit,
        intervals: &Intervals,
        level: ConfidenceLevel,
    ) -> Result<Vec<Self>, FitError> {
        let components = fit.members().into_iter().filter(|members| members.len() > 1);
        components.map(|members| Self::new(tally, fit, members, intervals, level)).collect()
    }

    fn new(
        tally: &Tally,
        fit: &Fit,
        members: Vec<usize>,
        intervals: &Intervals,
        level: ConfidenceLevel,
    ) -> Result<Self, FitError> {
        let strength = |&model: &usize| match fit.model_strengths[model] {
            ModelStrength::Rated { strength, .. } => strength,
            ModelStrength::Unbounded { .. } => 0.0,
        };
        let strengths = DVector::from_iterator(members.len(), members.iter().map(strength));
        let Some(covariance) = intervals.covariances.of(&members) else {
            let covariance = of_independent_votes(tally, &members, &strengths)?;
            let (measured, level_of_pairs) = (vec![true; members.len()], by_bonferroni(fit, &members, level));
            return Ok(Self { members, strengths, covariance, voters: None, measured, level_of_pairs });
        };
        let is_measured = |model: &usize| intervals.strengths[*model].is_some();
        let compared: Vec<usize> = members.iter().copied().filter(is_measured).collect();
        let together = intervals.covariances.of(&compared).and_then(|found| level_of_each_pair(&found, level));
        let level_of_pairs = together.unwrap_or_else(|| by_bonferroni(fit, &members, level));
        let measured = members.iter().map(is_measured).collect();
        let voters =
            |&model: &usize| intervals.strengths[model].and_then(|_| intervals.voters_of(model)).unwrap_or(0.0);
        let voters = intervals.voters.as_ref().map(|_| members.iter().map(voters).collect());
        Ok(Self { members, strengths, covariance, voters, measured, level_of_pairs })
    }

    /// Returns the positions in `members`, best first; ties in name order.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by(|&x, &y| self.strengths[y].total_cmp(&self.strengths[x]).then(x.cmp(&y)));
        order
    }

    /// Computes θ_one − θ_other and its variance, by positions in `members`.
    pub(super) fn gap(&self, one: usize, other: usize) -> (f64, f64) {
        let v = &self.covariance;
        let variance = v[(one, one)] + v[(other, other)] - v[(one, other)] - v[(other, one)];
        (self.strengths[one] - self.strengths[other], variance.max(0.0))
    }

    /// Computes half the width of the interval of a difference in standard errors, with the quantile of the member that has fewer voters.
    pub(super) fn quantile(&self, one: usize, other: usize, level: ConfidenceLevel) -> f64 {
        let of = |member: usize| level.quantile(self.voters.as_ref().map(|voters| voters[member]));
        if self.is_carried(one) || self.is_carried(other) { f64::INFINITY } else { of(one).max(of(other)) }
    }

    fn is_carried(&self, member: usize) -> bool {
        self.voters.as_ref().is_some_and(|voters| voters[member] <= 0.0)
    }

    /// Returns the quantile with which the rank intervals compare two members; infinite where the leaderboard has no interval of one.
    pub(super) fn quantile_of_pair(&self, one: usize, other: usize) -> f64 {
        if self.measured[one] && self.measured[other] {
            self.quantile(one, other, self.level_of_pairs)
        } else {
            f64::INFINITY
        }
    }

    /// Computes half the width of the interval of a strength.
    pub(super) fn margin(&self, member: usize, level: ConfidenceLevel) -> f64 {
        self.quantile(member, member, level) * self.covariance[(member, member)].max(0.0).sqrt()
    }
}

/// Computes the level at which a model is compared with each other model of its component: see [`super::places`].
fn by_bonferroni(fit: &Fit, members: &[usize], level: ConfidenceLevel) -> ConfidenceLevel {
    let component = fit.model_strengths[members[0]].component();
    let models = fit.model_strengths.iter().filter(|strength| strength.component() == component).count();
    level.of_each(real_len(models - 1))
}

/// Computes the sandwich H⁺ B H⁺.
fn of_independent_votes(tally: &Tally, members: &[usize], strengths: &DVector<f64>) -> Result<DMatrix<f64>, FitError> {
    let size = members.len();
    let (mut hessian, mut middle) = (DMatrix::zeros(size, size), DMatrix::zeros(size, size));
    for pair in &tally.pairs {
        let place = |model: usize| members.binary_search(&model).ok();
        let Some((first, second)) = place(pair.first).zip(place(pair.second)) else { continue };
        let d = strengths[first] - strengths[second];
        let (p, q) = (logistic(d), logistic(-d));
        add(&mut hessian, first, second, (pair.points_first() + pair.points_second()) * p * q);
        add(&mut middle, first, second, squared_residuals(pair, p, q));
    }
    let stiffness = hessian.trace() / real_len(size);
    hessian.add_scalar_mut(stiffness / real_len(size));
    let singular = || FitError::Solver("the Hessian cannot be inverted".into());
    let inverse = inverse(&cholesky(hessian).ok_or_else(singular)?);
    Ok(&inverse * middle * &inverse)
}

/// Adds weight·u·uᵀ, u = e_first − e_second.
fn add(matrix: &mut DMatrix<f64>, first: usize, second: usize, weight: f64) {
    matrix[(first, first)] += weight;
    matrix[(second, second)] += weight;
    matrix[(first, second)] -= weight;
    matrix[(second, first)] -= weight;
}

/// Computes Σ (y − p)² over the votes of a pair.
fn squared_residuals(pair: &PairTally, p: f64, q: f64) -> f64 {
    let half = 0.5 * (p - q);
    pair.first_wins * q * q + pair.second_wins * p * p + pair.halves * half * half
}
