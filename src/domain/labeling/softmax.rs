//! Multinomial logistic regression, fitted by argmin's L-BFGS.
//!
//! P(k | x) ∝ exp(b_k + w_k·x). The loss is the mean of −ln P over the examples plus (λ/2)·Σ w² with λ = 1/(C·n). It is strictly convex in
//! the weights, so the fit starts from zero, reaches the only optimum, and is reproducible to the last bit. The biases have no penalty, so
//! that they follow the frequencies of the labels.

use argmin::core::{CostFunction, Error, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use nalgebra::DVector;

use super::features::Sparse;
use crate::stats::real_len;

/// Inverse regularisation strength C. Between 3 and 10 cross-validation changes little.
const INVERSE_REGULARIZATION: f64 = 3.0;
const LBFGS_MEMORY: usize = 7;
const MAX_ITERATIONS: u64 = 200;
/// Gradient tolerance of the mean loss: a smaller gradient moves no probability by more than about a thousandth.
const GRADIENT_TOLERANCE: f64 = 1e-5;

/// Error of a failed fit.
#[derive(Debug, thiserror::Error)]
#[error("the classifier could not be fitted: {0}")]
pub struct FitFailed(String);

/// Fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Softmax {
    classes: usize,
    /// Weights, one row per feature with one weight per class; the biases are the last row.
    weights: Vec<f64>,
}

impl Softmax {
    /// Fits examples of `features` features to their classes, which are below `classes`.
    ///
    /// # Errors
    /// [`FitFailed`] without examples, or if the optimiser fails.
    pub fn fit(examples: &[(Sparse, usize)], features: usize, classes: usize) -> Result<Self, FitFailed> {
        if examples.is_empty() {
            return Err(FitFailed("there are no examples: give seeds whose texts differ".into()));
        }
        let problem = Loss { examples, classes, penalty: 1.0 / (INVERSE_REGULARIZATION * real_len(examples.len())) };
        let start = DVector::zeros((features + 1) * classes);
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), LBFGS_MEMORY)
            .with_tolerance_grad(GRADIENT_TOLERANCE)
            .map_err(|error| FitFailed(error.to_string()))?;
        let run = Executor::new(problem, solver)
            .configure(|state| state.param(start).max_iters(MAX_ITERATIONS))
            .ctrlc(false)
            .run()
            .map_err(|error| FitFailed(error.to_string()))?;
        let best = run.state.get_best_param().ok_or_else(|| FitFailed("the solver kept no result".into()))?;
        Ok(Self { classes, weights: best.as_slice().to_vec() })
    }

    /// Returns the probability of each class.
    #[must_use]
    pub fn probabilities(&self, example: &Sparse) -> Vec<f64> {
        let mut scores = scores(&self.weights, self.classes, example);
        let log_sum = log_sum(&scores);
        scores.iter_mut().for_each(|score| *score = (*score - log_sum).exp());
        scores
    }
}

struct Loss<'e> {
    examples: &'e [(Sparse, usize)],
    classes: usize,
    penalty: f64,
}

impl Loss<'_> {
    /// Returns the weights without the biases.
    fn penalised<'p>(&self, parameters: &'p [f64]) -> &'p [f64] {
        &parameters[..parameters.len() - self.classes]
    }
}

impl CostFunction for Loss<'_> {
    type Param = DVector<f64>;
    type Output = f64;

    fn cost(&self, parameters: &Self::Param) -> Result<f64, Error> {
        let parameters = parameters.as_slice();
        let mut sum = 0.0;
        for (example, class) in self.examples {
            let scores = scores(parameters, self.classes, example);
            sum += log_sum(&scores) - scores[*class];
        }
        let squares: f64 = self.penalised(parameters).iter().map(|weight| weight * weight).sum();
        Ok(sum / real_len(self.examples.len()) + self.penalty / 2.0 * squares)
    }
}

impl Gradient for Loss<'_> {
    type Param = DVector<f64>;
    type Gradient = DVector<f64>;

    fn gradient(&self, parameters: &Self::Param) -> Result<Self::Gradient, Error> {
        let (parameters, share) = (parameters.as_slice(), 1.0 / real_len(self.examples.len()));
        let mut gradient = vec![0.0; parameters.len()];
        for (slope, weight) in gradient.iter_mut().zip(self.penalised(parameters)) {
            *slope = self.penalty * weight;
        }
        for (example, class) in self.examples {
            let mut errors = scores(parameters, self.classes, example);
            let log_sum = log_sum(&errors);
            errors.iter_mut().for_each(|score| *score = (*score - log_sum).exp() * share);
            errors[*class] -= share;
            let biases = gradient.len() - self.classes;
            add(&mut gradient[biases..], &errors, 1.0);
            for &(feature, value) in example {
                let row = feature as usize * self.classes;
                add(&mut gradient[row..row + self.classes], &errors, value);
            }
        }
        Ok(DVector::from_vec(gradient))
    }
}

/// Computes b_k + w_k·x of each class.
fn scores(parameters: &[f64], classes: usize, example: &Sparse) -> Vec<f64> {
    let mut scores = parameters[parameters.len() - classes..].to_vec();
    for &(feature, value) in example {
        let row = feature as usize * classes;
        add(&mut scores, &parameters[row..row + classes], value);
    }
    scores
}

fn add(to: &mut [f64], row: &[f64], factor: f64) {
    for (to, value) in to.iter_mut().zip(row) {
        *to += factor * value;
    }
}

/// Computes ln Σ exp without overflow.
fn log_sum(scores: &[f64]) -> f64 {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<(Sparse, usize)> {
        vec![
            (vec![(0, 1.0)], 0),
            (vec![(0, 0.8), (1, 0.6)], 0),
            (vec![(1, 1.0)], 1),
            (vec![(1, 0.6), (2, 0.8)], 1),
            (vec![(2, 1.0)], 2),
            (vec![(0, 0.6), (2, 0.8)], 2),
        ]
    }

    #[test]
    fn the_gradient_is_that_of_the_cost() {
        let examples = examples();
        let loss = Loss { examples: &examples, classes: 3, penalty: 0.1 };
        let point = DVector::from_iterator(12, (0..12).map(|i| (f64::from(i) * 0.7).sin()));
        let gradient = loss.gradient(&point).unwrap();
        for i in 0..point.len() {
            let at = |step: f64| {
                let mut moved = point.clone();
                moved[i] += step;
                loss.cost(&moved).unwrap()
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-9, "parameter {i}: {} instead of {slope}", gradient[i]);
        }
    }

    #[test]
    fn a_fit_is_flat_and_gives_probabilities() {
        let examples = examples();
        let fitted = Softmax::fit(&examples, 3, 3).unwrap();
        let loss = Loss { examples: &examples, classes: 3, penalty: 1.0 / (INVERSE_REGULARIZATION * 6.0) };
        let gradient = loss.gradient(&DVector::from_vec(fitted.weights.clone())).unwrap();
        assert!(gradient.norm() < GRADIENT_TOLERANCE, "{}", gradient.norm());
        for (example, class) in &examples {
            let probabilities = fitted.probabilities(example);
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(probabilities.iter().all(|p| *p <= probabilities[*class]), "{probabilities:?}");
        }
        assert!(fitted.probabilities(&vec![]).iter().all(|p| (p - 1.0 / 3.0).abs() < 0.2));
    }
}
