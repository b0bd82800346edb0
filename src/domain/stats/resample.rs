//! Redrawing what was observed, to see how far a number would move: a seeded bootstrap.
//!
//! Each replicate draws from a stream of its own, so that the number of threads changes nothing. An interval ends at the
//! percentiles of the replicates (Efron and Tibshirani 1993, section 13.3).

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use super::{Interval, Undefined};
use crate::domain::rating::bootstrap::{BootstrapOptions, quantile};
use crate::domain::rating::interval::ConfidenceLevel;

/// What the replicates came to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Resampled {
    /// Between the percentiles of the replicates.
    pub interval: Interval,
    /// Their median. Drawing anew adds the noise of a sample a second time, so it can lie off what was observed.
    pub median: f64,
    /// Replicates in which the number does not exist; they are left out.
    pub undefined: u32,
}

/// Calls `draw` once a replicate, in parallel, with random numbers of the replicate's own; results in their order.
pub fn replicates<T: Send>(options: BootstrapOptions, draw: impl Fn(&mut ChaCha8Rng) -> T + Sync) -> Vec<T> {
    (0..options.replicates).into_par_iter().map(|replicate| draw(&mut options.rng(replicate))).collect()
}

/// As many positions as there are, drawn with replacement.
pub fn resample_indices(length: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    (0..length).map(|_| rng.random_range(0..length)).collect()
}

/// The interval between the percentiles of what replicates gave.
///
/// # Errors
/// [`Undefined::TooFew`] where fewer than half of the replicates, or none, gave a number.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::stats::distribution::mean;

    const OPTIONS: BootstrapOptions = BootstrapOptions { replicates: 2_000, seed: 11 };

    fn mean_of_redrawn(values: &[f64]) -> Vec<Result<f64, Undefined>> {
        replicates(OPTIONS, |rng| {
            mean(&resample_indices(values.len(), rng).iter().map(|&i| values[i]).collect::<Vec<_>>())
        })
    }

    #[test]
    fn the_spread_of_a_redrawn_mean_is_its_standard_error() {
        println!("seed {}", OPTIONS.seed);
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let found = percentiles(&mean_of_redrawn(&values), ConfidenceLevel::default()).unwrap();
        let width = found.interval.upper - found.interval.lower;
        // 2 · 1.96 · √((100² − 1)/12)/√100 = 11.31
        assert!((width - 11.31).abs() < 0.6, "{width}");
        assert_eq!(found.undefined, 0);
    }

    #[test]
    fn threads_do_not_change_a_replicate() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0];
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(mean_of_redrawn(&values), alone.install(|| mean_of_redrawn(&values)));
    }

    #[test]
    fn replicates_without_a_number_are_counted_and_too_many_are_too_many() {
        let level = ConfidenceLevel::new(0.5).unwrap();
        let gone = Err(Undefined::Nothing);
        let found = percentiles(&[Ok(1.0), Ok(2.0), gone, Ok(3.0)], level).unwrap();
        assert_eq!(found, Resampled { interval: Interval { lower: 1.5, upper: 2.5 }, median: 2.0, undefined: 1 });
        assert_eq!(percentiles(&[Ok(1.0), gone, gone], level), Err(Undefined::TooFew { found: 1, needed: 2 }));
        assert_eq!(percentiles(&[], level), Err(Undefined::TooFew { found: 0, needed: 1 }));
    }
}
