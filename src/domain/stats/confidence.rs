//! The confidence level of an interval.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Degrees of freedom above which Student's t is the normal distribution to six digits.
const MANY: f64 = 1e6;

/// Quantiles of Student's t beyond this are infinite.
const UNBOUNDED: f64 = 1e12;

/// The highest level. Beyond it nothing is left of the difference to 1 in the quantiles.
pub const HIGHEST: f64 = 0.999_999;
/// The lowest level. Below it an interval is its estimate.
pub const LOWEST: f64 = 0.000_001;

/// A confidence level that is not between [`LOWEST`] and [`HIGHEST`].
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("confidence is {}: give a number from {LOWEST} to {HIGHEST}, for example 0.95", short(*.0))]
pub struct InvalidConfidence(pub f64);

/// The number as a message shows it: 1e-300 has 300 digits otherwise.
#[must_use]
pub fn short(number: f64) -> String {
    let digits = number.to_string();
    if digits.len() > 20 { format!("{number:e}") } else { digits }
}

/// Share of intervals that contain the true value, from [`LOWEST`] to [`HIGHEST`]; 0.95 by default.
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
        if (LOWEST..=HIGHEST).contains(&share) { Ok(Self(share)) } else { Err(InvalidConfidence(share)) }
    }

    /// The level at which each of so many statements has to hold, so that all hold together at this one (Bonferroni). It may lie
    /// beyond what [`new`](Self::new) takes.
    #[must_use]
    pub fn of_each(self, statements: f64) -> Self {
        Self::with_tail((1.0 - self.0) / statements.max(1.0))
    }

    /// The level that is missed with this probability, which follows from others and may be smaller than a level that
    /// somebody asks for.
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
        if freedom > MANY {
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

/// The quantile of Student's t with `freedom` degrees of freedom whose tail probability is that of the standard normal
/// distribution at `z`, which is positive. At least `z`; infinite below one degree of freedom, beyond about 10¹² and where that
/// probability is too small for a number.
#[must_use]
pub fn t_at_tail_of(z: f64, freedom: f64) -> f64 {
    if freedom > MANY {
        return z;
    }
    let tail = Normal::standard().sf(z);
    let distribution = StudentsT::new(0.0, 1.0, freedom).ok().filter(|_| freedom >= 1.0 && tail >= f64::MIN_POSITIVE);
    let Some(distribution) = distribution else { return f64::INFINITY };
    let (mut below, mut above) = (z, 2.0 * z);
    while distribution.sf(above) > tail {
        if above > UNBOUNDED {
            return f64::INFINITY;
        }
        (below, above) = (above, 2.0 * above);
    }
    // Bisection until no number lies between. The library's own inverse has an absolute error that is large far out in the tail.
    loop {
        let middle = f64::midpoint(below, above);
        if middle <= below || middle >= above {
            return above;
        }
        if distribution.sf(middle) > tail {
            below = middle;
        } else {
            above = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_statements_at_once_need_a_level_beyond_the_highest_that_one_can_ask_for() {
        let each = ConfidenceLevel::default().of_each(50_086.0);
        assert!(each.share() > HIGHEST);
        // Half of 0.05/50086 lies beyond it on either side.
        assert!((each.z() - 4.892).abs() < 0.001, "{}", each.z());
        assert_eq!(ConfidenceLevel::default().of_each(0.0), ConfidenceLevel::default());
    }

    #[test]
    fn a_quantile_of_t_is_exceeded_as_often_as_the_normal_one_also_far_out_in_the_tail() {
        // With two degrees of freedom P(T > t) = p at t = (1 − 2p)·√(2/(4p(1 − p))).
        for z in [0.5, 2.0, 3.3, 6.0, 8.0] {
            let p = Normal::standard().sf(z);
            let expected = (1.0 - 2.0 * p) * (2.0 / (4.0 * p * (1.0 - p))).sqrt();
            let found = t_at_tail_of(z, 2.0);
            assert!((found / expected - 1.0).abs() < 1e-9, "{z}: {found} instead of {expected}");
        }
        assert!((t_at_tail_of(3.3, 3.0) - 13.072_117_626).abs() < 1e-6);
        assert!((t_at_tail_of(10.0, 30.0) - 29.093_303_752).abs() < 1e-6);
    }

    #[test]
    fn a_quantile_of_t_is_never_below_the_normal_one() {
        for z in [0.1, 1.2, 3.3, 10.0, 37.0] {
            assert_eq!(t_at_tail_of(z, f64::INFINITY).to_bits(), z.to_bits());
            let mut last = f64::INFINITY;
            for freedom in [1.0, 2.5, 7.0, 100.0, 1e4, 1e6] {
                let found = t_at_tail_of(z, freedom);
                assert!((z..=last).contains(&found), "{z}, {freedom}: {found}");
                last = found;
            }
            assert!(last < z * 1.001, "{z}: {last}");
        }
        let too_few = [0.9, -1.0, f64::NAN].map(|freedom| (3.3, freedom));
        let too_far = [40.0, f64::INFINITY, f64::NAN].map(|z| (z, 5.0));
        for (z, freedom) in too_few.into_iter().chain(too_far) {
            assert!(t_at_tail_of(z, freedom).is_infinite(), "{z}, {freedom}");
        }
    }
}
