//! How sure a fit is: standard errors by the sandwich formula, and the level at which intervals are stated.
//!
//! V = H⁺ B H⁺ with H = Σ c·p(1−p)·uuᵀ, B = Σ c·(y−p)²·uuᵀ, u = e_a − e_b (White 1982; Chiang et al. 2024, section 4).
//! H⁺ is the inverse on the strengths that sum to zero. Nothing is added to H: a penalty would make the intervals of
//! rarely seen models too narrow. Where votes have weights w, H sums w and B sums w². Where ν is fitted as well, H and
//! B hold it too, so that the intervals of the strengths allow for it.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, Normal};

use super::FitError;
use super::block::Block;
use super::bradley_terry::Fit;
use super::loss::{OutcomeProbabilities, Score};
use super::newton::inverse_but_for_a_constant;
use super::tally::{PairTally, Tally};

/// The share of intervals that hold the true value, strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceLevel(f64);

impl Default for ConfidenceLevel {
    fn default() -> Self {
        Self(0.95)
    }
}

impl ConfidenceLevel {
    /// Checks a level.
    ///
    /// # Errors
    /// [`FitError::Confidence`] unless 0 < `share` < 1.
    pub fn new(share: f64) -> Result<Self, FitError> {
        if share > 0.0 && share < 1.0 { Ok(Self(share)) } else { Err(FitError::Confidence(share)) }
    }

    /// As a share, such as 0.95.
    #[must_use]
    pub fn share(self) -> f64 {
        self.0
    }

    /// Half the width of a normal interval in standard errors: 1.96 at 0.95. The square is the quantile of chi-square
    /// with one degree of freedom.
    #[must_use]
    pub fn z(self) -> f64 {
        Normal::standard().inverse_cdf(f64::midpoint(1.0, self.0)).min(f64::MAX.sqrt())
    }
}

/// How sure a fit is of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Uncertainty {
    /// Standard errors of the strengths, as [`sandwich`] gives them.
    errors: Vec<Option<f64>>,
    /// Standard error of ln ν, where it was fitted.
    log_nu: Option<f64>,
}

/// A standard error of a strength that is nothing but rounding.
const ROUNDING: f64 = 1e-9;

impl Uncertainty {
    /// Nothing is known.
    pub(super) fn unknown(models: usize) -> Self {
        Self { errors: vec![None; models], log_nu: None }
    }

    /// Puts in the variances of the parameters of a block. A variance of nothing is no knowledge: it comes of votes that all
    /// turned out as the fit has them, such as a single tie of equals.
    pub(super) fn put(&mut self, block: &Block, variances: &DVector<f64>) {
        for (&model, variance) in block.members.iter().zip(variances) {
            self.errors[model] = Some(variance.sqrt()).filter(|error| *error > ROUNDING);
        }
        self.log_nu = variances.iter().nth(block.members.len()).map(|variance| variance.sqrt());
    }
}

/// The ends of an interval, infinite where it is open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ends {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// Standard error, where it is known.
    pub(super) error: Option<f64>,
}

/// Intervals of the strengths by model, and of ln ν; none where the votes say nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intervals {
    pub(super) strengths: Vec<Option<Ends>>,
    pub(super) log_nu: Option<Ends>,
}

impl Intervals {
    /// No intervals.
    pub(super) fn none(models: usize) -> Self {
        Self { strengths: vec![None; models], log_nu: None }
    }
}

impl Uncertainty {
    /// Normal intervals around a fit.
    pub(super) fn around(&self, fit: &Fit, level: ConfidenceLevel) -> Intervals {
        let ends = |(at, error): (f64, f64)| {
            let margin = level.z() * error;
            Ends { lower: at - margin, upper: at + margin, error: Some(error) }
        };
        let strengths = fit.strengths().zip(&self.errors).map(|(strength, error)| strength.zip(*error).map(ends));
        Intervals { strengths: strengths.collect(), log_nu: fit.log_nu.zip(self.log_nu).map(ends) }
    }
}

/// Standard errors of the strengths by the sandwich formula, by position in [`Tally::models`]. `None` for an unbounded model
/// and for one that is alone in its component, where the votes say nothing of its strength.
///
/// # Errors
/// [`FitError::Solver`] where the curvature cannot be inverted.
pub fn sandwich(tally: &Tally, fit: &Fit) -> Result<Vec<Option<f64>>, FitError> {
    Ok(joint_sandwich(tally, fit)?.errors)
}

/// Standard errors of all parameters by the sandwich formula.
pub(super) fn joint_sandwich(tally: &Tally, fit: &Fit) -> Result<Uncertainty, FitError> {
    let mut found = Uncertainty::unknown(tally.models.len());
    let squares = tally.squares.as_ref().unwrap_or(&tally.pairs);
    for block in fit.blocks() {
        found.put(&block, &variances(&block, &tally.pairs, squares, &block.point(fit))?);
    }
    Ok(found)
}

/// The diagonal of H⁺ B H⁺, as Σ w·(H⁺ s)² over pairs, s being the score of a vote: a sum of squares, so nothing cancels.
fn variances(
    block: &Block,
    pairs: &[PairTally],
    squares: &[PairTally],
    point: &DVector<f64>,
) -> Result<DVector<f64>, FitError> {
    let inverse: DMatrix<f64> = inverse_but_for_a_constant(&block.loss(pairs), point)?;
    let log_nu = point.iter().nth(block.members.len()).copied();
    let mut variances = DVector::zeros(point.len());
    for pair in &block.pairs(squares) {
        let d = point[pair.first] - point[pair.second];
        let scores = SquaredScores::of(pair, block.likelihood.chances(d, log_nu.unwrap_or(0.0)));
        let spread = inverse.column(pair.first) - inverse.column(pair.second);
        variances.zip_apply(&spread, |variance, spread| *variance += scores.difference * spread * spread);
        if log_nu.is_some() {
            let nu = inverse.column(block.members.len());
            variances.zip_zip_apply(&spread, &nu, |variance, spread, nu| {
                *variance += nu * (2.0 * scores.both * spread + scores.log_nu * nu);
            });
        }
    }
    Ok(variances)
}

/// Sums over the votes of a pair of the products of their scores.
struct SquaredScores {
    difference: f64,
    both: f64,
    log_nu: f64,
}

impl SquaredScores {
    fn of(pair: &PairTally, chances: OutcomeProbabilities) -> Self {
        let votes = [
            (pair.first_wins, chances.of_first()),
            (pair.second_wins, chances.of_second()),
            (pair.halves, chances.of_neither()),
        ];
        let sum = |product: fn(Score) -> f64| votes.iter().map(|&(weight, score)| weight * product(score)).sum();
        Self {
            difference: sum(|score| score.difference * score.difference),
            both: sum(|score| score.difference * score.log_nu),
            log_nu: sum(|score| score.log_nu * score.log_nu),
        }
    }
}
