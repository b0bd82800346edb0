//! What a series of numbers is like: its mean and how far it spreads.

use serde::Serialize;

use super::{Series, Undefined};
use crate::domain::rating::real_len;

/// Mean and spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of a sample: squares divided by n − 1.
    pub std_dev: f64,
}

impl Summary {
    /// Describes values.
    ///
    /// # Errors
    /// [`Undefined::TooFew`] under two values, [`Undefined::NotFinite`].
    pub fn of(values: &[f64]) -> Result<Self, Undefined> {
        if values.len() < 2 {
            return Err(Undefined::TooFew { found: values.len(), needed: 2 });
        }
        let mean = mean(values)?;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Ok(Self { n: values.len(), mean, std_dev: (squares / real_len(values.len() - 1)).sqrt() })
    }

    /// The coefficient of variation: deviation over mean.
    ///
    /// # Errors
    /// [`Undefined::ZeroMean`].
    pub fn coefficient_of_variation(&self) -> Result<f64, Undefined> {
        if self.mean == 0.0 { Err(Undefined::ZeroMean) } else { Ok(self.std_dev / self.mean) }
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
        return Err(Undefined::NotFinite(Series::First));
    }
    Ok(values.iter().sum::<f64>() / real_len(values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_spread_or_no_mean_says_why() {
        assert_eq!(Summary::of(&[1.0]), Err(Undefined::TooFew { found: 1, needed: 2 }));
        assert_eq!(mean(&[]), Err(Undefined::TooFew { found: 0, needed: 1 }));
        assert_eq!(Summary::of(&[1.0, f64::NAN]), Err(Undefined::NotFinite(Series::First)));
        assert_eq!(Summary::of(&[-1.0, 1.0]).unwrap().coefficient_of_variation(), Err(Undefined::ZeroMean));
        let summary = Summary::of(&[2.0, 4.0, 9.0]).unwrap();
        assert_eq!((summary.mean, summary.std_dev), (5.0, 13.0_f64.sqrt()));
    }
}
