//! How sure a fit is: standard errors by the sandwich formula, and the level at which intervals are stated.
//!
//! V = H⁺ B H⁺ with H = Σ c·p(1−p)·uuᵀ, B = Σ c·(y−p)²·uuᵀ, u = e_a − e_b (White 1982; Chiang et al. 2024, section 4).
//! H⁺ is the inverse on the strengths that sum to zero. Nothing is added to H: a penalty would make the intervals of
//! rarely seen models too narrow.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, Normal};

use super::FitError;
use super::bradley_terry::{Fit, Standing, within};
use super::comparison::{PairTally, Tally};
use super::newton::{PairLoss, inverse_but_for_a_constant, logistic};

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

/// Standard errors of the strengths, by position in [`Tally::models`]. `None` for an unbounded model and for one that
/// is alone in its component, where the votes say nothing of its strength.
///
/// # Errors
/// [`FitError::Solver`] where the curvature cannot be inverted.
pub fn sandwich(tally: &Tally, fit: &Fit) -> Result<Vec<Option<f64>>, FitError> {
    let mut errors = vec![None; tally.models.len()];
    for members in fit.members().into_iter().filter(|members| members.len() > 1) {
        let pairs = within(&tally.pairs, &members);
        let strengths = strengths_of(fit, &members);
        for (&model, variance) in members.iter().zip(&variances(pairs, &strengths)?) {
            errors[model] = Some(variance.sqrt());
        }
    }
    Ok(errors)
}

fn strengths_of(fit: &Fit, members: &[usize]) -> DVector<f64> {
    let strength = |&model: &usize| match fit.standings[model] {
        Standing::Rated { strength, .. } => strength,
        Standing::Unbounded { .. } => 0.0,
    };
    DVector::from_iterator(members.len(), members.iter().map(strength))
}

/// The diagonal of H⁺ B H⁺, as Σ b·(H⁺_ia − H⁺_ib)² over pairs: a sum of squares, so nothing cancels.
fn variances(pairs: Vec<PairTally>, strengths: &DVector<f64>) -> Result<DVector<f64>, FitError> {
    let models = strengths.len();
    let loss = PairLoss::new(models, pairs.clone(), Vec::new());
    let inverse: DMatrix<f64> = inverse_but_for_a_constant(loss.curvature(strengths))?;
    let mut variances = DVector::zeros(models);
    for pair in &pairs {
        let weight = squared_residuals(pair, strengths[pair.first] - strengths[pair.second]);
        let spread = inverse.column(pair.first) - inverse.column(pair.second);
        variances.zip_apply(&spread, |variance, spread| *variance += weight * spread * spread);
    }
    Ok(variances)
}

/// Σ (y − p)² over the votes of one pair, p = σ(d).
fn squared_residuals(pair: &PairTally, d: f64) -> f64 {
    let (p, q) = (logistic(d), logistic(-d));
    let half = 0.5 * (p - q);
    pair.first_wins * q * q + pair.second_wins * p * p + pair.halves * half * half
}
