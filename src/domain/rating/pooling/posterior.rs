//! Posterior of strengths and their differences between slices.
//!
//! With ℓ the log likelihood, λ = 1/τ² and n differences, Laplace's method (Tierney and Kadane 1986; Breslow and Clayton 1993)
//! gives the marginal likelihood of τ, up to a constant, as
//!
//! ln L(τ) = ℓ(θ̂, δ̂) − λ|δ̂|²/2 + (n/2)·ln λ − ½·ln det H,
//!
//! where θ̂, δ̂ maximise the first two terms and H is their negative Hessian, on strengths θ that sum to zero. Slices share
//! only θ, so H is eliminated slice by slice: with H_c the Hessian of the slice's loss and A = H_c + λ,
//!
//! det H = det S · Π det A, S = Σ (λ − λ²A⁻¹).
//!
//! A model without votes in a slice adds nothing to any term and is left out there.
//!
//! Few slices leave τ uncertain, and intervals at one τ would be too short. Under a half-normal prior on τ (Gelman 2006), ln τ
//! has the density τ·L(τ)·exp(−τ²/2s²). Means and variances are averaged over it by the trapezoidal rule around its peak, as in
//! INLA (Rue, Martino and Chopin 2009). The prior matters only where a few votes would allow any τ.

use std::cell::RefCell;

use argmin::core::{CostFunction, Error, Executor, State};
use argmin::solver::brent::BrentOpt;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rayon::prelude::*;

use super::super::FitError;
use super::super::strengths::newton::mean_diagonal;
use super::sliced_votes::SliceLoss;
use crate::stats::cholesky::{cholesky, inverse};
use crate::stats::real_len;

/// Bounds of ln τ: 0.2 and 1,200 points.
const LOG_SPREAD_BOUNDS: (f64, f64) = (-6.9, 1.94);
/// Scale s of the prior on τ: 174 points. Half of its weight is below 117 points.
const PRIOR_SCALE: f64 = 1.0;
/// Tolerance of ln τ at the peak.
const PEAK_TOLERANCE: f64 = 1e-6;
const MAX_EVALUATIONS: u64 = 60;
/// Distance in ln τ over which the curvature at the peak is measured.
const CURVATURE_DISTANCE: f64 = 0.1;
/// Steps of the trapezoidal rule below and above the peak, each of one standard deviation. The lower tail is longer.
const TRAPEZOID_STEPS: std::ops::RangeInclusive<i32> = -5..=3;
/// Largest step, for a flat peak.
const MAX_STEP_LENGTH: f64 = 0.7;
/// Share of the density at the peak below which a point is left out.
const NEGLIGIBLE_DENSITY: f64 = 1e-4;
const MAX_STEPS: usize = 100;
const MAX_HALVINGS: usize = 50;
/// Convergence is quadratic: after a step of this length the error is below rounding.
const STEP_TOLERANCE: f64 = 1e-8;
/// Share of the predicted decrease that a step must achieve (Armijo's rule).
const ARMIJO_FRACTION: f64 = 1e-4;
/// Relative rounding error of a sum over all votes.
const SUM_ROUNDING: f64 = 1e-12;

/// The posterior of all slices.
#[derive(Debug)]
pub(super) struct Posterior {
    /// The posterior mean of τ.
    pub(super) spread: f64,
    pub(super) slices: Vec<SlicePosterior>,
}

/// The posterior at one τ.
#[derive(Debug)]
struct ConditionalPosterior<'v> {
    slices: &'v [SliceLoss],
    log_spread: f64,
    precision: f64,
    mode: Mode,
    /// −ℓ + λ|δ|²/2 at the mode.
    loss: f64,
    curvature: FactoredHessian,
}

/// Strengths and differences.
#[derive(Debug, Clone)]
struct Mode {
    strengths: DVector<f64>,
    /// Differences by slice, for its models.
    differences: Vec<DVector<f64>>,
}

/// The Hessian at a mode, factored.
#[derive(Debug)]
struct FactoredHessian {
    /// A⁻¹ by slice.
    inverses: Vec<DMatrix<f64>>,
    /// S, made invertible in the direction that changes no difference.
    shared: Cholesky<f64, Dyn>,
    stiffness: f64,
    /// ln det H − n·ln λ.
    log_det: f64,
}

/// The posterior of one slice's models.
#[derive(Debug, Clone)]
pub(super) struct SlicePosterior {
    /// θ + δ, less the slice's mean δ.
    pub(super) strengths: Estimates,
    /// δ, less the slice's mean.
    pub(super) differences: Estimates,
}

/// Posterior means and variances, by model.
#[derive(Debug, Clone)]
pub(super) struct Estimates {
    means: DVector<f64>,
    variances: DVector<f64>,
}

impl Estimates {
    /// Returns the mean of a model and its standard deviation.
    pub(super) fn of(&self, place: usize) -> (f64, f64) {
        (self.means[place], self.variances[place].sqrt())
    }

    /// Mixes estimates with weights that sum to one.
    fn mixed(parts: &[(f64, &Self)]) -> Self {
        let size = parts.first().map_or(0, |(_, part)| part.means.len());
        let sum = |of: &dyn Fn(&Self) -> DVector<f64>| {
            parts.iter().fold(DVector::zeros(size), |sum, (weight, part)| sum + *weight * of(part))
        };
        let means = sum(&|part| part.means.clone());
        let variances = sum(&|part| {
            let apart = &part.means - &means;
            &part.variances + apart.component_mul(&apart)
        });
        Self { means, variances }
    }
}

impl Posterior {
    /// Computes the posterior of two or more slices with τ integrated out; `start` holds strengths near θ̂. The variance of θ is multiplied
    /// by `shared`, since voters vote in several slices.
    pub(super) fn new(slices: &[SliceLoss], start: &DVector<f64>, shared: f64) -> Result<Self, FitError> {
        let differences = slices.iter().map(|slice| DVector::zeros(slice.members.len())).collect();
        let start = Mode { strengths: start.clone(), differences };
        let nodes = nodes(slices, &start)?;
        let total: f64 = nodes.iter().map(|(density, _)| density).sum();
        let spread = nodes.iter().map(|(density, node)| density / total * node.log_spread.exp()).sum();
        let found: Vec<(f64, Vec<SlicePosterior>)> =
            nodes.iter().map(|(density, node)| (density / total, node.slices(shared))).collect();
        let mixed = |slice: usize| {
            let strengths: Vec<_> = found.iter().map(|(weight, of)| (*weight, &of[slice].strengths)).collect();
            let differences: Vec<_> = found.iter().map(|(weight, of)| (*weight, &of[slice].differences)).collect();
            SlicePosterior { strengths: Estimates::mixed(&strengths), differences: Estimates::mixed(&differences) }
        };
        Ok(Self { spread, slices: (0..slices.len()).map(mixed).collect() })
    }
}

/// Computes the points of the trapezoidal rule, with the density of ln τ relative to its peak.
fn nodes<'v>(slices: &'v [SliceLoss], start: &Mode) -> Result<Vec<(f64, ConditionalPosterior<'v>)>, FitError> {
    let (low, high) = LOG_SPREAD_BOUNDS;
    let density = NegativeLogDensity { slices, latest: RefCell::new(start.clone()) };
    let search = Executor::new(density, BrentOpt::new(low, high).set_tolerance(0.0, PEAK_TOLERANCE))
        .configure(|state| state.max_iters(MAX_EVALUATIONS))
        .ctrlc(false)
        .run()
        .map_err(|error| FitError::Solver(error.into()))?;
    let peak = ConditionalPosterior::at(slices, start, search.state.get_best_param().copied().unwrap_or(low))?;
    let at = |log_spread: f64| ConditionalPosterior::at(slices, &peak.mode, log_spread);
    let [below, above] = [at(peak.log_spread - CURVATURE_DISTANCE)?, at(peak.log_spread + CURVATURE_DISTANCE)?]
        .map(|near| near.log_density());
    let inside = |log_spread: f64| (low..=high).contains(&log_spread);
    let curvature = (2.0 * peak.log_density() - below - above) / (CURVATURE_DISTANCE * CURVATURE_DISTANCE);
    let step = if curvature > 0.0 { curvature.sqrt().recip().min(MAX_STEP_LENGTH) } else { MAX_STEP_LENGTH };
    let most = peak.log_density();
    let mut nodes = Vec::new();
    for log_spread in TRAPEZOID_STEPS.map(|count| peak.log_spread + f64::from(count) * step).filter(|&at| inside(at)) {
        let node = at(log_spread)?;
        nodes.push(((node.log_density() - most).exp(), node));
    }
    nodes.retain(|(density, _)| *density > NEGLIGIBLE_DENSITY);
    Ok(nodes)
}

impl<'v> ConditionalPosterior<'v> {
    /// Computes the posterior at a τ, searched from a mode nearby.
    fn at(slices: &'v [SliceLoss], start: &Mode, log_spread: f64) -> Result<Self, FitError> {
        let precision = (-2.0 * log_spread).exp();
        let mut reached = PosteriorPoint { loss: loss(slices, start, precision), mode: start.clone() };
        for _ in 0..MAX_STEPS {
            let (step, slope, curvature) = newton_step(slices, &reached.mode, precision)?;
            let length = step.length();
            reached = line_search(slices, reached, &step, slope, precision);
            if length < STEP_TOLERANCE {
                let PosteriorPoint { mode, loss } = reached;
                return Ok(Self { slices, log_spread, precision, mode, loss, curvature });
            }
        }
        Err(FitError::Solver("the ratings of the slices did not converge".into()))
    }

    /// Computes ln (τ·L(τ)·exp(−τ²/2s²)), up to a constant.
    fn log_density(&self) -> f64 {
        let prior = -0.5 / (self.precision * PRIOR_SCALE * PRIOR_SCALE);
        self.log_spread + prior - self.loss - 0.5 * self.curvature.log_det
    }

    /// Computes the posterior of each slice.
    fn slices(&self, shared: f64) -> Vec<SlicePosterior> {
        let models = real_len(self.mode.strengths.len());
        let mut covariance = inverse(&self.curvature.shared);
        covariance.add_scalar_mut(-1.0 / (models * self.curvature.stiffness));
        covariance *= shared;
        let parts: Vec<_> = self.slices.iter().zip(&self.mode.differences).zip(&self.curvature.inverses).collect();
        parts
            .into_par_iter()
            .map(|((slice, differences), inverse)| {
                let of_members = covariance.select_rows(&slice.members).select_columns(&slice.members);
                let strengths = self.mode.strengths.select_rows(&slice.members);
                let differences = differences.add_scalar(-differences.mean());
                // θ and δ given θ: θ + δ − mean δ = (1 − P + λPA⁻¹)·θ + P·ε and δ − mean δ = P(λA⁻¹ − 1)·θ + P·ε, ε ~ N(0, A⁻¹),
                // where P subtracts the mean.
                let centred = centred_columns(inverse);
                let own = centred_columns(&centred.transpose()).diagonal();
                let size = real_len(slice.members.len());
                let mut by_strength = &centred * self.precision;
                let mut by_difference = by_strength.clone();
                by_strength.add_scalar_mut(1.0 / size);
                by_difference.add_scalar_mut(1.0 / size);
                (0..slice.members.len()).for_each(|place| by_difference[(place, place)] -= 1.0);
                SlicePosterior {
                    strengths: Estimates {
                        means: strengths + &differences,
                        variances: variances(&by_strength, &of_members, &own),
                    },
                    differences: Estimates {
                        means: differences,
                        variances: variances(&by_difference, &of_members, &own),
                    },
                }
            })
            .collect()
    }
}

/// Computes the variances of B·x + ε, with x ~ N(0, V), given the variances of ε.
fn variances(by: &DMatrix<f64>, shared: &DMatrix<f64>, own: &DVector<f64>) -> DVector<f64> {
    let half = by * shared;
    let variance = |row: usize| half.row(row).dot(&by.row(row)) + own[row];
    DVector::from_fn(own.len(), |row, _| variance(row).max(0.0))
}

/// Subtracts the mean of each column.
fn centred_columns(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut centred = matrix.clone();
    for mut column in centred.column_iter_mut() {
        let mean = column.mean();
        column.add_scalar_mut(-mean);
    }
    centred
}

impl Mode {
    /// Returns the largest absolute component.
    fn length(&self) -> f64 {
        self.differences.iter().map(DVector::amax).fold(self.strengths.amax(), f64::max)
    }

    fn plus(&self, share: f64, step: &Self) -> Self {
        let differences = self.differences.iter().zip(&step.differences);
        Self {
            strengths: &self.strengths + share * &step.strengths,
            differences: differences.map(|(at, step)| at + share * step).collect(),
        }
    }

    /// Computes the strengths in a slice.
    fn slice_strengths(&self, slice: usize, members: &[usize]) -> DVector<f64> {
        self.strengths.select_rows(members) + &self.differences[slice]
    }
}

/// Computes −ℓ + λ|δ|²/2.
fn loss(slices: &[SliceLoss], at: &Mode, precision: f64) -> f64 {
    let of_slice = |(slice, votes): (usize, &SliceLoss)| {
        votes.loss.value(&at.slice_strengths(slice, &votes.members))
            + 0.5 * precision * at.differences[slice].norm_squared()
    };
    // Summed in order, independent of the number of threads.
    let losses: Vec<f64> = slices.par_iter().enumerate().map(of_slice).collect();
    losses.into_iter().sum()
}

/// The derivatives of one slice, with A factored.
struct SliceTerms {
    inverse: DMatrix<f64>,
    log_det: f64,
    /// Gradient by δ.
    by_difference: DVector<f64>,
    /// A⁻¹ times the gradient.
    solved: DVector<f64>,
}

impl SliceTerms {
    fn new(votes: &SliceLoss, at: &Mode, slice: usize, precision: f64) -> Result<Self, FitError> {
        let point = at.slice_strengths(slice, &votes.members);
        let mut hessian = votes.loss.hessian(&point);
        let models = hessian.nrows();
        (0..models).for_each(|model| hessian[(model, model)] += precision);
        let factor = cholesky(hessian).ok_or_else(singular)?;
        let by_difference = votes.loss.gradient(&point) + precision * &at.differences[slice];
        let log_det = log_determinant(&factor) - real_len(models) * precision.ln();
        let inverse = inverse(&factor);
        Ok(Self { log_det, solved: &inverse * &by_difference, by_difference, inverse })
    }
}

/// Computes Newton's step, its slope, and the Hessian at its start.
fn newton_step(slices: &[SliceLoss], at: &Mode, precision: f64) -> Result<(Mode, f64, FactoredHessian), FitError> {
    let terms: Vec<SliceTerms> = slices
        .par_iter()
        .enumerate()
        .map(|(slice, votes)| SliceTerms::new(votes, at, slice, precision))
        .collect::<Result<_, _>>()?;
    let models = at.strengths.len();
    let (mut shared, mut pull) = (DMatrix::zeros(models, models), DVector::zeros(models));
    for ((votes, terms), differences) in slices.iter().zip(&terms).zip(&at.differences) {
        for (column, &model) in votes.members.iter().enumerate() {
            for (row, &other) in votes.members.iter().enumerate() {
                shared[(other, model)] -= precision * precision * terms.inverse[(row, column)];
            }
            shared[(model, model)] += precision;
            pull[model] += precision * (differences[column] - terms.solved[column]);
        }
    }
    let stiffness = mean_diagonal(&shared);
    shared.add_scalar_mut(stiffness / real_len(models));
    let shared = cholesky(shared).ok_or_else(singular)?;
    let strengths = shared.solve(&pull);
    let mut slope = 0.0;
    let mut differences = Vec::with_capacity(slices.len());
    for ((votes, terms), at) in slices.iter().zip(&terms).zip(&at.differences) {
        let moved = strengths.select_rows(&votes.members);
        let step = precision * (&terms.inverse * &moved) - &moved - &terms.solved;
        // The gradient by θ is that by δ without the prior's part.
        slope += terms.by_difference.dot(&step) + (&terms.by_difference - precision * at).dot(&moved);
        differences.push(step);
    }
    let log_det = terms.iter().map(|terms| terms.log_det).sum::<f64>() + log_determinant(&shared) - stiffness.ln();
    let inverses = terms.into_iter().map(|terms| terms.inverse).collect();
    Ok((Mode { strengths, differences }, slope, FactoredHessian { inverses, shared, stiffness, log_det }))
}

struct PosteriorPoint {
    mode: Mode,
    /// −ℓ + λ|δ|²/2 there.
    loss: f64,
}

/// Takes the full step, halved until it lowers the loss enough.
fn line_search(slices: &[SliceLoss], from: PosteriorPoint, step: &Mode, slope: f64, precision: f64) -> PosteriorPoint {
    let mut share = 1.0;
    for _ in 0..MAX_HALVINGS {
        let mode = from.mode.plus(share, step);
        let loss = loss(slices, &mode, precision);
        if loss <= from.loss + ARMIJO_FRACTION * share * slope + SUM_ROUNDING * from.loss.abs() {
            return PosteriorPoint { mode, loss };
        }
        share *= 0.5;
    }
    from
}

fn log_determinant(factor: &Cholesky<f64, Dyn>) -> f64 {
    2.0 * factor.l_dirty().diagonal().iter().map(|entry| entry.ln()).sum::<f64>()
}

fn singular() -> FitError {
    FitError::Solver("the votes determine no ratings of the slices".into())
}

/// Minus the log density of ln τ.
struct NegativeLogDensity<'v> {
    slices: &'v [SliceLoss],
    /// Mode at the τ of the last evaluation, a start near the mode at the next τ.
    latest: RefCell<Mode>,
}

impl CostFunction for NegativeLogDensity<'_> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, log_spread: &f64) -> Result<f64, Error> {
        let found = ConditionalPosterior::at(self.slices, &self.latest.borrow(), *log_spread)?;
        let density = found.log_density();
        self.latest.replace(found.mode);
        Ok(-density)
    }
}
