//! Permutation test of the correlation of the best mixture with the target.

use nalgebra::DVector;
use rand::seq::SliceRandom;

use super::{MixtureError, Moments, centred, unit_vector};
use crate::stats::real_len;
use crate::stats::resample::{BootstrapOptions, replicates};

/// Maximum number of subsets of series that a permutation test solves; with many series it takes fewer permutations.
const MAX_SUBSETS: u32 = 1 << 20;
/// Maximum rounding error of the correlations of two permutations.
const ROUNDING: f64 = 1e-9;

/// Result of a permutation test of a best mixture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PermutationTest {
    /// One-sided p-value: probability of a correlation at least this large by chance.
    pub p: f64,
    /// Number of random permutations.
    pub permutations: u32,
}

/// Tests whether the best mixture correlates with the target more than chance explains. The target is permuted, the weights are fitted
/// again to each permutation, and p = (1 + permutations whose best mixture reaches the correlation) / (1 + permutations), which is
/// valid for any number of them (Phipson and Smyth 2010). All weights here are exact optima, whatever the step of a grid.
///
/// # Errors
/// [`MixtureError`].
pub fn permutation_test(
    series: &[&[f64]],
    target: &[f64],
    options: BootstrapOptions,
) -> Result<PermutationTest, MixtureError> {
    let observed = Moments::new(series, target)?;
    let centred = centred(series);
    let least = observed.best_correlation() - ROUNDING;
    let permutations = options.replicates.min(MAX_SUBSETS >> series.len());
    let reached = replicates(BootstrapOptions { replicates: permutations, ..options }, |rng| {
        let mut permuted = target.to_vec();
        permuted.shuffle(rng);
        let permuted = unit_vector(&permuted);
        let c = DVector::from_iterator(series.len(), centred.iter().map(|values| values.dot(&permuted)));
        Moments { s: observed.s.clone(), c }.best_correlation() >= least
    });
    let reached = reached.into_iter().filter(|reached| *reached).count();
    Ok(PermutationTest { p: real_len(1 + reached) / (1.0 + f64::from(permutations)), permutations })
}
