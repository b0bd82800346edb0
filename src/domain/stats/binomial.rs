//! Exact tails of the binomial distribution.

use statrs::distribution::{Binomial, DiscreteCDF};

/// P(X ≥ `hits`) for X successes in `trials` trials of this success probability.
#[must_use]
pub fn at_least(hits: u64, trials: u64, probability: f64) -> f64 {
    if hits == 0 {
        return 1.0;
    }
    Binomial::new(probability.clamp(0.0, 1.0), trials).map_or(1.0, |distribution| distribution.sf(hits - 1))
}

/// P(X ≤ `hits`).
#[must_use]
pub fn at_most(hits: u64, trials: u64, probability: f64) -> f64 {
    Binomial::new(probability.clamp(0.0, 1.0), trials).map_or(1.0, |distribution| distribution.cdf(hits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_that_can_be_counted() {
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        close(at_least(9, 10, 0.5), 11.0 / 1024.0);
        close(at_most(1, 10, 0.5), 11.0 / 1024.0);
        close(at_least(0, 10, 0.3), 1.0);
        close(at_most(10, 10, 0.3), 1.0);
        close(at_least(3, 3, 0.9), 0.729);
        close(at_least(1, 0, 0.5), 0.0);
        close(at_most(0, 0, 0.5), 1.0);
    }
}
