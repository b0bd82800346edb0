//! Confidence interval of a share.

use super::confidence::ConfidenceLevel;
use super::real;
use super::{Interval, Share, Undefined};

/// Wilson's interval of a share p̂ of n (1927): (p̂ + z²/2n ± z·√(p̂(1−p̂)/n + z²/4n²)) / (1 + z²/n). It stays within 0
/// and 1 and has a positive width even for shares of 0 and 1.
///
/// # Errors
/// [`Undefined::Nothing`] for a total of 0.
pub fn wilson(share: Share, level: ConfidenceLevel) -> Result<Interval, Undefined> {
    Ok(wilson_of_rate(share.rate()?, real(share.total), level))
}

/// Computes [`wilson`] for a rate over n trials with values between 0 and 1, such as ties as half a win. Their variance is at most that
/// of a share, so the interval is wide enough.
#[must_use]
pub fn wilson_of_rate(rate: f64, n: f64, level: ConfidenceLevel) -> Interval {
    let z = level.z();
    let squared = z * z;
    let (centre, whole) = (rate + squared / (2.0 * n), 1.0 + squared / n);
    let margin = z * (rate * (1.0 - rate) / n + squared / (4.0 * n * n)).sqrt();
    Interval { lower: ((centre - margin) / whole).max(0.0), upper: ((centre + margin) / whole).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(of: u64, total: u64, lower: f64, upper: f64) {
        let found = wilson(Share { of, total }, ConfidenceLevel::default()).unwrap();
        assert!((found.lower - lower).abs() < 1e-6 && (found.upper - upper).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn shares_have_the_intervals_of_another_program() {
        // Computed by the same formula in Python; 7 of 10 is also a textbook example.
        check(7, 10, 0.396778147, 0.892208733);
        check(0, 5, 0.000000000, 0.434482465);
        check(5, 5, 0.565517535, 1.000000000);
        check(430, 660, 0.614380937, 0.686895817);
    }

    #[test]
    fn nothing_has_no_interval() {
        assert_eq!(wilson(Share::default(), ConfidenceLevel::default()), Err(Undefined::Nothing));
    }
}
