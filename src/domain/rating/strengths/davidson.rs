//! Davidson's model (1970): ties are a separate outcome, whose frequency ν is fitted with the strengths.
//!
//! P(a) = π_a / (π_a + π_b + ν√(π_a π_b)), P(tie) = ν√(π_a π_b) / (π_a + π_b + ν√(π_a π_b)), π = e^θ. Two models of
//! equal strength tie with probability ν / (2 + ν). Both-bad votes are ties here, unless the scoring drops them.
//!
//! Strengths have a finite estimate under the same condition as in Bradley–Terry. ν has a finite positive estimate if
//! there is a tie and no strengths place every winner at least two steps above its loser and any two that tied at most
//! two steps apart: scaling such strengths while ln ν follows would raise the likelihood without limit. Bellman–Ford
//! decides whether such strengths exist.

use super::super::FitError;
use super::super::counts::tally::{PairTally, Tally};
use super::bradley_terry::{self};
use super::negative_log_likelihood::Likelihood;
use crate::rating::strengths::fit::Fit;

/// Fits strengths and ν. If ν has no finite positive estimate, the result is that of [`bradley_terry::fit`] and
/// [`Fit::log_nu`] is `None`.
///
/// # Errors
/// [`FitError::Solver`] as for [`bradley_terry::fit`].
pub fn fit(tally: &Tally) -> Result<Fit, FitError> {
    let likelihood =
        if is_finite(tally.models.len(), &tally.pairs) { Likelihood::Davidson } else { Likelihood::BradleyTerry };
    bradley_terry::fit_by(tally, likelihood)
}

/// Whether ν has a finite positive estimate.
pub(in crate::rating) fn is_finite(models: usize, pairs: &[PairTally]) -> bool {
    let ties = pairs.iter().any(|pair| pair.halves > 0.0);
    // Two models that won against each other are the shortest negative cycle.
    let mutual = pairs.iter().any(|pair| pair.first_wins > 0.0 && pair.second_wins > 0.0);
    ties && (mutual || !has_steps(models, pairs))
}

/// Whether there are steps s with s_winner ≥ s_loser + 1 for every win and |s_a − s_b| ≤ 1 for every tie, that is, whether the
/// graph of these constraints has no negative cycle.
fn has_steps(models: usize, pairs: &[PairTally]) -> bool {
    let bounds: Vec<(usize, usize, i64)> = pairs.iter().flat_map(bounds).collect();
    let mut steps = vec![0_i64; models];
    for _ in 0..=models {
        let mut moved = false;
        for &(from, to, most) in &bounds {
            if steps[from] + most < steps[to] {
                steps[to] = steps[from] + most;
                moved = true;
            }
        }
        if !moved {
            return true;
        }
    }
    false
}

/// Returns the constraints (from, to, most): s_to ≤ s_from + most.
fn bounds(pair: &PairTally) -> impl Iterator<Item = (usize, usize, i64)> {
    let (first, second) = (pair.first, pair.second);
    [
        (pair.first_wins > 0.0, (first, second, -1)),
        (pair.second_wins > 0.0, (second, first, -1)),
        (pair.halves > 0.0, (first, second, 1)),
        (pair.halves > 0.0, (second, first, 1)),
    ]
    .into_iter()
    .filter_map(|(holds, bound)| holds.then_some(bound))
}
