//! A seeded bootstrap: resamples observations to estimate how much a statistic varies.
//!
//! Each replicate has its own random stream, so the number of threads does not change a result. An interval runs
//! between percentiles of the replicates (Efron and Tibshirani 1993, section 13.3).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::Binomial;
use rayon::prelude::*;
use serde::Serialize;

use super::confidence::ConfidenceLevel;
use super::distribution::quantile;
use super::{Interval, Undefined, real};

/// Maximum rounding error of the replicates of a coefficient.
const ROUNDING: f64 = 1e-12;

/// Minimum number of clusters, such as voters with all of their votes, for an interval that is not too narrow.
pub const MIN_CLUSTERS: usize = 10;

/// Number of replicates of a bootstrap, and the seed of its random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BootstrapOptions {
    /// Number of replicates.
    pub replicates: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { replicates: 1_000, seed: 0 }
    }
}

impl BootstrapOptions {
    /// The random stream of one replicate: independent of the other replicates and of the number of threads.
    #[must_use]
    pub fn rng(self, replicate: u32) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(replicate));
        rng
    }
}

/// Summary of the replicates of a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Resampled {
    /// The percentile interval.
    pub interval: Interval,
    /// Median of the replicates. Resampling adds sampling noise a second time, so the median can differ from the
    /// observed value.
    pub median: f64,
    /// Number of replicates in which the statistic is undefined; they are left out.
    pub undefined: u32,
}

/// Calls `draw` once for each replicate, in parallel, with the random stream of the replicate; results in replicate
/// order.
pub fn replicates<T: Send>(options: BootstrapOptions, draw: impl Fn(&mut ChaCha8Rng) -> T + Sync) -> Vec<T> {
    (0..options.replicates).into_par_iter().map(|replicate| draw(&mut options.rng(replicate))).collect()
}

/// `length` positions, drawn with replacement.
pub fn resample_indices(length: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    (0..length).map(|_| rng.random_range(0..length)).collect()
}

/// Counts of each kind in a bootstrap sample of all observations: Multinomial(n, c/n), kind by kind. Time is linear in the number of
/// kinds and independent of the number of observations.
pub fn resample_counts(counts: &[u64], rng: &mut ChaCha8Rng) -> Vec<u64> {
    let (mut left, mut to_draw) = (counts.iter().sum::<u64>(), counts.iter().sum::<u64>());
    let mut draw = |&kind: &u64| {
        let drawn = match kind {
            0 => 0,
            all if all == left => to_draw,
            some => rng
                .sample(Binomial::new(to_draw, real(some) / real(left)).expect("a kind is at most all that are left")),
        };
        left -= kind;
        to_draw -= drawn;
        drawn
    };
    counts.iter().map(&mut draw).collect()
}

/// The percentile interval of replicates.
///
/// # Errors
/// [`Undefined::TooFew`] if fewer than half of the replicates, or none, have a number.
pub fn percentiles(values: &[Result<f64, Undefined>], level: ConfidenceLevel) -> Result<Resampled, Undefined> {
    let mut found: Vec<f64> = values.iter().copied().filter_map(Result::ok).collect();
    let needed = values.len().div_ceil(2).max(1);
    if found.len() < needed {
        return Err(Undefined::TooFew { found: found.len(), needed });
    }
    found.sort_by(f64::total_cmp);
    let tail = 0.5 * (1.0 - level.share());
    let interval = Interval { lower: quantile(&found, tail), upper: quantile(&found, 1.0 - tail) };
    let undefined = u32::try_from(values.len() - found.len()).unwrap_or(u32::MAX);
    Ok(Resampled { interval, median: quantile(&found, 0.5), undefined })
}

/// Computes [`percentiles`] of replicates as a measure of uncertainty. Equal replicates do not make the number certain, so they have no
/// interval rather than one without width.
///
/// # Errors
/// The same as for [`percentiles`], and [`Undefined::NoSpread`] for an interval without width.
pub fn percentiles_with_spread(
    values: &[Result<f64, Undefined>],
    level: ConfidenceLevel,
) -> Result<Resampled, Undefined> {
    let found = percentiles(values, level)?;
    if found.interval.upper - found.interval.lower > ROUNDING { Ok(found) } else { Err(Undefined::NoSpread) }
}

/// The interval of [`percentiles_with_spread`].
///
/// # Errors
/// The same as for [`percentiles_with_spread`].
pub fn uncertainty(values: &[Result<f64, Undefined>], level: ConfidenceLevel) -> Result<Interval, Undefined> {
    percentiles_with_spread(values, level).map(|found| found.interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::distribution::mean;

    const OPTIONS: BootstrapOptions = BootstrapOptions { replicates: 2_000, seed: 11 };

    fn mean_of_resamples(values: &[f64]) -> Vec<Result<f64, Undefined>> {
        replicates(OPTIONS, |rng| {
            mean(&resample_indices(values.len(), rng).iter().map(|&i| values[i]).collect::<Vec<_>>())
        })
    }

    #[test]
    fn the_interval_of_a_resampled_mean_follows_its_standard_error() {
        println!("seed {}", OPTIONS.seed);
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let found = percentiles(&mean_of_resamples(&values), ConfidenceLevel::default()).unwrap();
        let width = found.interval.upper - found.interval.lower;
        // 2 · 1.96 · √((100² − 1)/12)/√100 = 11.31
        assert!((width - 11.31).abs() < 0.6, "{width}");
        assert_eq!(found.undefined, 0);
    }

    #[test]
    fn counts_are_drawn_like_single_observations() {
        let counts = [30, 0, 60, 10];
        let drawn = replicates(OPTIONS, |rng| resample_counts(&counts, rng));
        assert!(drawn.iter().all(|drawn| drawn.iter().sum::<u64>() == 100 && drawn[1] == 0));
        // Mean n·p and variance n·p·(1 − p) of each kind.
        for (at, mean, variance) in [(0, 30.0, 21.0), (2, 60.0, 24.0), (3, 10.0, 9.0)] {
            let values: Vec<f64> = drawn.iter().map(|drawn| real(drawn[at])).collect();
            let found = values.iter().sum::<f64>() / 2_000.0;
            let spread = values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / 1_999.0;
            assert!((found - mean).abs() < 0.4 && (spread / variance - 1.0).abs() < 0.15, "{at}: {found} {spread}");
        }
    }

    #[test]
    fn threads_do_not_change_a_replicate() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0];
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(mean_of_resamples(&values), alone.install(|| mean_of_resamples(&values)));
    }

    #[test]
    fn undefined_replicates_are_counted_and_too_many_are_an_error() {
        let level = ConfidenceLevel::new(0.5).unwrap();
        let gone = Err(Undefined::Nothing);
        let found = percentiles(&[Ok(1.0), Ok(2.0), gone, Ok(3.0)], level).unwrap();
        assert_eq!(found, Resampled { interval: Interval { lower: 1.5, upper: 2.5 }, median: 2.0, undefined: 1 });
        assert_eq!(percentiles(&[Ok(1.0), gone, gone], level), Err(Undefined::TooFew { found: 1, needed: 2 }));
        assert_eq!(percentiles(&[], level), Err(Undefined::TooFew { found: 0, needed: 1 }));
    }

    #[test]
    fn replicates_without_spread_are_no_interval() {
        let level = ConfidenceLevel::default();
        assert_eq!(uncertainty(&[Ok(1.0); 40], level), Err(Undefined::NoSpread));
        // They differ by rounding alone.
        assert_eq!(uncertainty(&[Ok(0.3), Ok(0.1 + 0.2)], level), Err(Undefined::NoSpread));
        // Between two numbers, the percentiles 2.5 and 97.5 are a fortieth of the way from either.
        let found = uncertainty(&[Ok(1.0), Ok(3.0)], level).unwrap();
        assert!((found.lower - 1.05).abs() < 1e-12 && (found.upper - 2.95).abs() < 1e-12, "{found:?}");
        assert_eq!(uncertainty(&[], level), Err(Undefined::TooFew { found: 0, needed: 1 }));
    }
}
