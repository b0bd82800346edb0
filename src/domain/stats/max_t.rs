//! Distribution of the largest standardised difference among estimates (max-t), for comparisons of all pairs.
//!
//! With estimates of covariance V, T = max |Z_i − Z_j| / s_ij over all pairs, Z ~ N(0, V) and s_ij² = V_ii + V_jj − 2V_ij.
//! If every pair is compared with the quantile of T, all comparisons hold together at that level (single-step max-t:
//! Hothorn, Bretz and Westfall 2008). The quantile is that of 4,000 seeded draws, 1,000 of more than 150 estimates; of two estimates
//! T is |Z| of a single Z ~ N(0, 1).

use nalgebra::DMatrix;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

use super::cholesky::cholesky;
use super::confidence::ConfidenceLevel;
use super::distribution::quantile_of_unsorted;
use super::real_len;

/// Draws of T: the resulting level is within about one percent of the requested one.
const SAMPLES: usize = 4_000;
/// Number of estimates above which fewer draws are made: the number of pairs grows with the square.
const MANY_ESTIMATES: usize = 150;
const SAMPLES_OF_MANY: usize = 1_000;
/// Draws of one batch.
const SAMPLES_PER_BATCH: usize = 125;
/// Added to the diagonal, relative to it, since estimates that are known only up to a constant have a singular V.
const DIAGONAL_JITTER: f64 = 1e-9;
/// The smallest probability that is distinguished from 0.
const MIN_PROBABILITY: f64 = 1e-12;

/// The confidence level of a single difference at which the differences of all pairs hold together at `level`. `None` for fewer than
/// two estimates, or where no two differ by more than rounding.
#[must_use]
pub fn level_of_each_pair(covariance: &DMatrix<f64>, level: ConfidenceLevel) -> Option<ConfidenceLevel> {
    let size = covariance.nrows();
    if size < 2 {
        return None;
    }
    let draws = if size > MANY_ESTIMATES { SAMPLES_OF_MANY } else { SAMPLES };
    let scale = covariance.trace() / real_len(size);
    let stiff = covariance + DMatrix::identity(size, size) * (DIAGONAL_JITTER * scale);
    let across = cholesky(stiff)?.l().transpose();
    let inverse_errors = inverse_errors(covariance, DIAGONAL_JITTER * scale);
    if size == 2 && inverse_errors[(0, 1)] > 0.0 {
        // A single pair is compared at the level itself: its T needs no draws.
        return Some(level);
    }
    let mut largest: Vec<f64> = (0..draws / SAMPLES_PER_BATCH)
        .into_par_iter()
        .flat_map_iter(|part| largest_differences(&across, &inverse_errors, part as u64))
        .collect();
    let tail = 2.0 * Normal::standard().sf(quantile_of_unsorted(&mut largest, level.share()));
    Some(ConfidenceLevel::with_tail(tail.max(MIN_PROBABILITY)))
}

/// 1/s_ij for all pairs; 0 where s_ij² is not above `rounding`.
fn inverse_errors(covariance: &DMatrix<f64>, rounding: f64) -> DMatrix<f64> {
    let variance = |i, j| covariance[(i, i)] + covariance[(j, j)] - 2.0 * covariance[(i, j)];
    let inverse = |variance: f64| if variance > rounding { variance.sqrt().recip() } else { 0.0 };
    DMatrix::from_fn(covariance.nrows(), covariance.ncols(), |i, j| inverse(variance(i, j)))
}

/// T of [`SAMPLES_PER_BATCH`] draws. `across` is the upper Cholesky factor.
fn largest_differences(across: &DMatrix<f64>, inverse_errors: &DMatrix<f64>, part: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    rng.set_stream(part);
    let normal = DMatrix::from_fn(SAMPLES_PER_BATCH, across.nrows(), |_, _| StandardNormal.sample(&mut rng));
    let drawn: DMatrix<f64> = normal * across;
    let mut largest = vec![0.0_f64; SAMPLES_PER_BATCH];
    for j in 1..drawn.ncols() {
        let (before, one) = drawn.as_slice()[..(j + 1) * SAMPLES_PER_BATCH].split_at(j * SAMPLES_PER_BATCH);
        for (other, &inverse) in before.chunks_exact(SAMPLES_PER_BATCH).zip(inverse_errors.column(j).iter()) {
            for ((largest, one), other) in largest.iter_mut().zip(one).zip(other) {
                let apart = (one - other).abs() * inverse;
                *largest = if apart > *largest { apart } else { *largest };
            }
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn critical_value(covariance: &DMatrix<f64>) -> f64 {
        level_of_each_pair(covariance, ConfidenceLevel::default()).unwrap().z()
    }

    #[test]
    fn for_independent_estimates_it_is_the_studentised_range() {
        // Quantiles of the range at 95 % with infinite degrees of freedom, from published tables, over √2.
        for (size, range) in [(2, 2.772), (3, 3.314), (5, 3.858), (10, 4.474), (20, 5.012)] {
            let found = critical_value(&DMatrix::identity(size, size));
            let expected = range / 2.0_f64.sqrt();
            assert!((found - expected).abs() < 0.06, "{size} estimates: {found} instead of {expected}");
        }
    }

    #[test]
    fn what_all_estimates_share_does_not_matter() {
        let alone = critical_value(&DMatrix::identity(4, 4));
        let shared = critical_value(&(DMatrix::identity(4, 4) + DMatrix::from_element(4, 4, 50.0)));
        assert!((alone - shared).abs() < 0.06, "{alone} and {shared}");
    }

    #[test]
    fn a_single_estimate_has_no_pair() {
        assert!(level_of_each_pair(&DMatrix::identity(1, 1), ConfidenceLevel::default()).is_none());
        assert!(level_of_each_pair(&DMatrix::zeros(3, 3), ConfidenceLevel::default()).is_none());
    }

    #[test]
    fn a_single_pair_is_compared_at_the_level_itself() {
        let level = ConfidenceLevel::new(0.9).unwrap();
        let pair = DMatrix::from_row_slice(2, 2, &[4.0, 1.0, 1.0, 9.0]);
        assert_eq!(level_of_each_pair(&pair, level), Some(level));
    }
}
