//! Largest component of a fit, with the quantities that the checks of the whole leaderboard share.

use nalgebra::{DMatrix, DVector};

use super::super::counts::tally::{PairTally, Tally};
use super::super::strengths::model_block::ModelBlock;
use super::super::strengths::negative_log_likelihood::{Likelihood, PairLoss, logistic};
use super::super::strengths::newton::inverse_but_for_a_constant;
use super::FitError;
use crate::rating::strengths::fit::Fit;

/// Largest κ: above it, votes for neither would exceed the weaker model's share.
const MAX_KAPPA: f64 = 2.0;

/// Rated models of the largest component, at least two, and the votes between them.
#[derive(Debug)]
pub(super) struct LargestComponent {
    /// Models by position in the tally, ascending. All other positions of this struct are positions in this list.
    pub(super) members: Vec<usize>,
    pub(super) names: Vec<String>,
    pub(super) loss: PairLoss,
    /// θ.
    pub(super) strengths: DVector<f64>,
    /// H⁺ up to a constant.
    pub(super) inverse: DMatrix<f64>,
}

impl LargestComponent {
    /// Extracts the largest component; `None` without two rated models that votes compare.
    pub(super) fn new(tally: &Tally, fit: &Fit) -> Result<Option<Self>, FitError> {
        // Components are in order of their size.
        let Some(members) = fit.members().into_iter().next().filter(|members| members.len() > 1) else {
            return Ok(None);
        };
        let block = ModelBlock::new(tally.models.len(), std::slice::from_ref(&members), Likelihood::BradleyTerry);
        let (loss, strengths) = (block.loss(&tally.pairs), block.point(fit));
        let inverse = inverse_but_for_a_constant(&loss, &strengths)?;
        let names = members.iter().map(|&model| tally.models[model].name.clone()).collect();
        Ok(Some(Self { members, names, loss, strengths, inverse }))
    }

    /// Returns the position of a model of the tally.
    pub(super) fn place(&self, model: usize) -> Option<usize> {
        self.members.binary_search(&model).ok()
    }

    pub(super) fn pairs(&self) -> &[PairTally] {
        self.loss.pairs()
    }

    /// Returns the number of votes.
    pub(super) fn votes(&self) -> f64 {
        self.pairs().iter().map(votes_of).sum()
    }

    /// Computes the expected share of points of the first model of a pair.
    pub(super) fn share_of_first(&self, pair: &PairTally) -> f64 {
        logistic(self.strengths[pair.first] - self.strengths[pair.second])
    }

    /// Estimates κ: a vote is for neither with probability κ·p(1−p), p the share of the first model, so that the expected number of
    /// votes for neither equals the observed one.
    pub(super) fn kappa(&self) -> f64 {
        let halves: f64 = self.pairs().iter().map(|pair| pair.halves).sum();
        let variance = |pair: &PairTally| {
            let p = self.share_of_first(pair);
            votes_of(pair) * p * (1.0 - p)
        };
        (halves / self.pairs().iter().map(variance).sum::<f64>()).min(MAX_KAPPA)
    }

    /// Computes (e_first − e_second)ᵀ H⁺ (e_first − e_second): the variance of the difference of two strengths if every vote were for a
    /// side.
    pub(super) fn spread(&self, first: usize, second: usize) -> f64 {
        let h = &self.inverse;
        h[(first, first)] + h[(second, second)] - h[(first, second)] - h[(second, first)]
    }
}

/// Returns the number of votes of a pair.
pub(super) fn votes_of(pair: &PairTally) -> f64 {
    pair.first_wins + pair.second_wins + pair.halves
}

/// Computes G² of pairs from the loss of their fit: twice its excess over the loss of the saturated model.
pub(super) fn deviance(pairs: &[PairTally], loss: f64) -> f64 {
    let of_points = |points: f64, votes: f64| if points > 0.0 { points * (points / votes).ln() } else { 0.0 };
    let saturated = |pair: &PairTally| {
        let votes = votes_of(pair);
        of_points(pair.points_first(), votes) + of_points(pair.points_second(), votes)
    };
    (2.0 * (loss + pairs.iter().map(saturated).sum::<f64>())).max(0.0)
}
