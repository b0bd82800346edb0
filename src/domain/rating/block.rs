//! Models whose strengths are fitted together, and their places in that fit.
//!
//! Under Bradley–Terry, components have nothing in common and each is a block. Davidson's ν belongs to all votes, so that
//! all components are one block then; each still keeps its mean at 0.

use nalgebra::DVector;

use super::bradley_terry::{Fit, ModelStrength};
use super::loss::{Likelihood, PairLoss};
use super::real_len;
use super::tally::PairTally;

/// Models whose strengths are fitted together.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) likelihood: Likelihood,
    /// The models, by position in the tally; their positions here are those of the parameters.
    pub(super) members: Vec<usize>,
    gauges: Vec<Vec<usize>>,
    /// For every model of the tally its component and its position here.
    places: Vec<Option<(usize, usize)>>,
}

/// The blocks of components, given by their models; one that holds a single model has nothing to fit.
pub(super) fn blocks(models: usize, components: &[Vec<usize>], likelihood: Likelihood) -> Vec<Block> {
    let fitted = || components.iter().filter(|members| members.len() > 1);
    match likelihood {
        Likelihood::BradleyTerry => {
            fitted().map(|members| Block::new(models, std::slice::from_ref(members), likelihood)).collect()
        }
        Likelihood::Davidson => {
            let all: Vec<Vec<usize>> = fitted().cloned().collect();
            if all.is_empty() { Vec::new() } else { vec![Block::new(models, &all, likelihood)] }
        }
    }
}

impl Block {
    pub(super) fn new(models: usize, components: &[Vec<usize>], likelihood: Likelihood) -> Self {
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

    /// The positions of the models of each component.
    pub(super) fn gauges(&self) -> &[Vec<usize>] {
        &self.gauges
    }

    /// The positions of two models of one component.
    pub(super) fn positions(&self, one: usize, other: usize) -> Option<(usize, usize)> {
        let ((component, first), (another, second)) = (self.places[one]?, self.places[other]?);
        (component == another).then_some((first, second))
    }

    /// Number of parameters.
    pub(super) fn parameters(&self) -> usize {
        self.members.len() + self.likelihood.extra()
    }

    /// The pairs of one component each, by positions here.
    pub(super) fn pairs(&self, pairs: &[PairTally]) -> Vec<PairTally> {
        let inside = |pair: &PairTally| {
            let (first, second) = self.positions(pair.first, pair.second)?;
            Some(PairTally { first, second, ..*pair })
        };
        pairs.iter().filter_map(inside).collect()
    }

    pub(super) fn loss(&self, pairs: &[PairTally]) -> PairLoss {
        PairLoss::new(self.likelihood, self.members.len(), self.pairs(pairs), self.gauges.clone())
    }

    /// The parameters as a fit found them.
    pub(super) fn point(&self, fit: &Fit) -> DVector<f64> {
        let strength = |&model: &usize| match fit.model_strengths[model] {
            ModelStrength::Rated { strength, .. } => strength,
            ModelStrength::Unbounded { .. } => 0.0,
        };
        let strengths = self.members.iter().map(strength);
        DVector::from_iterator(self.parameters(), strengths.chain(fit.log_nu))
    }

    /// Takes the mean of each component out of the strengths: steps keep it only up to rounding.
    pub(super) fn centre(&self, point: &mut DVector<f64>) {
        for gauge in &self.gauges {
            let mean = gauge.iter().map(|&i| point[i]).sum::<f64>() / real_len(gauge.len());
            gauge.iter().for_each(|&i| point[i] -= mean);
        }
    }
}
