//! Consistency of voters with the crowd: a diagnostic, never used as a weight.
//!
//! Crowd-BT (Chen, Bennett, Collins-Thompson and Horvitz 2013, "Pairwise ranking aggregation in a crowdsourced setting",
//! section 3): voter k prefers a to b with probability η·σ(d) + (1 − η)·σ(−d), d = θ_a − θ_b. η is 1 for a voter consistent with
//! the ratings, ½ for random votes, and 0 for reversed votes. A vote for neither model carries no information on η and is left out.
//!
//! Few votes carry little information on η, so each η is shrunk towards the others: its prior is Beta(α, β) on a grid of
//! [`ETA_NODES`] values, with the α and β of a lattice under which the votes of all voters are most likely (empirical Bayes).
//!
//! The strengths include the votes of the voter itself, which would inflate its agreement with the crowd. A Newton step therefore
//! removes them: θ − H⁺ Σ (y − p)(e_a − e_b).

use std::ops::RangeInclusive;

use nalgebra::DVector;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::counts::tally::Tally;
use super::super::strengths::negative_log_likelihood::logistic;
use super::component::LargestComponent;
use super::pair_votes_by_voter::CountedVote;
use super::pair_winner::PairWinner;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::distribution::quantile;
use crate::stats::real_len;

/// Minimum number of votes for a side of a voter that is reported individually.
const MIN_VOTES: u64 = 10;
/// Maximum number of voters, the most active; it bounds the running time.
const MAX_VOTERS: usize = 20_000;
/// Values of η: the midpoints of equal parts of 0 to 1.
const ETA_NODES: usize = 100;
/// α of the priors: the powers of two from 1/4 to 512.
const ALPHA_EXPONENTS: RangeInclusive<i32> = -2..=9;
/// β of the priors: the powers of two from 1/32 to 64.
const BETA_EXPONENTS: RangeInclusive<i32> = -5..=6;
/// Number of votes after which a likelihood is rescaled, so that it does not underflow.
const VOTES_PER_RESCALING: u64 = 100;
/// Number of deciles, including minimum and maximum.
const DECILE_COUNT: usize = 11;

/// Consistency of voters with the crowd.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VoterConsistency {
    /// Number of analysed voters: those with most votes.
    pub voters: u64,
    /// Mean of the posterior means of η of these voters.
    pub mean: f64,
    /// Minimum number of votes for a side of an active voter.
    pub min_votes: u64,
    /// Number of active voters, with at least `min_votes` votes for a side.
    pub active: u64,
    /// Number of active voters against the crowd: η is below ½ with a probability of at least the confidence level.
    pub against: u64,
    /// Number of votes of the voters against the crowd.
    pub votes_against: u64,
    /// Minimum, deciles and maximum of the posterior mean of η over the active voters; empty without active voters.
    pub deciles: Vec<f64>,
}

/// Estimates the consistency of the voters; `None` where no vote for a side names its voter.
pub(super) fn voter_consistency(
    component: &LargestComponent,
    tally: &Tally,
    voters: &[Vec<CountedVote>],
    level: ConfidenceLevel,
) -> Option<VoterConsistency> {
    let looked_at = &voters[..voters.len().min(MAX_VOTERS)];
    let judged = |votes: &Vec<CountedVote>| VoterLikelihood::new(component, tally, votes);
    let judged: Vec<VoterLikelihood> = looked_at.par_iter().filter_map(judged).collect();
    let prior = Prior::most_likely(&judged)?;
    let active = judged.iter().filter(|voter| voter.votes >= MIN_VOTES);
    let active: Vec<(u64, VoterPosterior)> = active.map(|voter| (voter.votes, prior.posterior(voter))).collect();
    let against = active.iter().filter(|(_, posterior)| posterior.below_half >= level.share());
    let against: Vec<u64> = against.map(|(votes, _)| *votes).collect();
    let mut means: Vec<f64> = active.iter().map(|(_, posterior)| posterior.mean).collect();
    means.sort_by(f64::total_cmp);
    let deciles = if means.is_empty() { 0 } else { DECILE_COUNT };
    Some(VoterConsistency {
        voters: u64::try_from(judged.len()).unwrap_or(u64::MAX),
        mean: judged.iter().map(|voter| prior.posterior(voter).mean).sum::<f64>() / real_len(judged.len()),
        min_votes: MIN_VOTES,
        active: u64::try_from(active.len()).unwrap_or(u64::MAX),
        against: u64::try_from(against.len()).unwrap_or(u64::MAX),
        votes_against: against.iter().sum(),
        deciles: (0..deciles).map(|tenth| quantile(&means, real_len(tenth) / 10.0)).collect(),
    })
}

/// Likelihood of the votes of a voter under each η.
struct VoterLikelihood {
    /// Number of votes for a side.
    votes: u64,
    /// Likelihood by node of the grid, scaled so that the largest is 1.
    of_node: [f64; ETA_NODES],
}

impl VoterLikelihood {
    /// Computes the likelihood; `None` without a vote for a side in the component.
    fn new(component: &LargestComponent, tally: &Tally, votes: &[CountedVote]) -> Option<Self> {
        let votes: Vec<RatedVote> = votes.iter().filter_map(|vote| RatedVote::new(component, tally, *vote)).collect();
        let shift = shift_without(component, &votes);
        let mut found = Self { votes: 0, of_node: [1.0; ETA_NODES] };
        for vote in votes.iter().filter(|vote| vote.kind != PairWinner::Neither) {
            let d = vote.difference(component) - (shift[vote.first] - shift[vote.second]);
            let agrees = logistic(if vote.kind == PairWinner::First { d } else { -d });
            for (node, likelihood) in found.of_node.iter_mut().enumerate() {
                *likelihood *= (1.0 - agrees) + eta(node) * (2.0 * agrees - 1.0);
            }
            found.votes += 1;
            if found.votes.is_multiple_of(VOTES_PER_RESCALING) {
                found.scale();
            }
        }
        found.scale();
        (found.votes > 0).then_some(found)
    }

    fn scale(&mut self) {
        let most = self.of_node.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        self.of_node.iter_mut().for_each(|likelihood| *likelihood /= most);
    }
}

/// Returns η of a node.
fn eta(node: usize) -> f64 {
    (real_len(node) + 0.5) / real_len(ETA_NODES)
}

/// A vote between two models of the component.
struct RatedVote {
    first: usize,
    second: usize,
    kind: PairWinner,
}

impl RatedVote {
    fn new(component: &LargestComponent, tally: &Tally, vote: CountedVote) -> Option<Self> {
        let pair = &tally.pairs[vote.pair];
        Some(Self { first: component.place(pair.first)?, second: component.place(pair.second)?, kind: vote.kind })
    }

    fn difference(&self, component: &LargestComponent) -> f64 {
        component.strengths[self.first] - component.strengths[self.second]
    }
}

/// Computes H⁺ Σ (y − p)(e_first − e_second), the shift of the strengths by the votes of a voter.
fn shift_without(component: &LargestComponent, votes: &[RatedVote]) -> DVector<f64> {
    let mut slope = DVector::<f64>::zeros(component.members.len());
    for vote in votes {
        let residual = vote.kind.points_first() - logistic(vote.difference(component));
        slope[vote.first] += residual;
        slope[vote.second] -= residual;
    }
    let mut shift = DVector::zeros(slope.len());
    for (model, slope) in slope.iter().enumerate().filter(|(_, slope)| slope.abs() > 0.0) {
        shift.axpy(*slope, &component.inverse.column(model), 1.0);
    }
    shift
}

/// A Beta prior of η on the grid.
struct Prior {
    /// Weights by node, with sum 1.
    weights: [f64; ETA_NODES],
}

/// Posterior of a voter's η.
struct VoterPosterior {
    mean: f64,
    /// Probability that η is below ½.
    below_half: f64,
}

impl Prior {
    /// Creates weights in proportion to η^(α−1)·(1−η)^(β−1).
    fn new(alpha: f64, beta: f64) -> Self {
        let log = |node: usize| (alpha - 1.0) * eta(node).ln() + (beta - 1.0) * (1.0 - eta(node)).ln();
        let most = (0..ETA_NODES).map(log).fold(f64::NEG_INFINITY, f64::max);
        let mut weights = std::array::from_fn(|node| (log(node) - most).exp());
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Self { weights }
    }

    /// Finds the prior of the lattice with the largest marginal likelihood; `None` without voters.
    fn most_likely(voters: &[VoterLikelihood]) -> Option<Self> {
        let lattice = ALPHA_EXPONENTS.flat_map(|alpha| BETA_EXPONENTS.map(move |beta| (alpha, beta)));
        let lattice: Vec<(i32, i32)> = lattice.filter(|_| !voters.is_empty()).collect();
        let tried = lattice.into_par_iter().map(|(alpha, beta)| {
            let prior = Self::new(2_f64.powi(alpha), 2_f64.powi(beta));
            (prior.log_likelihood(voters), prior)
        });
        let tried: Vec<(f64, Self)> = tried.collect();
        tried.into_iter().max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, prior)| prior)
    }

    /// Computes the log marginal likelihood of the votes of all voters, up to a constant.
    fn log_likelihood(&self, voters: &[VoterLikelihood]) -> f64 {
        voters.iter().map(|voter| self.likelihood(voter).ln()).sum()
    }

    fn likelihood(&self, voter: &VoterLikelihood) -> f64 {
        self.weights.iter().zip(&voter.of_node).map(|(weight, likelihood)| weight * likelihood).sum()
    }

    fn posterior(&self, voter: &VoterLikelihood) -> VoterPosterior {
        let all = self.likelihood(voter);
        let share = |node: usize| self.weights[node] * voter.of_node[node] / all;
        VoterPosterior {
            mean: (0..ETA_NODES).map(|node| eta(node) * share(node)).sum(),
            below_half: (0..ETA_NODES / 2).map(share).sum(),
        }
    }
}
