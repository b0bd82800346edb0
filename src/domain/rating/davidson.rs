//! Davidson's model (1970): ties are an outcome of their own, whose frequency ν is fitted with the strengths.
//!
//! P(a) = π_a / (π_a + π_b + ν√(π_a π_b)), P(tie) = ν√(π_a π_b) / (π_a + π_b + ν√(π_a π_b)), π = e^θ. Two models of equal
//! strength tie with probability ν / (2 + ν). Votes for "both bad" are ties here, unless the scoring drops them.
//!
//! Strengths have a finite estimate under the condition of Bradley–Terry. ν has one as well if there is a tie and if no
//! strengths put every winner at least two steps above its loser and every two that tied at most two apart: those, drawn
//! out without end while ln ν follows, would explain all votes ever better. Bellman and Ford tell whether there are any.

use super::FitError;
use super::bradley_terry::{self, Fit};
use super::loss::Likelihood;
use super::tally::{PairTally, Tally};

/// Fits strengths and ν. Where ν has no finite positive estimate, the result is that of [`bradley_terry::fit`] and its
/// [`Fit::log_nu`] is none.
///
/// # Errors
/// [`FitError::Solver`] as there.
pub fn fit(tally: &Tally) -> Result<Fit, FitError> {
    let likelihood =
        if is_finite(tally.models.len(), &tally.pairs) { Likelihood::Davidson } else { Likelihood::BradleyTerry };
    bradley_terry::fit_by(tally, likelihood)
}

/// Whether ν has a finite positive estimate.
pub(super) fn is_finite(models: usize, pairs: &[PairTally]) -> bool {
    let ties = pairs.iter().any(|pair| pair.halves > 0.0);
    // Two models that won against each other are the shortest circle.
    let mutual = pairs.iter().any(|pair| pair.first_wins > 0.0 && pair.second_wins > 0.0);
    ties && (mutual || !has_steps(models, pairs))
}

/// Whether there are numbers s with s_winner ≥ s_loser + 1 for every win and |s_a − s_b| ≤ 1 for every tie: whether the
/// graph of these bounds has no circle of negative length.
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

/// Each (from, to, most) says that the step of `to` is at most `most` above that of `from`.
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
