//! Likelihood test of Huang et al. 2025 (arXiv 2501.07493, section 5): are a voter's votes less likely than those of a benign voter?
//!
//! T = −2 Σ ln Pr(x_i), Pr(x_i) the crowd's probability of the outcome x_i (one model, the other, neither). The p-value is the share of
//! simulated benign voters on the same pairs whose T is at least as large. The test finds a voter who votes against the crowd in general,
//! but rarely one who votes like the crowd except on one model.

use nalgebra::DVector;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::battle::Outcome;
use crate::rating::strengths::crowd_expectation::{CrowdExpectation, CrowdVote};
use crate::stats::real;

/// Maximum number of simulated voters; the smallest p-value is 1/10,000.
const MAX_SIMULATED_VOTERS: u64 = 9_999;
/// Number of simulated voters with at least as large a T after which the voter is clearly benign (Besag and Clifford 1991).
const MIN_EXCEEDANCES: u64 = 20;

/// Statistic T with its p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LikelihoodResult {
    pub(super) statistic: f64,
    pub(in crate::integrity) p: f64,
}

/// Tests the votes of a voter against the crowd's strengths without them.
pub(super) fn likelihood_test(
    crowd: &CrowdExpectation,
    votes: &[CrowdVote],
    strengths: &DVector<f64>,
    rng: &mut ChaCha8Rng,
) -> LikelihoodResult {
    let shares = |vote: &CrowdVote| crowd.outcome_shares(strengths[vote.a] - strengths[vote.b]);
    let shares: Vec<[f64; 3]> = votes.iter().map(shares).collect();
    let cost = |share: f64| -2.0 * share.ln();
    let chosen = |(vote, shares): (&CrowdVote, &[f64; 3])| match vote.outcome {
        Outcome::AWins => cost(shares[0]),
        Outcome::BWins => cost(shares[1]),
        Outcome::Tie | Outcome::BothBad => cost(shares[2]),
    };
    let statistic: f64 = votes.iter().zip(&shares).map(chosen).sum();
    let mut simulate = || -> f64 {
        let one = |[a, b, neither]: &[f64; 3]| {
            let place = rng.random::<f64>();
            cost(if place < *a {
                *a
            } else if place < a + b {
                *b
            } else {
                *neither
            })
        };
        shares.iter().map(one).sum()
    };
    // Equal up to rounding counts as at least as large.
    let least = statistic - 1e-9 * statistic.abs();
    let mut as_large = 0;
    for simulated in 1..=MAX_SIMULATED_VOTERS {
        as_large += u64::from(simulate() >= least);
        if as_large == MIN_EXCEEDANCES {
            return LikelihoodResult { statistic, p: real(as_large) / real(simulated) };
        }
    }
    LikelihoodResult { statistic, p: real(as_large + 1) / real(MAX_SIMULATED_VOTERS + 1) }
}
