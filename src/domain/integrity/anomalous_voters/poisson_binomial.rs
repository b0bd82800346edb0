//! Distribution of the number of wins among votes with different win probabilities, optionally correlated by one taste.
//!
//! Without a taste it is Poisson binomial, computed by the exact recursion. With a taste it is a mixture: vote i is won if
//! Φ⁻¹(p_i) + √ρ·t + √(1−ρ)·e_i > 0 with standard normal t, the voter's taste, and e_i (a one-factor Gaussian copula). The
//! probability p_i of every single vote is unchanged, and any two votes have correlation ρ in these normal variables.

use statrs::distribution::{ContinuousCDF, Normal};

/// Step between the tastes over which the mixture sums. The trapezoidal rule is exact to rounding for such a smooth function.
const TASTE_STEP: f64 = 0.2;
/// Number of summed tastes, from −6 to 6.
const TASTE_COUNT: u32 = 61;

/// Computes P(X ≥ `wins`), X the number of wins of independent votes.
pub(in crate::integrity) fn tail(probabilities: &[f64], wins: usize) -> f64 {
    let mut distribution = vec![1.0];
    for &p in probabilities {
        distribution.push(0.0);
        for won in (0..distribution.len()).rev() {
            let before = if won > 0 { distribution[won - 1] } else { 0.0 };
            distribution[won] = distribution[won] * (1.0 - p) + before * p;
        }
    }
    distribution.iter().skip(wins).sum()
}

/// Like [`tail`], where a taste gives any two votes the correlation ρ.
pub(super) fn correlated_tail(probabilities: &[f64], wins: usize, rho: f64) -> f64 {
    if rho <= 0.0 {
        return tail(probabilities, wins);
    }
    mean_over_shared_factor(probabilities, rho, |moved| tail(moved, wins))
}

/// Computes the probability of winning every vote: the minimum of [`correlated_tail`].
pub(super) fn correlated_win_all(probabilities: &[f64], rho: f64) -> f64 {
    if rho <= 0.0 {
        return probabilities.iter().product();
    }
    mean_over_shared_factor(probabilities, rho, |moved| moved.iter().product())
}

fn mean_over_shared_factor(probabilities: &[f64], rho: f64, of: impl Fn(&[f64]) -> f64) -> f64 {
    let normal = Normal::standard();
    let thresholds: Vec<f64> = probabilities.iter().map(|&p| normal.inverse_cdf(p)).collect();
    let (shared, own) = (rho.sqrt(), (1.0 - rho).sqrt());
    let mut moved = vec![0.0; thresholds.len()];
    let (mut sum, mut weights) = (0.0, 0.0);
    for taste in 0..TASTE_COUNT {
        let t = TASTE_STEP * (f64::from(taste) - f64::from(TASTE_COUNT - 1) / 2.0);
        for (moved, threshold) in moved.iter_mut().zip(&thresholds) {
            *moved = normal.cdf((threshold + shared * t) / own);
        }
        let weight = (-0.5 * t * t).exp();
        sum += weight * of(&moved);
        weights += weight;
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ over all outcomes.
    fn by_enumeration(probabilities: &[f64], wins: u32) -> f64 {
        let of = |outcome: u32| -> f64 {
            let one = |(vote, p): (usize, &f64)| if outcome >> vote & 1 == 1 { *p } else { 1.0 - p };
            probabilities.iter().enumerate().map(one).product()
        };
        (0..1 << probabilities.len()).filter(|outcome: &u32| outcome.count_ones() >= wins).map(of).sum()
    }

    #[test]
    fn the_recursion_agrees_with_all_outcomes() {
        let probabilities = [0.1, 0.35, 0.5, 0.77, 0.92, 0.04];
        for (wins, at_least) in (0..=6).zip(0..) {
            let (found, expected) = (tail(&probabilities, wins), by_enumeration(&probabilities, at_least));
            assert!((found - expected).abs() < 1e-14, "{wins} wins: {found} instead of {expected}");
        }
    }

    #[test]
    fn a_taste_keeps_the_probability_of_a_vote_and_makes_runs_of_wins_likelier() {
        for p in [0.1, 0.5, 0.8] {
            let one = correlated_tail(&[p], 1, 0.3);
            assert!((one - p).abs() < 1e-9, "{one} instead of {p}");
            let (alone, together) = (tail(&[p; 10], 10), correlated_tail(&[p; 10], 10, 0.3));
            assert!(together > 1.5 * alone, "{together} against {alone}");
            assert!((correlated_win_all(&[p; 10], 0.3) - together).abs() < 1e-15);
        }
    }
}
