//! Fisher's exact test of two shares, one-sided (Fisher 1922).

use statrs::distribution::{DiscreteCDF, Hypergeometric};

/// P(X ≤ `own` hits) where the hits of both groups fall on all trials at random: whether one share is lower than the other
/// while neither is known exactly. Groups are (hits, trials); 1 where either has no trials.
#[must_use]
pub fn lower_tail(own: [u64; 2], others: [u64; 2]) -> f64 {
    if own[1] == 0 || others[1] == 0 {
        return 1.0;
    }
    let (hits, trials) = (own[0] + others[0], own[1] + others[1]);
    Hypergeometric::new(trials, hits, own[1]).map_or(1.0, |chance| chance.cdf(own[0]).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_that_can_be_counted() {
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        // One miss among twenty trials falls on either group equally often.
        close(lower_tail([9, 10], [10, 10]), 0.5);
        // C(4,1)·C(4,3)/C(8,4) + C(4,0)·C(4,4)/C(8,4) = 17/70.
        close(lower_tail([1, 4], [3, 4]), 17.0 / 70.0);
        close(lower_tail([10, 10], [3, 10]), 1.0);
        close(lower_tail([0, 0], [3, 10]), 1.0);
        close(lower_tail([0, 5], [0, 0]), 1.0);
    }
}
