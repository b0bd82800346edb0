//! Refit without one voter, for voters with too much information for a single Newton step.

use std::collections::HashMap;
use std::sync::OnceLock;

use nalgebra::DVector;

use super::block_votes::BlockVote;
use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::counts::tally::PairTally;
use crate::rating::strengths::graph::decompose;
use crate::rating::strengths::model_block::ModelBlock;
use crate::rating::strengths::negative_log_likelihood::{Likelihood, PairLoss};
use crate::rating::strengths::newton::minimise;

/// Points below which the rest after a subtraction of votes is rounding error.
const ROUNDING: f64 = 1e-9;

/// Refits of a block without one voter.
pub(super) struct Refits {
    likelihood: Likelihood,
    models: usize,
    gauges: Vec<Vec<usize>>,
    /// Position of each pair in the loss, computed at the first refit.
    index: OnceLock<HashMap<(usize, usize), usize>>,
    point: DVector<f64>,
    loss: PairLoss,
}

/// Step H·(θ_(g) − θ) of leaving out a voter.
pub(super) enum VoterLeftOut {
    Fitted(DVector<f64>),
    /// The votes of the others do not connect all models: the step of the largest group, if any, and the parameters outside of it.
    Divided(Option<DVector<f64>>, Vec<usize>),
}

impl Refits {
    pub(super) fn new(block: &ModelBlock, point: &DVector<f64>, loss: PairLoss) -> Self {
        Self {
            likelihood: block.likelihood,
            models: block.members.len(),
            gauges: block.gauges().to_vec(),
            index: OnceLock::new(),
            point: point.clone(),
            loss,
        }
    }

    /// Refits the block without these votes.
    pub(super) fn without(&self, votes: &[BlockVote]) -> Result<VoterLeftOut, FitError> {
        let pairs = self.subtract(votes);
        let kept = self.largest_groups(&pairs);
        let apart: Vec<usize> =
            (0..self.models).filter(|model| !kept.iter().flatten().any(|one| one == model)).collect();
        if kept.iter().all(|group| group.len() < 2) {
            return Ok(VoterLeftOut::Divided(None, (0..self.point.len()).collect()));
        }
        let mut group_of = vec![None; self.models];
        for (group, members) in kept.iter().enumerate() {
            members.iter().for_each(|&model| group_of[model] = Some(group));
        }
        let inside = |pair: &PairTally| group_of[pair.first].is_some() && group_of[pair.first] == group_of[pair.second];
        let pairs = pairs.into_iter().filter(inside).collect();
        let gauges = kept.into_iter().chain(apart.iter().map(|&model| vec![model])).collect();
        let loss = PairLoss::new(self.likelihood, self.models, pairs, gauges);
        let moved = minimise(loss, self.point.clone())?.point - &self.point;
        let step = self.loss.curve(&self.point, &moved);
        Ok(if apart.is_empty() { VoterLeftOut::Fitted(step) } else { VoterLeftOut::Divided(Some(step), apart) })
    }

    fn subtract(&self, votes: &[BlockVote]) -> Vec<PairTally> {
        let mut pairs = self.loss.pairs().to_vec();
        let rows = || pairs.iter().enumerate().map(|(row, pair)| ((pair.first, pair.second), row)).collect();
        let index = self.index.get_or_init(rows);
        for vote in votes {
            let turned = !index.contains_key(&(vote.first, vote.second));
            let key = if turned { (vote.second, vote.first) } else { (vote.first, vote.second) };
            let pair = &mut pairs[index[&key]];
            let points = match vote.outcome {
                Outcome::AWins if turned => &mut pair.second_wins,
                Outcome::BWins if turned => &mut pair.first_wins,
                Outcome::AWins => &mut pair.first_wins,
                Outcome::BWins => &mut pair.second_wins,
                Outcome::Tie | Outcome::BothBad => &mut pair.halves,
            };
            *points -= vote.weight;
            // Fractional weights leave a rounding error where all votes of a kind are subtracted.
            if *points < ROUNDING {
                *points = 0.0;
            }
        }
        pairs
    }

    /// Finds the largest group of models of each gauge that these votes still compare in both directions.
    fn largest_groups(&self, pairs: &[PairTally]) -> Vec<Vec<usize>> {
        let met: Vec<PairTally> =
            pairs.iter().filter(|pair| pair.points_first() + pair.points_second() > 0.0).copied().collect();
        let of_gauge = |gauge: &Vec<usize>| {
            let position: HashMap<usize, usize> = gauge.iter().enumerate().map(|(at, &model)| (model, at)).collect();
            let within = |pair: &PairTally| {
                Some(PairTally { first: *position.get(&pair.first)?, second: *position.get(&pair.second)?, ..*pair })
            };
            let within: Vec<PairTally> = met.iter().filter_map(within).collect();
            let mut largest = largest_component(gauge.len(), &within);
            largest.iter_mut().for_each(|at| *at = gauge[*at]);
            largest
        };
        self.gauges.iter().map(of_gauge).collect()
    }
}

/// Finds the largest strongly connected component of the models that still have votes.
fn largest_component(models: usize, pairs: &[PairTally]) -> Vec<usize> {
    let mut met: Vec<usize> = pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect();
    met.sort_unstable();
    met.dedup();
    let mut position = vec![0; models];
    met.iter().enumerate().for_each(|(at, &model)| position[model] = at);
    let moved = |pair: &PairTally| PairTally { first: position[pair.first], second: position[pair.second], ..*pair };
    let pairs: Vec<PairTally> = pairs.iter().map(moved).collect();
    let layout = decompose(met.len(), &pairs);
    layout.components.into_iter().next().unwrap_or_default().into_iter().map(|at| met[at]).collect()
}
