//! Agreement of two leaderboards, given the uncertainty of both (Li et al. 2024, "From crowdsourced data to high-quality
//! benchmarks", section 3).

use statrs::distribution::{ContinuousCDF, Normal};

use crate::stats::{Interval, Share, Undefined};
use crate::stats::{real, real_len};

/// Share of pairs of models whose intervals do not overlap.
#[must_use]
pub fn separability(intervals: &[Interval]) -> Share {
    let mut share = Share::default();
    for (one, other) in pairs(intervals.len()) {
        share.count(order(intervals[one], intervals[other]).is_some());
    }
    share
}

/// Pairs of models by their order in two leaderboards of the same models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConfidentAgreement {
    /// Pairs that both leaderboards separate, in the same order.
    pub agree: u64,
    /// Pairs that both separate, in opposite orders.
    pub disagree: u64,
    /// Pairs that at least one of them does not separate.
    pub unsure: u64,
}

impl ConfidentAgreement {
    /// Mean over all pairs of +1 for agreement, −1 for disagreement and 0 for unseparated pairs.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] for fewer than two models.
    pub fn score(self) -> Result<f64, Undefined> {
        let all = self.agree + self.disagree + self.unsure;
        if all == 0 { Err(Undefined::Nothing) } else { Ok((real(self.agree) - real(self.disagree)) / real(all)) }
    }
}

/// Agreement with confidence: counts pairs whose intervals do not overlap in either leaderboard.
///
/// # Errors
/// [`Undefined::Lengths`] unless both have the same models.
pub fn confident_agreement(benchmark: &[Interval], reference: &[Interval]) -> Result<ConfidentAgreement, Undefined> {
    same_models(benchmark.len(), reference.len())?;
    let mut found = ConfidentAgreement::default();
    for (one, other) in pairs(benchmark.len()) {
        match (order(benchmark[one], benchmark[other]), order(reference[one], reference[other])) {
            (Some(x), Some(y)) if x == y => found.agree += 1,
            (Some(_), Some(_)) => found.disagree += 1,
            _ => found.unsure += 1,
        }
    }
    Ok(found)
}

/// A value with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Estimated value.
    pub value: f64,
    /// Standard error.
    pub error: f64,
}

/// Brier score of a benchmark as a forecast of the order of each pair of models in a reference: the mean of (p − o)²,
/// where p = Φ((x−y)/√(σx²+σy²)) is the probability by the benchmark and o is 1 or 0 by the reference. Pairs that are
/// equal in the reference are left out. A coin gets 0.25; 0 is best.
///
/// # Errors
/// [`Undefined::Lengths`] unless both have the same models, [`Undefined::Nothing`] without a pair.
pub fn brier(benchmark: &[Estimate], reference: &[f64]) -> Result<f64, Undefined> {
    same_models(benchmark.len(), reference.len())?;
    let decided = pairs(benchmark.len()).filter(|&(one, other)| reference[one].total_cmp(&reference[other]).is_ne());
    let squares: Vec<f64> = decided
        .map(|(one, other)| {
            let outcome = if reference[one] > reference[other] { 1.0 } else { 0.0 };
            (probability(benchmark[one], benchmark[other]) - outcome).powi(2)
        })
        .collect();
    if squares.is_empty() { Err(Undefined::Nothing) } else { Ok(squares.iter().sum::<f64>() / real_len(squares.len())) }
}

fn probability(x: Estimate, y: Estimate) -> f64 {
    let (distance, error) = (x.value - y.value, x.error.hypot(y.error));
    match distance {
        0.0 => 0.5,
        _ if error > 0.0 => Normal::standard().cdf(distance / error),
        _ if distance > 0.0 => 1.0,
        _ => 0.0,
    }
}

/// Whether the first interval is above the second; `None` if they overlap.
fn order(one: Interval, other: Interval) -> Option<bool> {
    if one.lower > other.upper {
        Some(true)
    } else if other.lower > one.upper {
        Some(false)
    } else {
        None
    }
}

fn same_models(x: usize, y: usize) -> Result<(), Undefined> {
    if x == y { Ok(()) } else { Err(Undefined::Lengths { x, y }) }
}

fn pairs(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..length).flat_map(|other| (0..other).map(move |one| (one, other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(lower: f64, upper: f64) -> Interval {
        Interval { lower, upper }
    }

    #[test]
    fn only_pairs_that_both_separate_can_agree_or_disagree() {
        let benchmark = [interval(0.0, 1.0), interval(2.0, 3.0), interval(2.5, 4.0), interval(6.0, 7.0)];
        let reference = [interval(5.0, 6.0), interval(7.0, 8.0), interval(9.0, 9.5), interval(0.0, 1.0)];
        assert_eq!(separability(&benchmark), Share { of: 5, total: 6 });
        let found = confident_agreement(&benchmark, &reference).unwrap();
        assert_eq!(found, ConfidentAgreement { agree: 2, disagree: 3, unsure: 1 });
        assert!((found.score().unwrap() + 1.0 / 6.0).abs() < 1e-12);
        assert_eq!(confident_agreement(&benchmark, &[]), Err(Undefined::Lengths { x: 4, y: 0 }));
        assert_eq!(ConfidentAgreement::default().score(), Err(Undefined::Nothing));
    }

    #[test]
    fn the_brier_score_is_that_of_the_forecast_of_each_pair() {
        let of = |values: [f64; 3], error: f64| values.map(|value| Estimate { value, error });
        assert_eq!(brier(&of([1.0, 2.0, 3.0], 0.0), &[10.0, 20.0, 30.0]), Ok(0.0));
        assert_eq!(brier(&of([1.0, 1.0, 1.0], 1.0), &[10.0, 20.0, 30.0]), Ok(0.25));
        // z = ∓1/√2, ∓2/√2, ∓1/√2: Φ(−0.7071) = 0.239750, Φ(−1.4142) = 0.078650
        let forecast = brier(&of([1.0, 2.0, 3.0], 1.0), &[10.0, 20.0, 30.0]).unwrap();
        assert!((forecast - (2.0 * 0.239_750_f64.powi(2) + 0.078_650_f64.powi(2)) / 3.0).abs() < 1e-6, "{forecast}");
        assert_eq!(brier(&of([1.0, 2.0, 3.0], 1.0), &[5.0; 3]), Err(Undefined::Nothing));
    }
}
