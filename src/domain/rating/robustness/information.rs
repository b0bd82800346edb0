//! Covariance of the strengths of one component.

use nalgebra::{DMatrix, DVector};

use super::super::loss::logistic;
use super::super::tally::{PairTally, Tally};
use super::FitError;
use crate::rating::fit::{Fit, ModelStrength};
use crate::stats::real_len;

/// The sandwich of one component.
#[derive(Debug)]
pub(super) struct Information {
    /// Its rated models, by position in the tally; at least two.
    pub(super) members: Vec<usize>,
    /// θ by position in `members`.
    pub(super) strengths: DVector<f64>,
    /// H⁺ B H⁺.
    covariance: DMatrix<f64>,
}

impl Information {
    /// One for every component with at least two rated models.
    pub(super) fn of_components(tally: &Tally, fit: &Fit) -> Result<Vec<Self>, FitError> {
        fit.members()
            .into_iter()
            .filter(|members| members.len() > 1)
            .map(|members| Self::new(tally, fit, members))
            .collect()
    }

    pub(super) fn new(tally: &Tally, fit: &Fit, members: Vec<usize>) -> Result<Self, FitError> {
        let strength = |&model: &usize| match fit.model_strengths[model] {
            ModelStrength::Rated { strength, .. } => strength,
            ModelStrength::Unbounded { .. } => 0.0,
        };
        let strengths = DVector::from_iterator(members.len(), members.iter().map(strength));
        let (mut hessian, mut middle) =
            (DMatrix::zeros(members.len(), members.len()), DMatrix::zeros(members.len(), members.len()));
        for pair in &tally.pairs {
            let place = |model: usize| members.binary_search(&model).ok();
            let Some((first, second)) = place(pair.first).zip(place(pair.second)) else { continue };
            let d = strengths[first] - strengths[second];
            let (p, q) = (logistic(d), logistic(-d));
            add(&mut hessian, first, second, (pair.points_first() + pair.points_second()) * p * q);
            add(&mut middle, first, second, squared_residuals(pair, p, q));
        }
        let stiffness = hessian.trace() / real_len(members.len());
        hessian.add_scalar_mut(stiffness / real_len(members.len()));
        let singular = || FitError::Solver("the Hessian cannot be inverted".into());
        let inverse = hessian.cholesky().ok_or_else(singular)?.inverse();
        let covariance = &inverse * middle * &inverse;
        Ok(Self { members, strengths, covariance })
    }

    /// Positions in `members`, best first; ties in name order.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by(|&x, &y| self.strengths[y].total_cmp(&self.strengths[x]).then(x.cmp(&y)));
        order
    }

    /// θ_one − θ_other and its variance, by positions in `members`.
    pub(super) fn gap(&self, one: usize, other: usize) -> (f64, f64) {
        let v = &self.covariance;
        let variance = v[(one, one)] + v[(other, other)] - v[(one, other)] - v[(other, one)];
        (self.strengths[one] - self.strengths[other], variance.max(0.0))
    }

    pub(super) fn error(&self, member: usize) -> f64 {
        self.covariance[(member, member)].max(0.0).sqrt()
    }
}

/// Adds weight·u·uᵀ, u = e_first − e_second.
fn add(matrix: &mut DMatrix<f64>, first: usize, second: usize, weight: f64) {
    matrix[(first, first)] += weight;
    matrix[(second, second)] += weight;
    matrix[(first, second)] -= weight;
    matrix[(second, first)] -= weight;
}

/// Σ (y − p)² over the votes of a pair.
fn squared_residuals(pair: &PairTally, p: f64, q: f64) -> f64 {
    let half = 0.5 * (p - q);
    pair.first_wins * q * q + pair.second_wins * p * p + pair.halves * half * half
}
