//! The confidence level of an interval.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Degrees of freedom above which Student's t is the normal distribution to six digits.
const NORMAL_DEGREES_OF_FREEDOM: f64 = 1e6;

/// The highest level. Above it, quantiles lose the difference to 1 to rounding.
pub const MAX_LEVEL: f64 = 0.999_999;
/// The lowest level. Below it an interval has no width.
pub const MIN_LEVEL: f64 = 0.000_001;

/// A confidence level that is not between [`MIN_LEVEL`] and [`MAX_LEVEL`].
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("confidence is {}: give a number from {MIN_LEVEL} to {MAX_LEVEL}, for example 0.95", short(*.0))]
pub struct InvalidConfidence(pub f64);

/// Formats a number for messages, in scientific notation where it is long: 1e-300 has 300 digits otherwise.
#[must_use]
pub fn short(number: f64) -> String {
    let digits = number.to_string();
    if digits.len() > 20 { format!("{number:e}") } else { digits }
}

/// Share of intervals that contain the true value, from [`MIN_LEVEL`] to [`MAX_LEVEL`]; 0.95 by default.
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
    /// [`InvalidConfidence`].
    pub fn new(share: f64) -> Result<Self, InvalidConfidence> {
        if (MIN_LEVEL..=MAX_LEVEL).contains(&share) { Ok(Self(share)) } else { Err(InvalidConfidence(share)) }
    }

    /// The Bonferroni-corrected level: if each of `statements` statements holds at it, all hold together at this one. It may be above the
    /// maximum of [`new`](Self::new).
    #[must_use]
    pub fn of_each(self, statements: f64) -> Self {
        Self::with_tail((1.0 - self.0) / statements.max(1.0))
    }

    /// The level 1 − `tail` for a computed tail probability, without the range check of [`new`](Self::new).
    pub(super) fn with_tail(tail: f64) -> Self {
        Self(1.0 - tail)
    }

    /// The level as a share, such as 0.95.
    #[must_use]
    pub fn share(self) -> f64 {
        self.0
    }

    /// Half the width of a normal interval in standard errors: 1.96 at 0.95. Its square is the chi-square quantile with
    /// one degree of freedom.
    #[must_use]
    pub fn z(self) -> f64 {
        Normal::standard().inverse_cdf(f64::midpoint(1.0, self.0)).min(f64::MAX.sqrt())
    }

    /// Half the width of an interval by Student's t with `freedom` degrees of freedom, at least one, in standard errors:
    /// 2.23 at 0.95 and 10 degrees of freedom.
    #[must_use]
    pub fn t(self, freedom: f64) -> f64 {
        let upper = f64::midpoint(1.0, self.0);
        if freedom > NORMAL_DEGREES_OF_FREEDOM {
            return self.z();
        }
        let distribution = StudentsT::new(0.0, 1.0, freedom.max(1.0)).expect("at least one degree of freedom");
        distribution.inverse_cdf(upper).min(f64::MAX.sqrt())
    }

    /// Half the width of an interval in standard errors: by Student's t where the effective number of voters is known,
    /// else normal.
    #[must_use]
    pub fn quantile(self, voters: Option<f64>) -> f64 {
        voters.map_or_else(|| self.z(), |voters| self.t(voters - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_statements_at_once_need_a_level_beyond_the_highest_that_one_can_ask_for() {
        let each = ConfidenceLevel::default().of_each(50_086.0);
        assert!(each.share() > MAX_LEVEL);
        // Each tail beyond it has the probability 0.05/50086/2.
        assert!((each.z() - 4.892).abs() < 0.001, "{}", each.z());
        assert_eq!(ConfidenceLevel::default().of_each(0.0), ConfidenceLevel::default());
    }
}
