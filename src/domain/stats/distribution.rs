//! Summary statistics of one series: mean, standard deviation, quantiles.

use serde::Serialize;

use super::real_len;
use super::{SeriesSide, Undefined};

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
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Ok(Self { n: values.len(), mean, std_dev: (squares / real_len(values.len() - 1)).sqrt() })
    }

    /// Coefficient of variation: standard deviation divided by mean.
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
        return Err(Undefined::NotFinite(SeriesSide::First));
    }
    Ok(values.iter().sum::<f64>() / real_len(values.len()))
}

/// The quantile at a share of ascending values, of which there is at least one; interpolates between the two nearest.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * real_len(sorted.len() - 1);
    let below = place.floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length is a position")]
    let (one, other) = (sorted[below as usize], sorted[place.ceil() as usize]);
    // Equal infinities cannot be interpolated.
    if one.total_cmp(&other).is_eq() { one } else { one + (place - below) * (other - one) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_summaries_have_a_reason() {
        assert_eq!(Summary::new(&[1.0]), Err(Undefined::TooFew { found: 1, needed: 2 }));
        assert_eq!(mean(&[]), Err(Undefined::TooFew { found: 0, needed: 1 }));
        assert_eq!(Summary::new(&[1.0, f64::NAN]), Err(Undefined::NotFinite(SeriesSide::First)));
        assert_eq!(Summary::new(&[-1.0, 1.0]).unwrap().coefficient_of_variation(), Err(Undefined::ZeroMean));
        let summary = Summary::new(&[2.0, 4.0, 9.0]).unwrap();
        assert_eq!((summary.mean, summary.std_dev), (5.0, 13.0_f64.sqrt()));
    }
}
