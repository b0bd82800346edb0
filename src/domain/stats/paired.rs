//! Two measurements of the same units: the mean difference, its interval and its test.

use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::confidence::ConfidenceLevel;
use super::distribution::Summary;
use super::{Interval, Undefined, real_len};

/// Maximum ratio of standard deviation to mean that is rounding error of equal numbers.
const ROUNDING: f64 = 1e-12;

/// Test behind a p value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PairedTest {
    /// Student's t test of the mean difference.
    PairedT,
    /// The exact test over all assignments of signs, where all differences are the same number.
    Signs,
}

/// Mean difference of paired measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PairedDifference {
    /// Number of units.
    pub n: usize,
    /// Mean difference.
    pub mean: f64,
    /// Its interval by Student's t with n − 1 degrees of freedom; `None` where all differences are equal, which leaves no width.
    pub interval: Option<Interval>,
    /// Two-sided p value against a mean of zero.
    pub p: f64,
    /// Test behind `p`.
    pub test: PairedTest,
}

/// Compares two measurements by their differences, one a unit.
///
/// t = mean / (s / √n), with n − 1 degrees of freedom. Where all differences are the same number, s is 0 and t says nothing: p is then
/// that of the exact test over all 2ⁿ assignments of signs, 2 · 2⁻ⁿ, or 1 where the number is 0, and there is no interval.
///
/// # Errors
/// [`Undefined::TooFew`] for fewer than two units, [`Undefined::NotFinite`].
pub fn paired_difference(differences: &[f64], level: ConfidenceLevel) -> Result<PairedDifference, Undefined> {
    let Summary { n, mean, std_dev } = Summary::new(differences)?;
    let freedom = real_len(n - 1);
    if std_dev <= ROUNDING * mean.abs() {
        let p = if mean == 0.0 { 1.0 } else { 2.0 * (-real_len(n)).exp2() };
        return Ok(PairedDifference { n, mean, interval: None, p, test: PairedTest::Signs });
    }
    let error = std_dev / real_len(n).sqrt();
    let half = level.t(freedom) * error;
    let interval = Some(Interval { lower: mean - half, upper: mean + half });
    Ok(PairedDifference { n, mean, interval, p: two_sided(mean / error, freedom), test: PairedTest::PairedT })
}

fn two_sided(t: f64, freedom: f64) -> f64 {
    let distribution = StudentsT::new(0.0, 1.0, freedom).expect("there are at least two units");
    2.0 * distribution.cdf(-t.abs())
}

/// Holm's step-down adjustment: reject where the adjusted value is at most α, and the chance of any false rejection is at most α,
/// however the tests depend on each other. In the order of `p`.
///
/// The i-th smallest of m values becomes max over j ≤ i of min(1, (m − j + 1) · p₍ⱼ₎).
/// Holm (1979), Scandinavian Journal of Statistics 6, 65–70.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut adjusted = vec![0.0; p.len()];
    let mut least: f64 = 0.0;
    for (smaller, at) in order.into_iter().enumerate() {
        least = least.max((real_len(p.len() - smaller) * p[at]).min(1.0));
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn the_paired_test_is_students() {
        // R: t.test(c(1, 2, 3, 4, 5))
        let found = paired_difference(&[1.0, 2.0, 3.0, 4.0, 5.0], ConfidenceLevel::default()).unwrap();
        assert_eq!((found.n, found.mean), (5, 3.0));
        close(found.p, 0.013_235_599);
        let interval = found.interval.unwrap();
        close(interval.lower, 1.036_756_838);
        close(interval.upper, 4.963_243_161);
        assert_eq!(found.test, PairedTest::PairedT);
    }

    #[test]
    fn equal_differences_have_the_p_value_of_all_signs() {
        let level = ConfidenceLevel::default();
        close(paired_difference(&[1.0; 10], level).unwrap().p, 2.0 / 1024.0);
        close(paired_difference(&[0.0; 10], level).unwrap().p, 1.0);
        let even = paired_difference(&[1.0, -1.0], level).unwrap();
        assert_eq!((even.p, even.test, even.interval.is_some()), (1.0, PairedTest::PairedT, true));
        // 8.3 − 7.3 and 2.3 − 1.3 differ in their last digits alone.
        for same in [&[-1.0; 5][..], &[0.0; 5], &[8.3 - 7.3, 2.3 - 1.3, 1.0]] {
            let found = paired_difference(same, level).unwrap();
            assert_eq!((found.interval, found.test), (None, PairedTest::Signs), "{same:?}");
        }
        close(paired_difference(&[8.3 - 7.3, 2.3 - 1.3, 1.0], level).unwrap().p, 0.25);
        assert_eq!(paired_difference(&[1.0], level), Err(Undefined::TooFew { found: 1, needed: 2 }));
    }

    #[test]
    fn adjusted_values_are_holms() {
        // R: p.adjust(c(0.04, 0.01, 0.03, 0.5), "holm")
        for (found, expected) in holm(&[0.04, 0.01, 0.03, 0.5]).into_iter().zip([0.09, 0.04, 0.09, 0.5]) {
            close(found, expected);
        }
        assert_eq!((holm(&[]), holm(&[0.7, 0.8])), (vec![], vec![1.0, 1.0]));
    }
}
