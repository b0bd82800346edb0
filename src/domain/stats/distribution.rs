//! Summary statistics of one series: mean, standard deviation, quantiles.

use std::ops::RangeInclusive;

use serde::Serialize;

use super::real_len;
use super::{SeriesSide, Undefined};

/// Numbers whose squares neither overflow nor vanish.
const SQUARABLE_RANGE: RangeInclusive<f64> = 1e-130..=1e130;

/// Maximum ratio of mean to standard deviation at which a mean is zero up to rounding.
const MEAN_ROUNDING: f64 = 1e-12;

/// The unit in which numbers of this size can be squared: 1 for nearly all.
pub(super) fn squarable_unit(size: f64) -> f64 {
    if size > 0.0 && !SQUARABLE_RANGE.contains(&size) { size } else { 1.0 }
}

/// Mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// The mean.
    pub mean: f64,
    /// Sample standard deviation, with divisor n − 1.
    pub std_dev: f64,
}

impl Summary {
    /// Summarises values.
    ///
    /// # Errors
    /// [`Undefined::TooFew`] for fewer than two values, [`Undefined::NotFinite`].
    pub fn new(values: &[f64]) -> Result<Self, Undefined> {
        if values.len() < 2 {
            return Err(Undefined::TooFew { found: values.len(), needed: 2 });
        }
        let mean = mean(values)?;
        let farthest = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        let unit = squarable_unit(farthest);
        let squares: f64 = values.iter().map(|value| ((value - mean) / unit).powi(2)).sum();
        let std_dev = unit * (squares / real_len(values.len() - 1)).sqrt();
        if std_dev.is_finite() {
            Ok(Self { n: values.len(), mean, std_dev })
        } else {
            Err(Undefined::NotFinite(SeriesSide::First))
        }
    }

    /// Coefficient of variation: standard deviation divided by mean, for values whose mean is above zero by more than rounding.
    ///
    /// # Errors
    /// [`Undefined::MeanNotPositive`].
    pub fn coefficient_of_variation(&self) -> Result<f64, Undefined> {
        let is_positive = self.mean > MEAN_ROUNDING * self.std_dev;
        if is_positive { Ok(self.std_dev / self.mean) } else { Err(Undefined::MeanNotPositive) }
    }
}

/// The mean.
///
/// # Errors
/// [`Undefined::TooFew`] without values, [`Undefined::NotFinite`].
pub fn mean(values: &[f64]) -> Result<f64, Undefined> {
    if values.is_empty() {
        return Err(Undefined::TooFew { found: 0, needed: 1 });
    }
    if !values.iter().all(|value| value.is_finite()) {
        return Err(Undefined::NotFinite(SeriesSide::First));
    }
    let (n, sum) = (real_len(values.len()), values.iter().sum::<f64>());
    // The sum of very large numbers may overflow where their mean does not.
    Ok(if sum.is_finite() { sum / n } else { values.iter().map(|value| value / n).sum() })
}

/// The quantile at a share of ascending values, of which there is at least one; interpolates between the two nearest.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let (below, above, part) = nearest(sorted.len(), share);
    interpolate(sorted[below], sorted[above], part)
}

/// Computes [`quantile`] of values in any order. Reorders them in linear time, which is faster than sorting.
pub fn quantile_of_unsorted(values: &mut [f64], share: f64) -> f64 {
    let (below, above, part) = nearest(values.len(), share);
    let (_, one, larger) = values.select_nth_unstable_by(below, f64::total_cmp);
    let next = larger.iter().copied().min_by(f64::total_cmp).filter(|_| above > below);
    interpolate(*one, next.unwrap_or(*one), part)
}

/// The two positions around a share of this number of values, and the fraction of the way between them.
fn nearest(values: usize, share: f64) -> (usize, usize, f64) {
    let place = share * real_len(values - 1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length is a position")]
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    (below, above, place - place.floor())
}

fn interpolate(one: f64, other: f64, part: f64) -> f64 {
    // Equal infinities cannot be interpolated.
    if one.total_cmp(&other).is_eq() { one } else { one + part * (other - one) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_whose_squares_overflow_or_vanish_have_a_standard_deviation() {
        for unit in [1e-300, 1.0, 1e300] {
            let summary = Summary::new(&[2.0 * unit, 4.0 * unit, 9.0 * unit]).unwrap();
            assert!((summary.mean / unit - 5.0).abs() < 1e-12, "{summary:?}");
            assert!((summary.std_dev / unit - 13.0_f64.sqrt()).abs() < 1e-12, "{summary:?}");
        }
        assert!((mean(&[1.5e308; 3]).unwrap() / 1.5e308 - 1.0).abs() < 1e-12);
        let farthest = Summary::new(&[f64::MAX, f64::MIN]);
        assert_eq!(farthest, Err(Undefined::NotFinite(SeriesSide::First)), "their deviation is no number");
    }

    #[test]
    fn undefined_summaries_have_a_reason() {
        assert_eq!(Summary::new(&[1.0]), Err(Undefined::TooFew { found: 1, needed: 2 }));
        assert_eq!(mean(&[]), Err(Undefined::TooFew { found: 0, needed: 1 }));
        assert_eq!(Summary::new(&[1.0, f64::NAN]), Err(Undefined::NotFinite(SeriesSide::First)));
        for values in [&[-1.0, 1.0][..], &[0.0, 0.0], &[-2.0, -4.0], &[0.1, 0.2, -0.3], &[-0.1, -0.2, 0.3]] {
            let variation = Summary::new(values).unwrap().coefficient_of_variation();
            assert_eq!(variation, Err(Undefined::MeanNotPositive), "{values:?}");
        }
        let summary = Summary::new(&[2.0, 4.0, 9.0]).unwrap();
        assert_eq!((summary.mean, summary.std_dev), (5.0, 13.0_f64.sqrt()));
    }

    #[test]
    fn a_quantile_is_the_same_in_any_order() {
        let values = [3.0, -0.0, f64::INFINITY, 0.5, 0.0, f64::INFINITY, -2.0, 1.0];
        for length in 1..=values.len() {
            let mut sorted = values[..length].to_vec();
            sorted.sort_by(f64::total_cmp);
            for share in [0.0, 0.05, 0.25, 0.5, 0.6, 0.95, 1.0] {
                let found = quantile_of_unsorted(&mut values[..length].to_vec(), share);
                assert_eq!(found.to_bits(), quantile(&sorted, share).to_bits(), "{share} of {length}");
            }
        }
    }
}
