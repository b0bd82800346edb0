//! Consistency of a voter with the crowd: the slope of the voter's votes against the log odds of the crowd.

use crate::rating::logistic;

/// Standard deviation of the prior of the slope, a normal distribution around 1.
const PRIOR_DEVIATION: f64 = 0.5;
/// Minimum slope: a rigger must not explain votes for a weak model by a negative one.
const MIN_SLOPE: f64 = 0.0;
const MAX_SLOPE: f64 = 2.0;
const MAX_STEPS: usize = 25;
const MAX_STEP_LENGTH: f64 = 0.5;
const STEP_TOLERANCE: f64 = 1e-6;

/// Slope of the crowd's own votes.
pub(super) const CROWD_SLOPE: f64 = 1.0;

/// Estimates the slope β that maximises the posterior of votes won at these log odds: P(won) = σ(β·l). 1 is the crowd's own consistency, 0
/// is guessing. The search begins at `start`, and is shorter from the slope of nearly the same votes.
pub(super) fn slope(log_odds_of_winners: impl Iterator<Item = f64> + Clone, start: f64) -> f64 {
    let mut slope = start;
    for _ in 0..MAX_STEPS {
        let precision = PRIOR_DEVIATION.powi(-2);
        let (mut gradient, mut curvature) = ((CROWD_SLOPE - slope) * precision, precision);
        for l in log_odds_of_winners.clone() {
            let lost = logistic(-slope * l);
            gradient += l * lost;
            curvature += l * l * lost * (1.0 - lost);
        }
        let step = (gradient / curvature).clamp(-MAX_STEP_LENGTH, MAX_STEP_LENGTH);
        slope += step;
        if step.abs() < STEP_TOLERANCE {
            break;
        }
    }
    slope.clamp(MIN_SLOPE, MAX_SLOPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_tells_the_crowd_from_guessing() {
        let votes = |wins: usize, losses: usize| [vec![1.5; wins], vec![-1.5; losses]].concat();
        // σ(1.5) = 0.82.
        for (votes, expected) in [(votes(820, 180), 1.0), (votes(500, 500), 0.0), (votes(300, 700), 0.0), (vec![], 1.0)]
        {
            let found = slope(votes.iter().copied(), CROWD_SLOPE);
            assert!((found - expected).abs() < 0.05, "{found} instead of {expected}");
            let from_elsewhere = slope(votes.iter().copied(), 1.7);
            assert!((found - from_elsewhere).abs() < 1e-9, "{found} and {from_elsewhere}");
        }
    }
}
