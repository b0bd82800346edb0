//! Intervals by leaving out one voter at a time: accurate where voters have individual tastes and a few cast many votes.
//!
//! V = (G−1)/G · Σ_g (θ_(g) − θ)(θ_(g) − θ)ᵀ, where θ_(g) is the fit without voter g and G the number of voters: the
//! jackknife of clusters, CR3 (Bell and McCaffrey 2002; MacKinnon, Nielsen and Webb 2023). The sandwich by voter of
//! [`super::clustered_sandwich`] leaves each voter in the fit that the voter's votes are compared with, and so is too narrow.
//!
//! For most voters θ_(g) − θ is one Newton step, (H − H_g)⁻¹ s_g, with s_g the sum of the voter's scores and H_g the
//! voter's part of the Hessian. Since (H − H_g)⁻¹ s_g = H⁺ w_g with w_g = (1 − H_g H⁺)⁻¹ s_g, V = H⁺ (Σ w_g w_gᵀ) H⁺, and
//! w_g is zero where the voter has no vote. A voter with more than [`REFIT_SHARE`] of the information on some model is
//! left out by a refit, and w_g = H (θ_(g) − θ).
//!
//! The interval of model i is θ_i ± t·√V_ii, with Student's t at G_i − 1 degrees of freedom. G_i = (Σ h_g)² / Σ h_g² is the
//! effective number of voters (Kish 1965), h_g being the information of voter g's votes on model i, (H_g)_ii.

mod block_votes;
mod correction;
mod refit;
mod sums;

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::covariance::Covariances;
use super::sandwich::{Uncertainty, own_scores_of};
use crate::rating::FitError;
use crate::rating::counts::tally::Tally;
use crate::rating::counts::votes_by_voter::VotesByVoter;
use crate::rating::counts::weighting::Weights;
use crate::rating::strengths::fit::Fit;
use crate::rating::strengths::model_block::{ModelBlock, blocks_of};
use crate::rating::strengths::newton::inverse_but_for_a_constant;
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::VoteLog;
use block_votes::Voter;
pub(in crate::rating) use correction::Correction;
use refit::{Refits, VoterLeftOut};
pub(in crate::rating) use sums::{SumsOfVoters, ranges};

/// Share of the information on some model above which a voter is left out by a refit: a single Newton step from the fit with the voter
/// would end too far from the fit without.
const REFIT_SHARE: f64 = 0.25;

/// Computes standard errors by leaving out one voter at a time.
///
/// # Errors
/// [`FitError::NoVoters`] if the log has no voters, [`FitError::Solver`] if the Hessian cannot be inverted.
pub(in crate::rating) fn jackknife(
    log: &VoteLog,
    scoring: Scoring,
    weights: &Weights,
    tally: &Tally,
    fit: &Fit,
) -> Result<Uncertainty, FitError> {
    let voters = log.voters.as_ref().ok_or(FitError::NoVoters)?;
    let blocks = blocks_of(fit);
    let (votes, leaving) = rayon::join(
        || VotesByVoter::new(log, voters, scoring, tally),
        || blocks.iter().map(|block| BlockJackknife::new(block, tally, block.point(fit))).collect::<Vec<_>>(),
    );
    let mut found = Uncertainty::unknown(tally.models.len());
    for leaving in leaving {
        let leaving = leaving?;
        let (block, sums) = (leaving.block, leaving.sums(&votes, weights)?);
        let covariance =
            Covariances::is_kept_for(block.members.len()).then(|| sums.covariance(&leaving.inverse)).flatten();
        let variances = match &covariance {
            Some(covariance) => Some(covariance.diagonal()),
            None => sums.variances(&leaving.inverse),
        };
        if let Some(variances) = variances {
            found.put_by_voters(block, &variances, &sums.effective_voters(), sums.single_voter());
            found.drop_without_own_scores(block, &own_scores_of(block, tally, &leaving.point));
        }
        if let Some(covariance) = covariance {
            found.put_covariance(block, covariance);
        }
    }
    Ok(found)
}

/// Block with its optimum and derivatives, for leaving out voters.
struct BlockJackknife<'a> {
    block: &'a ModelBlock,
    point: DVector<f64>,
    inverse: DMatrix<f64>,
    /// Diagonal of the Hessian.
    information: DVector<f64>,
    refits: Refits,
}

impl<'a> BlockJackknife<'a> {
    fn new(block: &'a ModelBlock, tally: &Tally, point: DVector<f64>) -> Result<Self, FitError> {
        let loss = block.loss(&tally.pairs);
        let (information, inverse) = (loss.information(&point), inverse_but_for_a_constant(&loss, &point)?);
        let refits = Refits::new(block, &point, loss);
        Ok(Self { block, point, inverse, information, refits })
    }

    /// Computes the sums over all voters. Ranges of voters are summed separately and then in order, so that the number of threads does
    /// not change the result.
    fn sums(&self, votes: &VotesByVoter, weights: &Weights) -> Result<SumsOfVoters, FitError> {
        let size = self.point.len();
        let parts: Vec<SumsOfVoters> = ranges(votes.len())
            .into_par_iter()
            .map(|range| {
                let (mut sums, mut voter) = (SumsOfVoters::new(size), Voter::new(self.block, &self.point));
                let mut correction = Correction::default();
                for of_voter in range.map(|voter| votes.of(voter)) {
                    voter.read(of_voter, weights);
                    self.leave_out(&voter, &mut correction, &mut sums)?;
                }
                Ok(sums)
            })
            .collect::<Result<_, FitError>>()?;
        Ok(SumsOfVoters::total(size, parts))
    }

    fn leave_out(
        &self,
        voter: &Voter<'_>,
        correction: &mut Correction,
        sums: &mut SumsOfVoters,
    ) -> Result<(), FitError> {
        if voter.votes().is_empty() {
            return Ok(());
        }
        let (touched, information) = (voter.touched(), voter.information());
        let held = touched.iter().zip(information);
        let share = held.map(|(&parameter, own)| own / self.information[parameter]).fold(0.0, f64::max);
        if share <= REFIT_SHARE {
            correction.set(touched, voter.score(), &self.inverse);
            if let Some(corrected) = correction.solve(|from, to| voter.curve(from, to)) {
                sums.add(touched, corrected, information);
                return Ok(());
            }
        }
        sums.add_information(touched, information);
        match self.refits.without(voter.votes())? {
            VoterLeftOut::Fitted(step) => sums.add_over_all(&step),
            VoterLeftOut::Divided(step, apart) => {
                step.iter().for_each(|step| sums.add_over_all(step));
                sums.carry(&apart);
            }
        }
        Ok(())
    }
}
