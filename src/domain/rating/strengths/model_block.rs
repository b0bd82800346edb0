//! Blocks: sets of models whose strengths are fitted jointly.
//!
//! Under Bradley–Terry each component is a block. Davidson's ν is shared by all votes, so all components form one
//! block; each component still has mean strength 0.

use nalgebra::DVector;

use super::super::counts::tally::PairTally;
use super::fit::{Fit, ModelStrength};
use super::negative_log_likelihood::{Likelihood, PairLoss};
use crate::stats::real_len;

#[derive(Debug, Clone)]
pub(in crate::rating) struct ModelBlock {
    pub(in crate::rating) likelihood: Likelihood,
    /// Positions of the models in the tally, in the order of the parameters.
    pub(in crate::rating) members: Vec<usize>,
    gauges: Vec<Vec<usize>>,
    /// Component and parameter of each model of the tally; `None` for models outside the block.
    places: Vec<Option<(usize, usize)>>,
}

/// Builds the blocks of components. A component with a single model has no parameters and no block.
pub(in crate::rating) fn blocks(models: usize, components: &[Vec<usize>], likelihood: Likelihood) -> Vec<ModelBlock> {
    let fitted = || components.iter().filter(|members| members.len() > 1);
    match likelihood {
        Likelihood::BradleyTerry => {
            fitted().map(|members| ModelBlock::new(models, std::slice::from_ref(members), likelihood)).collect()
        }
        Likelihood::Davidson => {
            let all: Vec<Vec<usize>> = fitted().cloned().collect();
            if all.is_empty() { Vec::new() } else { vec![ModelBlock::new(models, &all, likelihood)] }
        }
    }
}

/// Builds the blocks of the models that a fit rates.
pub(in crate::rating) fn blocks_of(fit: &Fit) -> Vec<ModelBlock> {
    blocks(fit.model_strengths.len(), &fit.members(), fit.likelihood())
}

impl ModelBlock {
    pub(in crate::rating) fn new(models: usize, components: &[Vec<usize>], likelihood: Likelihood) -> Self {
        let mut block = Self { likelihood, members: Vec::new(), gauges: Vec::new(), places: vec![None; models] };
        for (component, members) in components.iter().enumerate() {
            let first = block.members.len();
            for (position, &model) in members.iter().enumerate() {
                block.places[model] = Some((component, first + position));
            }
            block.members.extend(members);
            block.gauges.push((first..block.members.len()).collect());
        }
        block
    }

    /// Returns the parameters of the models of each component.
    pub(in crate::rating) fn gauges(&self) -> &[Vec<usize>] {
        &self.gauges
    }

    /// Returns the parameters of two models; `None` unless both belong to the same component of this block.
    pub(in crate::rating) fn positions(&self, one: usize, other: usize) -> Option<(usize, usize)> {
        let ((component, first), (another, second)) = (self.places[one]?, self.places[other]?);
        (component == another).then_some((first, second))
    }

    pub(in crate::rating) fn parameters(&self) -> usize {
        self.members.len() + self.likelihood.extra()
    }

    /// Selects the pairs within components, with parameters as positions.
    pub(in crate::rating) fn pairs(&self, pairs: &[PairTally]) -> Vec<PairTally> {
        let inside = |pair: &PairTally| {
            let (first, second) = self.positions(pair.first, pair.second)?;
            Some(PairTally { first, second, ..*pair })
        };
        pairs.iter().filter_map(inside).collect()
    }

    pub(in crate::rating) fn loss(&self, pairs: &[PairTally]) -> PairLoss {
        self.loss_of(self.pairs(pairs))
    }

    /// Builds the loss of pairs whose positions are parameters.
    pub(in crate::rating) fn loss_of(&self, inside: Vec<PairTally>) -> PairLoss {
        PairLoss::new(self.likelihood, self.members.len(), inside, self.gauges.clone())
    }

    /// Returns the parameters of a fit.
    pub(in crate::rating) fn point(&self, fit: &Fit) -> DVector<f64> {
        let strength = |&model: &usize| match fit.model_strengths[model] {
            ModelStrength::Rated { strength, .. } => strength,
            ModelStrength::Unbounded { .. } => 0.0,
        };
        let strengths = self.members.iter().map(strength);
        DVector::from_iterator(self.parameters(), strengths.chain(fit.log_nu))
    }

    /// Subtracts the mean strength of each component; Newton steps preserve it only up to rounding.
    pub(in crate::rating) fn centre(&self, point: &mut DVector<f64>) {
        for gauge in &self.gauges {
            let mean = gauge.iter().map(|&i| point[i]).sum::<f64>() / real_len(gauge.len());
            gauge.iter().for_each(|&i| point[i] -= mean);
        }
    }
}
