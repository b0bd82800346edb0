//! Statistics: correlation of series, agreement of judges, and their uncertainty.
//!
//! Pure. [`correlation`] compares two series, [`correlation_matrix`] every two of many, [`distribution`] summarises one,
//! [`convex_mixture`] finds the mixture that correlates best with a target, [`agreement`] compares people with judges,
//! [`isotonic`] calibrates one series on another, [`resample`] is the bootstrap, [`item_patterns`] resamples items with all of their units,
//! [`max_t`] compares many estimates at once, [`paired`] two measurements of the same units, [`confidence_sequence`] has intervals that
//! hold at any time of inspection, [`cholesky`] inverts large matrices. An undefined number is an [`Undefined`] with its reason, never a
//! NaN.

pub mod agreement;
pub mod binomial;
pub mod cholesky;
pub mod confidence;
pub mod confidence_sequence;
pub mod convex_mixture;
pub mod correlation;
pub mod correlation_matrix;
pub mod distribution;
pub mod fisher_exact;
pub mod isotonic;
pub mod item_patterns;
pub mod max_t;
pub mod paired;
pub mod proportion;
pub mod resample;

mod exact_p_values;
mod ranks;

pub use ranks::ranks;

use schemars::JsonSchema;
use serde::Serialize;

fn is_or_are(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// Reason why a statistic is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undefined {
    /// Too few values.
    #[error("there {} only {found} of the {needed} values needed", is_or_are(*.found))]
    TooFew {
        /// Number of values.
        found: usize,
        /// Minimum number of values.
        needed: usize,
    },
    /// The two series have different lengths.
    #[error("the two series have {x} and {y} values, not the same number")]
    Lengths {
        /// Length of the first series.
        x: usize,
        /// Length of the second series.
        y: usize,
    },
    /// A constant series has no correlation.
    #[error("all values of the {0} series are equal")]
    Constant(SeriesSide),
    /// A value is infinite or not a number.
    #[error("the {0} series has a value that is not a finite number")]
    NotFinite(SeriesSide),
    /// The correlation is exactly ±1, so Fisher's z is infinite.
    #[error("the correlation is perfect, so its interval has no width to estimate")]
    Perfect,
    /// All observations are equal, so chance alone agrees always.
    #[error("all ratings are equal, so that chance alone would agree as well")]
    NoVariation,
    /// A divisor, the mean, is zero or negative.
    #[error("the mean is not positive")]
    MeanNotPositive,
    /// All replicates of a statistic are equal.
    #[error("all resamples give the same number, so they do not show how uncertain it is")]
    NoSpread,
    /// There are no observations.
    #[error("there is nothing to compare")]
    Nothing,
}

impl Undefined {
    /// The error for the two series in the other order.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Lengths { x, y } => Self::Lengths { x: y, y: x },
            Self::Constant(series) => Self::Constant(series.other()),
            Self::NotFinite(series) => Self::NotFinite(series.other()),
            same => same,
        }
    }
}

/// One of two series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesSide {
    /// The first series.
    First,
    /// The second series.
    Second,
}

impl SeriesSide {
    fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

impl std::fmt::Display for SeriesSide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Second => "second",
        })
    }
}

/// An interval at a confidence level stated elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// Count of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Share {
    /// The count.
    pub of: u64,
    /// The total.
    pub total: u64,
}

impl Share {
    /// The share as a number between 0 and 1.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] for a total of 0.
    pub fn rate(self) -> Result<f64, Undefined> {
        if self.total == 0 { Err(Undefined::Nothing) } else { Ok(real(self.of) / real(self.total)) }
    }

    /// Counts one more observation.
    pub fn count(&mut self, holds: bool) {
        self.of += u64::from(holds);
        self.total += 1;
    }
}

/// A count as a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "a count of votes stays below 2^53, where f64 is exact")]
pub fn real(count: u64) -> f64 {
    count as f64
}

/// A length as a floating-point number.
pub fn real_len(length: usize) -> f64 {
    real(u64::try_from(length).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_value_is_singular() {
        let said = [1, 2].map(|found| Undefined::TooFew { found, needed: 3 }.to_string());
        assert_eq!(said, ["there is only 1 of the 3 values needed", "there are only 2 of the 3 values needed"]);
    }
}
