//! Minimum number of votes whose removal reverses the order of two models, bounded from above.
//!
//! Removing a vote (a, b, y) moves the gap between i and j by about −(y − p)·(h_a − h_b), h = H⁺(e_i − e_j): its
//! influence (Broderick, Giordano and Meager 2020; Huang et al. 2025, "Dropping just a handful of preferences"). Votes
//! of one pair and outcome have the same influence. [`min_votes_to_flip`] removes the most influential votes, at first
//! half of the estimated number and in the end one at a time, with an exact refit after each step. As long as votes connect the
//! models as before, the refit starts at the last fit and uses its Hessian again.
//!
//! The last refit confirms that the reported votes reverse the order, so their number is an upper bound of the minimum.
//! It is proven to be the minimum only where it is a single vote.

use nalgebra::DVector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::counts::tally::Tally;
use super::super::strengths::bradley_terry::fit;
use super::super::strengths::graph::connected_both_ways;
use super::super::strengths::model_block::ModelBlock;
use super::super::strengths::negative_log_likelihood::{Likelihood, logistic};
use super::super::strengths::newton::FixedHessianSolver;
use super::pair_winner::PairWinner;
use super::{FitError, ROUNDING, height};
use crate::rating::strengths::fit::{Fit, ModelStrength};
use crate::stats::real;

/// Maximum number of refits. Each removes half of the needed votes, so this is far more than any log takes.
const MAX_STEPS: usize = 200;
/// Number of votes at or below which votes are removed one at a time.
const MAX_SINGLE_REMOVALS: u64 = 6;

/// Votes of one pair and outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedVotes {
    /// Preferred model; for a tie, one of the two.
    pub winner: String,
    /// Other model.
    pub loser: String,
    /// Whether the votes are for neither.
    pub tie: bool,
    /// Number of votes.
    pub votes: u64,
}

/// Votes whose removal reverses the order of two models.
#[derive(Debug)]
pub(super) struct Flip {
    pub(super) votes: u64,
    pub(super) removed: Vec<RemovedVotes>,
}

/// Votes of one pair and outcome that support the order, and their influence.
struct OrderSupport {
    pair: usize,
    kind: PairWinner,
    influence: f64,
    votes: u64,
}

/// Finds the votes whose removal puts `lower` above `upper`. `None` if the search ends without a flip or the two ratings cease to be
/// comparable.
pub(super) fn min_votes_to_flip(
    tally: &Tally,
    fitted: &Fit,
    upper: usize,
    lower: usize,
) -> Result<Option<Flip>, FitError> {
    let (mut left, mut now) = (tally.clone(), fitted.clone());
    for _ in 0..MAX_STEPS {
        let Some(gap) = gap(&now, upper, lower) else { return Ok(None) };
        if gap < -ROUNDING {
            return Ok(Some(flip(tally, &left)));
        }
        if !gap.is_finite() {
            return Ok(None);
        }
        let component = FittedComponent::new(&left, &now, upper)?;
        if !component.remove_votes(&mut left, upper, lower, gap.max(0.0)) {
            return Ok(None);
        }
        now = component.refit(&left, now)?;
    }
    Ok(None)
}

/// Computes the difference of the strengths of two models of one component.
fn gap(fit: &Fit, upper: usize, lower: usize) -> Option<f64> {
    let (upper, lower) = (&fit.model_strengths[upper], &fit.model_strengths[lower]);
    let gap = height(upper) - height(lower);
    (upper.component() == lower.component() && !gap.is_nan()).then_some(gap)
}

/// Component of the two models with its latest fit.
struct FittedComponent {
    block: ModelBlock,
    strengths: DVector<f64>,
    nearby: FixedHessianSolver,
}

impl FittedComponent {
    fn new(left: &Tally, now: &Fit, model: usize) -> Result<Self, FitError> {
        let members = now.members().swap_remove(now.model_strengths[model].component());
        let block = ModelBlock::new(left.models.len(), &[members], Likelihood::BradleyTerry);
        let strengths = block.point(now);
        let nearby = FixedHessianSolver::new(&block.loss(&left.pairs), &strengths)?;
        Ok(Self { block, strengths, nearby })
    }

    /// Removes some of the most influential votes; `false` if no vote supports the order.
    fn remove_votes(&self, left: &mut Tally, upper: usize, lower: usize, gap: f64) -> bool {
        let support = self.order_support(left, upper, lower);
        let needed = needed(&support, gap);
        let mut to_take = if needed <= MAX_SINGLE_REMOVALS { 1 } else { needed / 2 };
        for kind in &support {
            let votes = kind.votes.min(to_take);
            *kind.kind.votes(&mut left.pairs[kind.pair]) -= real(votes);
            to_take -= votes;
        }
        !support.is_empty()
    }

    /// Lists the votes that support the order, most influential first.
    fn order_support(&self, left: &Tally, upper: usize, lower: usize) -> Vec<OrderSupport> {
        let mut support = Vec::new();
        let Some((upper, lower)) = self.block.positions(upper, lower) else { return support };
        let pull = self.nearby.pull(upper, lower);
        for (position, pair) in left.pairs.iter().enumerate() {
            let Some((first, second)) = self.block.positions(pair.first, pair.second) else { continue };
            let p = logistic(self.strengths[first] - self.strengths[second]);
            for kind in PairWinner::ALL {
                let influence = (kind.points_first() - p) * (pull[first] - pull[second]);
                let votes = whole(*kind.votes(&mut pair.clone()));
                if influence > 0.0 && votes > 0 {
                    support.push(OrderSupport { pair: position, kind, influence, votes });
                }
            }
        }
        support.sort_by(|x, y| y.influence.total_cmp(&x.influence));
        support
    }

    /// Refits without the removed votes, which are all of this component.
    fn refit(&self, left: &Tally, mut now: Fit) -> Result<Fit, FitError> {
        let inside = self.block.pairs(&left.pairs);
        let models: Vec<usize> = (0..self.block.members.len()).collect();
        let is_whole = connected_both_ways(models.len(), &inside, &models);
        let from_last_fit = || self.nearby.minimise(&self.block.loss_of(inside), &self.strengths);
        let Some(point) = is_whole.then(from_last_fit).flatten() else { return fit(left) };
        for (&model, &found) in self.block.members.iter().zip(point.iter()) {
            if let ModelStrength::Rated { strength, .. } = &mut now.model_strengths[model] {
                *strength = found;
            }
        }
        Ok(now)
    }
}

/// Estimates the number of votes to remove, by influence; all of them if that is not enough.
fn needed(support: &[OrderSupport], gap: f64) -> u64 {
    let (mut missing, mut votes) = (gap, 0);
    for kind in support {
        let all = real(kind.votes) * kind.influence;
        if all >= missing {
            return votes + whole((missing / kind.influence).ceil());
        }
        missing -= all;
        votes += kind.votes;
    }
    votes
}

fn flip(before: &Tally, after: &Tally) -> Flip {
    let name = |model: usize| before.models[model].name.clone();
    let mut removed = Vec::new();
    for (mut was, mut is) in before.pairs.iter().copied().zip(after.pairs.iter().copied()) {
        for kind in PairWinner::ALL {
            let votes = whole(*kind.votes(&mut was) - *kind.votes(&mut is));
            let (winner, loser) =
                if kind == PairWinner::Second { (was.second, was.first) } else { (was.first, was.second) };
            if votes > 0 {
                removed.push(RemovedVotes {
                    winner: name(winner),
                    loser: name(loser),
                    tie: kind == PairWinner::Neither,
                    votes,
                });
            }
        }
    }
    removed.sort_by_key(|removed| std::cmp::Reverse(removed.votes));
    Flip { votes: removed.iter().map(|removed| removed.votes).sum(), removed }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of votes, whole and not negative")]
pub(super) fn whole(votes: f64) -> u64 {
    votes.round() as u64
}
