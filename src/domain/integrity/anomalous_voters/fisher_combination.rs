//! Fisher's combination with checkpoints (Chiang et al. 2024, arXiv 2403.04132, section 5.1), applied to each model.
//!
//! For the i-th vote of a voter on a pair with history H of other people's votes, p_i = (1 + #{h ∈ H : h ≥ v_i})/(|H| + 1);
//! M_j = −2 Σ_{i≤j} ln p_i exceeds the quantile of χ²(2j) where the votes are too large. At each of 5 random checkpoints j the
//! level is α/5.
//!
//! With the points of the pair's first model as h and v, as published, a voter's votes for one target are large on the pairs
//! where it is first and small where it is second, and cancel. Here h and v are the points of one model m wherever it stands,
//! for each m and for its rivals, and Bonferroni's rule covers the models and directions.

use std::collections::HashMap;

use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::battle::Outcome;
use crate::rating::strengths::crowd_expectation::CrowdVote;
use crate::stats::{real, real_len};

const CHECKPOINTS: usize = 5;
/// Minimum number of votes on a model for a test.
const MIN_VOTES_ON_MODEL: usize = 5;

/// Numbers of votes for the first model, for neither and for the second; the first is the one with the lower parameter.
type PairHistory = [u64; 3];

/// Vote counts of all pairs.
#[derive(Debug, Default)]
pub(super) struct History(HashMap<(usize, usize), PairHistory>);

/// Test result for the model with the smallest p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FisherResult {
    pub(in crate::integrity) model: usize,
    pub(in crate::integrity) favours: bool,
    /// Number of votes on the model.
    pub(in crate::integrity) votes: usize,
    /// Statistic M at the decisive checkpoint.
    pub(super) statistic: f64,
    pub(in crate::integrity) p: f64,
}

impl History {
    pub(in crate::integrity) fn new<'a>(votes: impl Iterator<Item = &'a CrowdVote>) -> Self {
        let mut history = Self::default();
        for vote in votes {
            history.0.entry(pair(vote)).or_default()[place(vote, vote.a.min(vote.b))] += 1;
        }
        history
    }

    /// Computes p_i of a vote by the points of `model`, without the voter's `own` votes.
    fn share_as_large(&self, own: &Self, vote: &CrowdVote, model: usize) -> f64 {
        let others = |place: usize| {
            let of = |history: &Self| history.0.get(&pair(vote)).map_or(0, |votes| votes[place]);
            of(self).saturating_sub(of(own))
        };
        let is_first = model == vote.a.min(vote.b);
        // Index 0 is the best for the first model and index 2 for the second.
        let as_large = |&at: &usize| if is_first { at <= place(vote, model) } else { 2 - at <= place(vote, model) };
        let large: u64 = (0..3).filter(as_large).map(others).sum();
        (1.0 + real(large)) / (1.0 + real((0..3).map(others).sum()))
    }
}

fn pair(vote: &CrowdVote) -> (usize, usize) {
    (vote.a.min(vote.b), vote.a.max(vote.b))
}

/// Returns 0 for a vote for the model, 1 for neither, 2 for its rival.
fn place(vote: &CrowdVote, model: usize) -> usize {
    match vote.outcome {
        Outcome::AWins => {
            if vote.a == model {
                0
            } else {
                2
            }
        }
        Outcome::BWins => {
            if vote.b == model {
                0
            } else {
                2
            }
        }
        Outcome::Tie | Outcome::BothBad => 1,
    }
}

/// Tests each model of a voter and returns the most suspicious one; `None` without enough votes on one model.
pub(super) fn fisher_test(history: &History, votes: &[CrowdVote], rng: &mut ChaCha8Rng) -> Option<FisherResult> {
    let own = History::new(votes.iter());
    let mut models: Vec<usize> = votes.iter().flat_map(|vote| [vote.a, vote.b]).collect();
    models.sort_unstable();
    models.dedup();
    let on = |model: usize| votes.iter().filter(move |vote| vote.a == model || vote.b == model);
    models.retain(|&model| on(model).count() >= MIN_VOTES_ON_MODEL);
    let mut best: Option<FisherResult> = None;
    for &model in &models {
        for favours in [true, false] {
            let p_values: Vec<f64> = on(model)
                .map(|vote| {
                    let rival = if vote.a == model { vote.b } else { vote.a };
                    history.share_as_large(&own, vote, if favours { model } else { rival })
                })
                .collect();
            let (statistic, p) = combine_p_values(&p_values, rng);
            let p = (p * real_len(2 * models.len())).min(1.0);
            if best.is_none_or(|best| p < best.p) {
                best = Some(FisherResult { model, favours, votes: p_values.len(), statistic, p });
            }
        }
    }
    best
}

/// Returns M and the p-value at the checkpoint with the smallest p-value.
fn combine_p_values(p_values: &[f64], rng: &mut ChaCha8Rng) -> (f64, f64) {
    let checkpoints = sample(rng, p_values.len(), CHECKPOINTS.min(p_values.len()));
    let mut best = (0.0, 1.0);
    for checkpoint in checkpoints.iter().map(|index| index + 1) {
        let statistic = -2.0 * p_values[..checkpoint].iter().map(|p| p.ln()).sum::<f64>();
        let chi_squared = ChiSquared::new(2.0 * real_len(checkpoint)).expect("the degrees of freedom are positive");
        let p = (chi_squared.sf(statistic) * real_len(checkpoints.len())).min(1.0);
        if p < best.1 {
            best = (statistic, p);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn vote(a: usize, b: usize, outcome: Outcome) -> CrowdVote {
        CrowdVote { a, b, outcome }
    }

    #[test]
    fn the_share_is_the_same_wherever_the_model_stands() {
        use Outcome::{AWins, BWins, Tie};
        let crowd = [vote(0, 1, AWins), vote(1, 0, BWins), vote(0, 1, Tie), vote(0, 1, BWins), vote(1, 0, AWins)];
        let (history, own) = (History::new(crowd.iter()), History::default());
        // Two votes for model 0, two for model 1, one for neither.
        for (outcome, mirrored, for_0, for_1) in
            [(AWins, BWins, 3.0, 6.0), (Tie, Tie, 4.0, 4.0), (BWins, AWins, 6.0, 3.0)]
        {
            for vote in [vote(0, 1, outcome), vote(1, 0, mirrored)] {
                for (model, expected) in [(0, for_0), (1, for_1)] {
                    let share = history.share_as_large(&own, &vote, model);
                    assert!((share - expected / 6.0).abs() < 1e-12, "{vote:?} {model}: {share}");
                }
            }
        }
        let own = History::new(crowd[..2].iter());
        assert!((history.share_as_large(&own, &vote(0, 1, AWins), 0) - 1.0 / 4.0).abs() < 1e-12, "without own votes");
    }

    #[test]
    fn votes_for_a_target_do_not_cancel_between_first_and_second_place() {
        let crowd: Vec<CrowdVote> = (0..3)
            .filter(|model| *model != 1)
            .flat_map(|rival| (0..40).map(move |n| vote(1, rival, if n < 2 { Outcome::AWins } else { Outcome::BWins })))
            .collect();
        let rigged: Vec<CrowdVote> = (0..20).map(|n| vote(2 * (n % 2), 1, Outcome::BWins)).collect();
        let history = History::new(crowd.iter().chain(&rigged));
        let found = fisher_test(&history, &rigged, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        assert!(found.model == 1 && found.favours && found.votes == 20 && found.p < 1e-3, "{found:?}");
        assert_eq!(fisher_test(&history, &rigged[..4], &mut ChaCha8Rng::seed_from_u64(1)), None);
    }
}
