//! The convex mixture of several series that correlates best with a target.
//!
//! A mixture has weights of at least zero that sum to one, applied to the unscaled series. Best means the greatest
//! Pearson correlation with the target. This correlation is in-sample, so it is optimistic: [`permutation_test()`] computes its p-value,
//! and [`leave_one_out`] predicts each value from a mixture fitted without it.

mod grid_search;
mod permutation;

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use self::grid_search::GridSearch;
pub use self::permutation::{PermutationTest, permutation_test};
use super::Undefined;
use super::correlation::{Correlation, pearson, pearson_r};
use super::distribution::squarable_unit;
use super::{real, real_len};

/// Maximum number of grid points; more take too long.
const MAX_POINTS: u64 = 20_000_000;
/// Maximum number of series; more have too many subsets.
const MAX_SERIES: usize = 16;

/// Search method for the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Multiples of 1/steps; of equally good points, the one with the smallest weight of the first series.
    Grid {
        /// Number of steps from 0 to 1.
        steps: u32,
    },
    /// The exact optimum.
    Exact,
}

/// The best mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedMixture {
    /// One weight for each series.
    pub weights: Vec<f64>,
    /// In-sample correlation with the target; p does not account for the fitting.
    pub pearson: Correlation,
}

/// Out-of-sample predictions of mixtures.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaveOneOut {
    /// The value of each position, predicted by the mixture fitted without it.
    pub predicted: Vec<f64>,
    /// The weights of each of these mixtures.
    pub weights: Vec<Vec<f64>>,
}

/// Reason why no best mixture exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MixtureError {
    /// A required correlation is undefined.
    #[error("a mixture has no correlation with the target: {0}")]
    Undefined(#[from] Undefined),
    /// The correlation of one series with the target is undefined.
    #[error("series {number} has no correlation with the target: {why}")]
    Series {
        /// Number of the series, from 1.
        number: usize,
        /// The reason.
        why: Undefined,
    },
    /// The squares of the series with this number, from 1, underflow relative to those of another.
    #[error(
        "series {0} is too small beside the largest one to be mixed with it: divide each by a number that brings them to one \
         scale"
    )]
    Scale(usize),
    /// No series, or too many.
    #[error("{0} series cannot be mixed: give between 1 and {MAX_SERIES}")]
    Count(usize),
    /// The grid is too fine.
    #[error("a grid of {steps} steps over {series} series is too fine: take fewer steps or the exact optimum")]
    Grid {
        /// Steps from 0 to 1.
        steps: u32,
        /// Number of series.
        series: usize,
    },
}

/// The mixture of `series` that correlates best with `target`. All have the same length.
///
/// # Errors
/// [`MixtureError`].
pub fn best(series: &[&[f64]], target: &[f64], search: Search) -> Result<FittedMixture, MixtureError> {
    let moments = Moments::new(series, target)?;
    let weights = match search {
        Search::Grid { steps } => moments.best_on_grid(steps)?,
        Search::Exact => moments.best_exactly(),
    };
    let pearson = pearson(&mix(series, &weights), target)?;
    Ok(FittedMixture { weights, pearson })
}

/// Σ weight · series, position by position.
#[must_use]
pub fn mix(series: &[&[f64]], weights: &[f64]) -> Vec<f64> {
    let length = series.first().map_or(0, |values| values.len());
    let at = |i: usize| series.iter().zip(weights).map(|(values, weight)| weight * values[i]).sum();
    (0..length).map(at).collect()
}

/// For each position, fits a mixture without it and predicts it.
///
/// # Errors
/// [`MixtureError`] if a mixture without one position does not exist.
pub fn leave_one_out(series: &[&[f64]], target: &[f64], search: Search) -> Result<LeaveOneOut, MixtureError> {
    Moments::new(series, target)?;
    let fit = |position: usize| {
        let rest: Vec<Vec<f64>> = series.iter().map(|values| without(values, position)).collect();
        let rest: Vec<&[f64]> = rest.iter().map(Vec::as_slice).collect();
        best(&rest, &without(target, position), search)
    };
    let fitted: Vec<Result<FittedMixture, MixtureError>> = (0..target.len()).into_par_iter().map(fit).collect();
    let weights = fitted.into_iter().map(|found| Ok(found?.weights)).collect::<Result<Vec<_>, MixtureError>>()?;
    let at = |(position, weights): (usize, &Vec<f64>)| {
        series.iter().zip(weights).map(|(values, weight)| weight * values[position]).sum()
    };
    Ok(LeaveOneOut { predicted: weights.iter().enumerate().map(at).collect(), weights })
}

fn without(values: &[f64], position: usize) -> Vec<f64> {
    [&values[..position], &values[position + 1..]].concat()
}

/// Sufficient statistics of the correlation of a mixture: r(w) = w·c / √(wᵀSw), for the covariances S of the series and
/// c with the target, up to one factor.
struct Moments {
    s: DMatrix<f64>,
    c: DVector<f64>,
}

impl Moments {
    fn new(series: &[&[f64]], target: &[f64]) -> Result<Self, MixtureError> {
        if series.is_empty() || series.len() > MAX_SERIES {
            return Err(MixtureError::Count(series.len()));
        }
        for (number, values) in (1..).zip(series) {
            pearson_r(values, target).map_err(|why| MixtureError::Series { number, why })?;
        }
        let centred = centred(series);
        let s = DMatrix::from_fn(series.len(), series.len(), |i, j| centred[i].dot(&centred[j]));
        if let Some(place) = (0..series.len()).find(|&place| !s[(place, place)].is_normal()) {
            return Err(MixtureError::Scale(place + 1));
        }
        let target = unit_vector(target);
        Ok(Self { s, c: DVector::from_iterator(series.len(), centred.iter().map(|values| values.dot(&target))) })
    }

    /// The correlation of a mixture with the target; `None` for a constant mixture.
    fn correlation(&self, weights: &DVector<f64>) -> Option<f64> {
        let square = (&self.s * weights).dot(weights);
        (square > 0.0).then(|| weights.dot(&self.c) / square.sqrt())
    }

    fn best_on_grid(&self, steps: u32) -> Result<Vec<f64>, MixtureError> {
        let series = self.c.len();
        if steps == 0 || points(steps, series) > MAX_POINTS {
            return Err(MixtureError::Grid { steps, series });
        }
        Ok(GridSearch::best(self, steps))
    }

    /// The best mixture over all subsets of series. A subset whose best mixture has only positive weights has w ∝ S⁻¹c,
    /// and some optimum is of this kind, on linearly independent series. If no correlation is positive, a single series
    /// is best.
    fn best_exactly(&self) -> Vec<f64> {
        let series = self.c.len();
        let mut best = Best::default();
        for subset in 1..1_u32 << series {
            let members: Vec<usize> = (0..series).filter(|i| subset & (1 << i) != 0).collect();
            let Some(solved) = self.solve(&members) else { continue };
            let mut weights = DVector::zeros(series);
            members.iter().zip(&solved).for_each(|(&i, &weight)| weights[i] = weight);
            best.keep_if_better(self.correlation(&weights), weights.as_slice());
        }
        best.weights
    }

    /// The correlation of the exact optimum.
    fn best_correlation(&self) -> f64 {
        self.correlation(&DVector::from_vec(self.best_exactly())).unwrap_or(-1.0)
    }

    /// The weights of a subset, which sum to one; `None` unless all are positive.
    fn solve(&self, members: &[usize]) -> Option<Vec<f64>> {
        if members.len() == 1 {
            return Some(vec![1.0]);
        }
        // Standardised, so that the scale of a series does not affect the test for singularity.
        let spread: Vec<f64> = members.iter().map(|&i| self.s[(i, i)].sqrt()).collect();
        let s = DMatrix::from_fn(members.len(), members.len(), |i, j| {
            self.s[(members[i], members[j])] / (spread[i] * spread[j])
        });
        let c = DVector::from_fn(members.len(), |i, _| self.c[members[i]] / spread[i]);
        let factor = s.cholesky().filter(|factor| factor.l_dirty().diagonal().min() > 1e-7)?;
        let solved = factor.solve(&c);
        let raw: Vec<f64> = solved.iter().zip(&spread).map(|(weight, spread)| weight / spread).collect();
        let sum: f64 = raw.iter().sum();
        raw.iter().all(|&weight| weight > 0.0).then(|| raw.iter().map(|weight| weight / sum).collect())
    }
}

/// The best mixture so far.
#[derive(Default)]
struct Best {
    correlation: Option<f64>,
    weights: Vec<f64>,
}

impl Best {
    fn keep_if_better(&mut self, correlation: Option<f64>, weights: &[f64]) {
        if correlation > self.correlation {
            self.correlation = correlation;
            self.weights.clear();
            self.weights.extend_from_slice(weights);
        }
    }
}

/// Deviations of each series from its mean, all in one unit: a mixture weights the unscaled series.
fn centred(series: &[&[f64]]) -> Vec<DVector<f64>> {
    let unit = unit_of(series.iter().copied().flatten());
    series.iter().map(|values| centre(values, unit)).collect()
}

/// Deviations from the mean, as a unit vector.
fn unit_vector(values: &[f64]) -> DVector<f64> {
    centre(values, unit_of(values)).normalize()
}

/// The unit in which values can be squared and added: 1 for nearly all.
fn unit_of<'v>(values: impl IntoIterator<Item = &'v f64>) -> f64 {
    squarable_unit(values.into_iter().fold(0.0_f64, |largest, value| largest.max(value.abs())))
}

fn centre(values: &[f64], unit: f64) -> DVector<f64> {
    let mean = values.iter().map(|value| value / unit).sum::<f64>() / real_len(values.len());
    DVector::from_iterator(values.len(), values.iter().map(|value| value / unit - mean))
}

/// Number of grid points: ways to distribute `steps` steps over `series` series.
fn points(steps: u32, series: usize) -> u64 {
    let mut ways = 1.0;
    for place in 1..series {
        ways *= (f64::from(steps) + real_len(place)) / real_len(place);
    }
    if ways < real(MAX_POINTS) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and the most there may be"
        )]
        let whole = ways.round() as u64;
        whole
    } else {
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::resample::BootstrapOptions;

    const SERIES: [[f64; 6]; 2] = [[61.2, 58.4, 50.3, 47.9, 44.0, 39.5], [61.5, 70.1, 49.2, 66.0, 40.3, 51.7]];
    const TARGET: [f64; 6] = [1105.0, 1140.0, 1011.0, 1062.0, 914.0, 948.0];

    #[test]
    fn series_whose_squares_overflow_or_vanish_have_the_same_mixture() {
        let mixed = |unit: f64| {
            let scaled = SERIES.map(|values| values.map(|value| value * unit));
            let series = scaled.each_ref().map(|values| values.as_slice());
            let target = TARGET.map(|value| value * unit);
            let tested = permutation_test(&series, &target, BootstrapOptions { replicates: 99, seed: 0 }).unwrap();
            (best(&series, &target, Search::Exact).unwrap(), tested)
        };
        let (expected, by_chance) = mixed(1.0);
        assert!(expected.weights.iter().all(|&weight| weight > 0.1), "{expected:?}");
        for unit in [1e197, 1e-197, 1e304] {
            let (found, tested) = mixed(unit);
            for (found, expected) in found.weights.iter().zip(&expected.weights) {
                assert!((found - expected).abs() < 1e-9, "{unit}: {found} {expected}");
            }
            assert!((found.pearson.r - expected.pearson.r).abs() < 1e-9, "{unit}: {found:?}");
            assert_eq!(tested, by_chance, "{unit}");
        }
    }

    #[test]
    fn a_series_whose_squares_vanish_beside_those_of_another_is_named() {
        let apart: [&[f64]; 2] = [&[1e197, 3e197, 2e197], &[5.0, 1.0, 2.0]];
        assert_eq!(best(&apart, &[1.0, 2.0, 4.0], Search::Exact), Err(MixtureError::Scale(2)));
    }
}
