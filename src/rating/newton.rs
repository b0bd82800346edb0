//! Newton's method on the Bradley–Terry loss, as a solver that argmin's executor drives.
//!
//! [`PairLoss`] is the loss; its gauges say which sums of strengths stay as they are, since a shift of all strengths of
//! a component changes no probability. [`minimise`] takes full Newton steps by Cholesky where they lower the loss,
//! shorter ones where they do not, and ends when a full step was so short that the next would drown in rounding.

use argmin::core::{
    CostFunction, Error, Executor, Gradient, Hessian, IterState, KV, Problem, Solver, State, TerminationReason,
    TerminationStatus,
};
use nalgebra::{DMatrix, DVector};

use super::comparison::PairTally;
use super::{FitError, real_len};

/// Convergence is quadratic: after a step of this length the error is about its square, which is below rounding.
const LAST_STEP: f64 = 1e-8;
const MAX_ITERATIONS: u64 = 100;
const MAX_HALVINGS: usize = 50;
/// Share of the decrease promised by the slope that a step must bring (Armijo's rule).
const SUFFICIENT: f64 = 1e-4;

/// The negative log likelihood, Σ W·softplus(−d) + L·softplus(d) over pairs with d = θ_first − θ_second.
#[derive(Debug, Clone)]
pub(super) struct PairLoss {
    models: usize,
    pairs: Vec<PairTally>,
    /// Disjoint sets of models whose strengths keep their sum; a set of one keeps its strength.
    gauges: Vec<Vec<usize>>,
    /// argmin works on the mean loss, whose size does not depend on the number of votes.
    votes: f64,
}

/// Where the loss is least.
#[derive(Debug, Clone)]
pub(super) struct Optimum {
    pub(super) strengths: DVector<f64>,
    /// The loss itself, not its mean.
    pub(super) loss: f64,
    pub(super) iterations: u64,
    pub(super) converged: bool,
}

/// Strengths of least loss, found from `start`, whose gauge sums are kept.
pub(super) fn minimise(loss: PairLoss, start: DVector<f64>) -> Result<Optimum, FitError> {
    let votes = loss.votes;
    let found = descend(loss, start)?;
    Ok(Optimum {
        strengths: found.point,
        loss: found.cost * votes,
        iterations: found.iterations,
        converged: found.converged,
    })
}

/// Where a search ended.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) point: DVector<f64>,
    /// The cost there, as the problem states it.
    pub(super) cost: f64,
    pub(super) iterations: u64,
    pub(super) converged: bool,
}

/// The point of least cost of a smooth convex problem, found from `start`.
pub(super) fn descend<O>(problem: O, start: DVector<f64>) -> Result<Found, FitError>
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
    Ok(Found {
        point,
        cost: state.get_cost(),
        iterations: state.get_iter(),
        converged: state.get_termination_reason() == Some(&TerminationReason::SolverConverged),
    })
}

impl PairLoss {
    pub(super) fn new(models: usize, pairs: Vec<PairTally>, gauges: Vec<Vec<usize>>) -> Self {
        let votes = pairs.iter().map(|pair| pair.points_first() + pair.points_second()).sum::<f64>().max(1.0);
        Self { models, pairs, gauges, votes }
    }

    /// Derivative of the loss by each strength.
    pub(super) fn slopes(&self, strengths: &DVector<f64>) -> DVector<f64> {
        let mut slopes = DVector::zeros(self.models);
        for pair in &self.pairs {
            let d = strengths[pair.first] - strengths[pair.second];
            // Two small terms, not a difference of two numbers near one: exact for 9,999 to 1 as well.
            let slope = pair.points_second() * logistic(d) - pair.points_first() * logistic(-d);
            slopes[pair.first] += slope;
            slopes[pair.second] -= slope;
        }
        slopes
    }

    /// Second derivatives of the loss.
    pub(super) fn curvature(&self, strengths: &DVector<f64>) -> DMatrix<f64> {
        let mut curvature = DMatrix::zeros(self.models, self.models);
        for pair in &self.pairs {
            let d = strengths[pair.first] - strengths[pair.second];
            let weight = (pair.points_first() + pair.points_second()) * logistic(d) * logistic(-d);
            curvature[(pair.first, pair.first)] += weight;
            curvature[(pair.second, pair.second)] += weight;
            curvature[(pair.first, pair.second)] -= weight;
            curvature[(pair.second, pair.first)] -= weight;
        }
        curvature
    }
}

/// Takes each gauge's mean out of a vector.
pub(super) fn project(gauges: &[Vec<usize>], vector: &mut DVector<f64>) {
    for gauge in gauges {
        let mean = gauge.iter().map(|&i| vector[i]).sum::<f64>() / real_len(gauge.len());
        gauge.iter().for_each(|&i| vector[i] -= mean);
    }
}

/// Takes each gauge's mean out of every column and row, and puts `stiffness` in the directions so freed: the matrix
/// can then be inverted, and steps within the gauges are those of the matrix itself.
pub(super) fn project_matrix(gauges: &[Vec<usize>], matrix: &mut DMatrix<f64>, stiffness: f64) {
    for gauge in gauges {
        let size = real_len(gauge.len());
        for mut column in matrix.column_iter_mut() {
            let mean = gauge.iter().map(|&i| column[i]).sum::<f64>() / size;
            gauge.iter().for_each(|&i| column[i] -= mean);
        }
        for mut row in matrix.row_iter_mut() {
            let mean = gauge.iter().map(|&i| row[i]).sum::<f64>() / size;
            gauge.iter().for_each(|&i| row[i] -= mean);
        }
        for &i in gauge {
            gauge.iter().for_each(|&j| matrix[(i, j)] += stiffness / size);
        }
    }
}

/// A component's H⁺ but for a constant added to every entry, which no difference of two columns shows.
pub(super) fn inverse_but_for_a_constant(mut curvature: DMatrix<f64>) -> Result<DMatrix<f64>, FitError> {
    let size = real_len(curvature.nrows());
    let stiffness = mean_diagonal(&curvature);
    curvature.add_scalar_mut(stiffness / size);
    let factor = curvature.cholesky().ok_or_else(|| FitError::Solver(Singular.into()))?;
    Ok(factor.inverse())
}

/// 1 / (1 + e^−x), without overflow and exact in relative terms in both tails.
pub(super) fn logistic(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// ln(1 + e^x), without overflow.
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

pub(super) fn mean_diagonal(matrix: &DMatrix<f64>) -> f64 {
    let mean = matrix.trace() / real_len(matrix.nrows());
    if mean > 0.0 { mean } else { 1.0 }
}

impl CostFunction for PairLoss {
    type Param = DVector<f64>;
    type Output = f64;

    fn cost(&self, strengths: &DVector<f64>) -> Result<f64, Error> {
        let total: f64 = self
            .pairs
            .iter()
            .map(|pair| {
                let d = strengths[pair.first] - strengths[pair.second];
                pair.points_first() * softplus(-d) + pair.points_second() * softplus(d)
            })
            .sum();
        Ok(total / self.votes)
    }
}

impl Gradient for PairLoss {
    type Param = DVector<f64>;
    type Gradient = DVector<f64>;

    fn gradient(&self, strengths: &DVector<f64>) -> Result<DVector<f64>, Error> {
        let mut gradient = self.slopes(strengths) / self.votes;
        project(&self.gauges, &mut gradient);
        Ok(gradient)
    }
}

impl Hessian for PairLoss {
    type Param = DVector<f64>;
    type Hessian = DMatrix<f64>;

    fn hessian(&self, strengths: &DVector<f64>) -> Result<DMatrix<f64>, Error> {
        let mut hessian = self.curvature(strengths) / self.votes;
        let stiffness = mean_diagonal(&hessian);
        project_matrix(&self.gauges, &mut hessian, stiffness);
        Ok(hessian)
    }
}

type NewtonState = IterState<DVector<f64>, DVector<f64>, (), DMatrix<f64>, (), f64>;

struct NewtonCholesky;

#[derive(Debug, thiserror::Error)]
#[error("the curvature cannot be inverted: the votes hold two groups of models together too weakly")]
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
        let factor = problem.hessian(&from)?.cholesky().ok_or_else(|| Error::new(Singular))?;
        let step = -factor.solve(&gradient);
        let reached = search(problem, &from, &step, gradient.dot(&step), state.get_cost())?;
        let gradient = problem.gradient(&reached.point)?;
        let state = state.param(reached.point).gradient(gradient).cost(reached.cost);
        let arrived = reached.full && step.amax() <= LAST_STEP;
        Ok((if arrived { state.terminate_with(TerminationReason::SolverConverged) } else { state }, None))
    }

    fn terminate(&mut self, _state: &NewtonState) -> TerminationStatus {
        TerminationStatus::NotTerminated
    }
}

struct Reached {
    point: DVector<f64>,
    cost: f64,
    full: bool,
}

/// Halves the step until it lowers the cost enough. Near the minimum the true decrease is smaller than the rounding of
/// the cost, so a rise by as much as rounding explains is no reason to halve.
fn search<O>(
    problem: &mut Problem<O>,
    from: &DVector<f64>,
    step: &DVector<f64>,
    slope: f64,
    cost: f64,
) -> Result<Reached, Error>
where
    O: CostFunction<Param = DVector<f64>, Output = f64>,
{
    let rounding = 16.0 * f64::EPSILON * cost.abs();
    let mut length = 1.0;
    for halvings in 0..MAX_HALVINGS {
        let point = from + step * length;
        let reached = problem.cost(&point)?;
        if reached <= cost + SUFFICIENT * length * slope + rounding {
            return Ok(Reached { point, cost: reached, full: halvings == 0 });
        }
        length *= 0.5;
    }
    Ok(Reached { point: from.clone(), cost, full: false })
}
