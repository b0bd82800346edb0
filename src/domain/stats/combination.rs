//! Which mixture of several series follows a target best.
//!
//! A mixture is convex: weights of at least zero that sum to one, applied to the series as they stand. Best means the
//! greatest Pearson correlation with the target. The weights are fitted to the very values that the correlation is then
//! taken of, so it flatters; [`leave_one_out`] says how a mixture does on a model that it was not fitted to.

mod grid;

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use self::grid::Walk;
use super::Undefined;
use super::correlation::{Correlation, pearson, pearson_r};
use crate::domain::rating::{real, real_len};

/// More points of a grid than this take too long to try.
const MOST_POINTS: u64 = 20_000_000;
/// More series than this have too many subsets to try.
const MOST_SERIES: usize = 16;

/// Where to look for weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Weights that are whole multiples of 1/steps; of equally good ones those that give the first series least.
    Grid {
        /// How many steps from 0 to 1.
        steps: u32,
    },
    /// The exact optimum.
    Exact,
}

/// The best mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// One a series.
    pub weights: Vec<f64>,
    /// Of the mixture with the target that it was fitted to: p takes no account of the fitting.
    pub pearson: Correlation,
}

/// How mixtures do on what they were not fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaveOneOut {
    /// The value of each position by the mixture that was fitted without it.
    pub predicted: Vec<f64>,
    /// The weights of each of these mixtures.
    pub weights: Vec<Vec<f64>>,
}

/// Why there is no best mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CombinationError {
    /// A correlation that is needed does not exist.
    #[error("a mixture cannot be compared: {0}")]
    Undefined(#[from] Undefined),
    /// A series by its position.
    #[error("series {number} cannot be compared with the target: {why}")]
    Series {
        /// Its number, from 1.
        number: usize,
        /// The reason.
        why: Undefined,
    },
    /// Nothing to mix, or too much.
    #[error("{0} series cannot be mixed: give between 1 and {MOST_SERIES}")]
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

/// The mixture of `series` that follows `target` best. All have one value a position.
///
/// # Errors
/// [`CombinationError`].
pub fn best(series: &[&[f64]], target: &[f64], search: Search) -> Result<Combination, CombinationError> {
    let moments = Moments::of(series, target)?;
    let weights = match search {
        Search::Grid { steps } => moments.best_on_grid(steps)?,
        Search::Exact => moments.best_exactly(),
    };
    let pearson = pearson(&mix(series, &weights), target)?;
    Ok(Combination { weights, pearson })
}

/// Σ weight · series, position by position.
#[must_use]
pub fn mix(series: &[&[f64]], weights: &[f64]) -> Vec<f64> {
    let length = series.first().map_or(0, |values| values.len());
    let at = |i: usize| series.iter().zip(weights).map(|(values, weight)| weight * values[i]).sum();
    (0..length).map(at).collect()
}

/// Fits a mixture without each position in turn and applies it to that position.
///
/// # Errors
/// [`CombinationError`] where a mixture without one position does not exist.
pub fn leave_one_out(series: &[&[f64]], target: &[f64], search: Search) -> Result<LeaveOneOut, CombinationError> {
    Moments::of(series, target)?;
    let fit = |position: usize| {
        let rest: Vec<Vec<f64>> = series.iter().map(|values| without(values, position)).collect();
        let rest: Vec<&[f64]> = rest.iter().map(Vec::as_slice).collect();
        best(&rest, &without(target, position), search)
    };
    let fitted: Vec<Result<Combination, CombinationError>> = (0..target.len()).into_par_iter().map(fit).collect();
    let weights = fitted.into_iter().map(|found| Ok(found?.weights)).collect::<Result<Vec<_>, CombinationError>>()?;
    let at = |(position, weights): (usize, &Vec<f64>)| {
        series.iter().zip(weights).map(|(values, weight)| weight * values[position]).sum()
    };
    Ok(LeaveOneOut { predicted: weights.iter().enumerate().map(at).collect(), weights })
}

fn without(values: &[f64], position: usize) -> Vec<f64> {
    [&values[..position], &values[position + 1..]].concat()
}

/// What the correlation of any mixture follows from: r(w) = w·c / √(wᵀSw), for the covariances S of the series and c
/// with the target, both up to one factor.
struct Moments {
    s: DMatrix<f64>,
    c: DVector<f64>,
}

impl Moments {
    fn of(series: &[&[f64]], target: &[f64]) -> Result<Self, CombinationError> {
        if series.is_empty() || series.len() > MOST_SERIES {
            return Err(CombinationError::Count(series.len()));
        }
        for (number, values) in (1..).zip(series) {
            pearson_r(values, target).map_err(|why| CombinationError::Series { number, why })?;
        }
        let centred: Vec<DVector<f64>> = series.iter().map(|values| centre(values)).collect();
        let target = centre(target).normalize();
        Ok(Self {
            s: DMatrix::from_fn(series.len(), series.len(), |i, j| centred[i].dot(&centred[j])),
            c: DVector::from_iterator(series.len(), centred.iter().map(|values| values.dot(&target))),
        })
    }

    /// The correlation of a mixture with the target; `None` where the mixture is constant.
    fn correlation(&self, weights: &DVector<f64>) -> Option<f64> {
        let square = (&self.s * weights).dot(weights);
        (square > 0.0).then(|| weights.dot(&self.c) / square.sqrt())
    }

    fn best_on_grid(&self, steps: u32) -> Result<Vec<f64>, CombinationError> {
        let series = self.c.len();
        if steps == 0 || points(steps, series) > MOST_POINTS {
            return Err(CombinationError::Grid { steps, series });
        }
        Ok(Walk::best(self, steps))
    }

    /// The best of all subsets of series. For a subset whose best mixture has only positive weights these solve
    /// S·w = c up to a factor, and some optimum is of that kind, on series of which none follows from the others. Where
    /// no correlation is positive, one series alone is best.
    fn best_exactly(&self) -> Vec<f64> {
        let series = self.c.len();
        let mut best = Best::default();
        for subset in 1..1_u32 << series {
            let members: Vec<usize> = (0..series).filter(|i| subset & (1 << i) != 0).collect();
            let Some(solved) = self.solve(&members) else { continue };
            let mut weights = DVector::zeros(series);
            members.iter().zip(&solved).for_each(|(&i, &weight)| weights[i] = weight);
            best.consider(self.correlation(&weights), weights.as_slice());
        }
        best.weights
    }

    /// The weights of a subset, which sum to one; `None` unless all are positive.
    fn solve(&self, members: &[usize]) -> Option<Vec<f64>> {
        if members.len() == 1 {
            return Some(vec![1.0]);
        }
        // In units of each series' own spread, so that the size of numbers does not decide what is singular.
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
    fn consider(&mut self, correlation: Option<f64>, weights: &[f64]) {
        if correlation > self.correlation {
            self.correlation = correlation;
            self.weights.clear();
            self.weights.extend_from_slice(weights);
        }
    }
}

fn centre(values: &[f64]) -> DVector<f64> {
    let mean = values.iter().sum::<f64>() / real_len(values.len());
    DVector::from_iterator(values.len(), values.iter().map(|value| value - mean))
}

/// The number of ways to give `steps` steps to `series` series.
fn points(steps: u32, series: usize) -> u64 {
    let mut ways = 1.0;
    for place in 1..series {
        ways *= (f64::from(steps) + real_len(place)) / real_len(place);
    }
    if ways < real(MOST_POINTS) {
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
