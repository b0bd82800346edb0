//! Newton's method for the loss of votes, as a solver for argmin's executor.
//!
//! A gauge is a set of strengths whose sum stays fixed, since shifting all strengths of a component changes no
//! probability. argmin sees the mean loss, whose size does not depend on the number of votes. [`minimise`] takes full
//! Newton steps by Cholesky where they lower the loss and shorter steps otherwise, and stops at a step so short that
//! the next would be lost in rounding.

use std::cmp::Ordering;

use argmin::core::{
    CostFunction, Error, Executor, Gradient, Hessian, IterState, KV, Problem, Solver, State, TerminationReason,
    TerminationStatus,
};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::super::FitError;
use super::negative_log_likelihood::PairLoss;
use crate::stats::cholesky::{cholesky, inverse};
use crate::stats::real_len;

/// Convergence is quadratic: after a step of this length the error is about its square, below rounding.
const STEP_TOLERANCE: f64 = 1e-8;
const MAX_ITERATIONS: u64 = 100;
const MAX_HALVINGS: usize = 50;
/// Share of the predicted decrease that a step must achieve (Armijo's rule).
const ARMIJO_FRACTION: f64 = 1e-4;
/// Relative rounding error of a cost that sums as many votes as fit into memory.
const COST_ROUNDING: f64 = 1e-9;
/// Step length for convergence with the Hessian of another point. Convergence is linear: the error is about as long as the last step.
const NEARBY_STEP_TOLERANCE: f64 = 1e-11;
/// Maximum first step: a longer one leaves the region where the Hessian is a good approximation.
const MAX_NEARBY_STEP: f64 = 1.0;
/// Largest ratio of consecutive step lengths: slower convergence takes longer than full Newton steps.
const MAX_STEP_RATIO: f64 = 0.5;
/// Terms added to the diagonal of a singular Hessian, relative to its largest entry.
const DIAGONAL_SHIFTS: [f64; 4] = [1e-12, 1e-10, 1e-8, 1e-6];

/// The minimum of a loss.
#[derive(Debug, Clone)]
pub(in crate::rating) struct Optimum {
    /// The strengths, then ln ν if the likelihood has it.
    pub(in crate::rating) point: DVector<f64>,
    /// The total loss, not the mean.
    pub(in crate::rating) loss: f64,
    pub(in crate::rating) iterations: u64,
    pub(in crate::rating) converged: bool,
}

/// Minimises a loss from `start`, keeping its gauge sums.
pub(in crate::rating) fn minimise(loss: PairLoss, start: DVector<f64>) -> Result<Optimum, FitError> {
    let votes = loss.votes();
    let found = newton_minimise(loss, start)?;
    Ok(Optimum {
        point: found.point,
        loss: found.cost * votes,
        iterations: found.iterations,
        converged: found.converged,
    })
}

/// Result of a search.
#[derive(Debug, Clone)]
pub(in crate::rating) struct NewtonResult {
    pub(in crate::rating) point: DVector<f64>,
    /// Cost at the point, as the problem defines it.
    pub(in crate::rating) cost: f64,
    pub(in crate::rating) iterations: u64,
    pub(in crate::rating) converged: bool,
}

/// Minimises a smooth convex problem from `start`.
pub(in crate::rating) fn newton_minimise<O>(problem: O, start: DVector<f64>) -> Result<NewtonResult, FitError>
where
    O: CostFunction<Param = DVector<f64>, Output = f64>
        + Gradient<Param = DVector<f64>, Gradient = DVector<f64>>
        + Hessian<Param = DVector<f64>, Hessian = DMatrix<f64>>,
{
    let run = Executor::new(problem, NewtonCholesky)
        .configure(|state: NewtonState| state.param(start).max_iters(MAX_ITERATIONS))
        .ctrlc(false)
        .run()
        .map_err(|error| FitError::Solver(error.into()))?;
    let mut state = run.state;
    // The last point, not argmin's "best": near the end the costs differ only by rounding.
    let point = state.take_param().ok_or_else(|| FitError::Solver("the solver kept no result".into()))?;
    Ok(NewtonResult {
        point,
        cost: state.get_cost(),
        iterations: state.get_iter(),
        converged: state.get_termination_reason() == Some(&TerminationReason::SolverConverged),
    })
}

/// Subtracts each gauge's mean from a vector.
pub(in crate::rating) fn project(gauges: &[Vec<usize>], vector: &mut DVector<f64>) {
    for gauge in gauges {
        let mean = gauge.iter().map(|&i| vector[i]).sum::<f64>() / real_len(gauge.len());
        gauge.iter().for_each(|&i| vector[i] -= mean);
    }
}

/// Subtracts each gauge's mean from every column and row, and adds `stiffness` along the freed directions: the matrix
/// is then invertible, and steps within the gauges are those of the original matrix.
pub(in crate::rating) fn project_matrix(gauges: &[Vec<usize>], matrix: &mut DMatrix<f64>, stiffness: f64) {
    for gauge in gauges {
        let size = real_len(gauge.len());
        for mut column in matrix.column_iter_mut() {
            let mean = gauge.iter().map(|&i| column[i]).sum::<f64>() / size;
            gauge.iter().for_each(|&i| column[i] -= mean);
        }
        let mut means = DVector::zeros(matrix.nrows());
        gauge.iter().for_each(|&i| means += matrix.column(i));
        means /= size;
        gauge.iter().for_each(|&i| matrix.set_column(i, &(matrix.column(i) - &means)));
    }
    add_gauge_stiffness(gauges, matrix, stiffness);
}

/// Adds `stiffness` to the directions that change no difference within a gauge.
fn add_gauge_stiffness(gauges: &[Vec<usize>], matrix: &mut DMatrix<f64>, stiffness: f64) {
    for gauge in gauges {
        let share = stiffness / real_len(gauge.len());
        for &i in gauge {
            gauge.iter().for_each(|&j| matrix[(i, j)] += share);
        }
    }
}

/// Computes H⁺ up to a constant in each gauge's block, which cancels in differences of two columns within it.
pub(in crate::rating) fn inverse_but_for_a_constant(
    loss: &PairLoss,
    point: &DVector<f64>,
) -> Result<DMatrix<f64>, FitError> {
    Ok(inverse(&factor(loss, point)?))
}

/// Computes the Cholesky factor of the Hessian at a point, made invertible along the gauges.
fn factor(loss: &PairLoss, point: &DVector<f64>) -> Result<Cholesky<f64, Dyn>, FitError> {
    let mut hessian = loss.hessian(point);
    let stiffness = mean_diagonal(&hessian);
    add_gauge_stiffness(loss.gauges(), &mut hessian, stiffness);
    cholesky(hessian).ok_or_else(|| FitError::Solver(Singular.into()))
}

/// Newton's method with the Hessian of one point, for many losses with minima near it, at a fraction of the cost.
pub(in crate::rating) struct FixedHessianSolver {
    factor: Cholesky<f64, Dyn>,
    /// Gauges along which gradients are not 0.
    gauges: Vec<Vec<usize>>,
}

impl FixedHessianSolver {
    pub(in crate::rating) fn new(loss: &PairLoss, point: &DVector<f64>) -> Result<Self, FitError> {
        Ok(Self { factor: factor(loss, point)?, gauges: Vec::new() })
    }

    /// Creates the solver like [`Self::new`], for a loss with some strengths held fixed; `None` if its Hessian is singular to rounding.
    pub(super) fn holding(loss: &PairLoss, point: &DVector<f64>) -> Option<Self> {
        let mut hessian = loss.hessian(point);
        let stiffness = mean_diagonal(&hessian);
        project_matrix(loss.gauges(), &mut hessian, stiffness);
        Some(Self { factor: cholesky(hessian)?, gauges: loss.gauges().to_vec() })
    }

    /// Computes H⁺ (e_one − e_other).
    pub(in crate::rating) fn pull(&self, one: usize, other: usize) -> DVector<f64> {
        let mut difference = DVector::zeros(self.factor.l_dirty().nrows());
        (difference[one], difference[other]) = (1.0, -1.0);
        self.factor.solve(&difference)
    }

    /// Minimises a loss; `None` if the steps shrink too slowly.
    pub(in crate::rating) fn minimise(&self, loss: &PairLoss, start: &DVector<f64>) -> Option<DVector<f64>> {
        let mut point = start.clone();
        let mut allowed = MAX_NEARBY_STEP;
        for _ in 0..MAX_ITERATIONS {
            let mut step = loss.gradient(&point);
            project(&self.gauges, &mut step);
            self.factor.solve_mut(&mut step);
            let length = step.amax();
            // A NaN is not below the allowed length either.
            if !matches!(length.partial_cmp(&allowed), Some(Ordering::Less)) {
                return None;
            }
            point -= step;
            if length <= NEARBY_STEP_TOLERANCE {
                return Some(point);
            }
            allowed = MAX_STEP_RATIO * length;
        }
        None
    }
}

pub(in crate::rating) fn mean_diagonal(matrix: &DMatrix<f64>) -> f64 {
    let mean = matrix.trace() / real_len(matrix.nrows());
    if mean > 0.0 { mean } else { 1.0 }
}

impl CostFunction for PairLoss {
    type Param = DVector<f64>;
    type Output = f64;

    fn cost(&self, point: &DVector<f64>) -> Result<f64, Error> {
        Ok(self.value(point) / self.votes())
    }
}

impl Gradient for PairLoss {
    type Param = DVector<f64>;
    type Gradient = DVector<f64>;

    fn gradient(&self, point: &DVector<f64>) -> Result<DVector<f64>, Error> {
        let mut gradient = self.gradient(point) / self.votes();
        project(self.gauges(), &mut gradient);
        Ok(gradient)
    }
}

impl Hessian for PairLoss {
    type Param = DVector<f64>;
    type Hessian = DMatrix<f64>;

    fn hessian(&self, point: &DVector<f64>) -> Result<DMatrix<f64>, Error> {
        let mut hessian = self.hessian(point) / self.votes();
        let stiffness = mean_diagonal(&hessian);
        project_matrix(self.gauges(), &mut hessian, stiffness);
        Ok(hessian)
    }
}

type NewtonState = IterState<DVector<f64>, DVector<f64>, (), DMatrix<f64>, (), f64>;

struct NewtonCholesky;

#[derive(Debug, thiserror::Error)]
#[error("the Hessian cannot be inverted: the votes connect two groups of models too weakly")]
struct Singular;

impl<O> Solver<O, NewtonState> for NewtonCholesky
where
    O: CostFunction<Param = DVector<f64>, Output = f64>
        + Gradient<Param = DVector<f64>, Gradient = DVector<f64>>
        + Hessian<Param = DVector<f64>, Hessian = DMatrix<f64>>,
{
    fn name(&self) -> &'static str {
        "damped Newton by Cholesky"
    }

    fn init(&mut self, problem: &mut Problem<O>, state: NewtonState) -> Result<(NewtonState, Option<KV>), Error> {
        let start = state.get_param().cloned().ok_or_else(|| Error::msg("no start was given"))?;
        let (cost, gradient) = (problem.cost(&start)?, problem.gradient(&start)?);
        Ok((state.cost(cost).gradient(gradient), None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<O>,
        mut state: NewtonState,
    ) -> Result<(NewtonState, Option<KV>), Error> {
        let from = state.take_param().ok_or_else(|| Error::msg("the point was lost"))?;
        let gradient = state.take_gradient().ok_or_else(|| Error::msg("the gradient was lost"))?;
        let factor = match cholesky(problem.hessian(&from)?) {
            Some(factor) => factor,
            None => factor_with_shift(problem.hessian(&from)?)?,
        };
        let step = -factor.solve(&gradient);
        let arrived = step.amax() <= STEP_TOLERANCE;
        let reached = if arrived {
            // This close to the minimum, costs differ by rounding only and cannot guide a line search.
            let point = &from + step;
            SearchPoint { cost: problem.cost(&point)?, point }
        } else {
            search(problem, &from, &step, gradient.dot(&step), state.get_cost())?
        };
        let gradient = problem.gradient(&reached.point)?;
        let state = state.param(reached.point).gradient(gradient).cost(reached.cost);
        Ok((if arrived { state.terminate_with(TerminationReason::SolverConverged) } else { state }, None))
    }

    fn terminate(&mut self, _state: &NewtonState) -> TerminationStatus {
        TerminationStatus::NotTerminated
    }
}

/// Factors a Hessian that is singular to rounding, as where strengths are so far apart that votes between them hardly curve the
/// loss, after adding the smallest sufficient multiple of the identity (Nocedal and Wright, *Numerical Optimization*, 2006,
/// algorithm 3.3). The step is then shorter in the flat directions and still a descent step.
fn factor_with_shift(hessian: DMatrix<f64>) -> Result<Cholesky<f64, Dyn>, Error> {
    let largest = hessian.diagonal().amax();
    let with = |share: &f64| {
        let mut hessian = hessian.clone();
        (0..hessian.nrows()).for_each(|place| hessian[(place, place)] += share * largest);
        cholesky(hessian)
    };
    DIAGONAL_SHIFTS.iter().find_map(with).ok_or_else(|| Error::new(Singular))
}

struct SearchPoint {
    point: DVector<f64>,
    cost: f64,
}

/// Halves the step until it lowers the cost enough. Near the minimum the true decrease is smaller than the rounding of
/// the cost, so a rise within rounding is accepted; so is a larger rise if the gradient along the step has halved
/// (Hager and Zhang 2005, "approximate Wolfe").
fn search<O>(
    problem: &mut Problem<O>,
    from: &DVector<f64>,
    step: &DVector<f64>,
    slope: f64,
    cost: f64,
) -> Result<SearchPoint, Error>
where
    O: CostFunction<Param = DVector<f64>, Output = f64> + Gradient<Param = DVector<f64>, Gradient = DVector<f64>>,
{
    let rounding = 16.0 * f64::EPSILON * cost.abs();
    let mut length = 1.0;
    for _ in 0..MAX_HALVINGS {
        let point = from + step * length;
        let reached = problem.cost(&point)?;
        let is_lower = reached <= cost + ARMIJO_FRACTION * length * slope + rounding;
        let is_level = reached <= cost + COST_ROUNDING * cost.abs();
        if is_lower || (is_level && problem.gradient(&point)?.dot(step).abs() <= 0.5 * slope.abs()) {
            return Ok(SearchPoint { point, cost: reached });
        }
        length *= 0.5;
    }
    Ok(SearchPoint { point: from.clone(), cost })
}
