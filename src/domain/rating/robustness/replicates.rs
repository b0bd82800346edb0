//! Parametric bootstrap: simulates votes from the fitted strengths.
//!
//! Every pair keeps its number of votes, which are independent. With p the fitted share of the first model,
//! a vote is for neither with probability κ·p(1−p), half of it from each side, as in [`simulate`](crate::rating::simulate):
//! close models tie more often, and the expected share stays p. κ makes the expected number of votes for neither equal to the
//! observed one. Each replicate is refitted.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::Binomial;
use rayon::prelude::*;

use super::super::counts::tally::{PairTally, Tally};
use super::super::strengths::bradley_terry::fit;
use super::super::strengths::negative_log_likelihood::{Likelihood, PairLoss};
use super::super::strengths::newton::FixedHessianSolver;
use super::FitError;
use super::component::{LargestComponent, deviance, votes_of};
use super::majorities::{Majorities, MajoritySummary};
use crate::stats::resample::BootstrapOptions;
use crate::stats::{real, real_len};

/// Number of replicates for up to [`MAX_PAIRS`] / `MAX_REPLICATES` pairs.
const MAX_REPLICATES: usize = 200;
/// Minimum number of replicates: fewer cannot give a p-value below 0.025.
const MIN_REPLICATES: usize = 40;
/// Maximum number of pairs drawn over all replicates, which bounds the running time.
const MAX_PAIRS: usize = 2_000_000;

/// Statistics of a replicate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replicate {
    /// G² of the refit.
    pub(super) deviance: f64,
    pub(super) majorities: MajoritySummary,
}

/// Draws the replicates, with one random stream each.
pub(super) fn replicates(component: &LargestComponent, tally: &Tally, seed: u64) -> Result<Vec<Replicate>, FitError> {
    let number = (MAX_PAIRS / component.pairs().len()).clamp(MIN_REPLICATES, MAX_REPLICATES);
    let options = BootstrapOptions { replicates: u32::try_from(number).unwrap_or(u32::MAX), seed };
    let world = ParametricBootstrap::new(component, tally)?;
    (0..options.replicates).into_par_iter().map(|replicate| world.replicate(&mut options.rng(replicate))).collect()
}

/// Computes (1 + number of replicates at least as extreme) / (1 + number of replicates): Davison and Hinkley 1997, section 4.2.
pub(super) fn p_value(replicates: &[Replicate], is_extreme: impl Fn(&Replicate) -> bool) -> f64 {
    let extreme = replicates.iter().filter(|replicate| is_extreme(replicate)).count();
    real_len(1 + extreme) / real_len(1 + replicates.len())
}

/// Computes the mean of a statistic over the replicates.
pub(super) fn mean(replicates: &[Replicate], number: impl Fn(&Replicate) -> f64) -> f64 {
    replicates.iter().map(number).sum::<f64>() / real_len(replicates.len())
}

struct ParametricBootstrap<'a> {
    component: &'a LargestComponent,
    kappa: f64,
    nearby: FixedHessianSolver,
    /// Models of the component, for refits from scratch.
    models: Tally,
}

impl<'a> ParametricBootstrap<'a> {
    fn new(component: &'a LargestComponent, tally: &Tally) -> Result<Self, FitError> {
        let nearby = FixedHessianSolver::new(&component.loss, &component.strengths)?;
        let models = component.members.iter().map(|&model| tally.models[model].clone()).collect();
        let models = Tally { models, ..Tally::default() };
        Ok(Self { component, kappa: component.kappa(), nearby, models })
    }

    fn replicate(&self, rng: &mut ChaCha8Rng) -> Result<Replicate, FitError> {
        let pairs: Vec<PairTally> = self.component.pairs().iter().map(|pair| self.draw(pair, rng)).collect();
        let majorities = Majorities::new(self.component.names.len(), &pairs).summary();
        Ok(Replicate { deviance: deviance(&pairs, self.smallest_loss(&pairs)?), majorities })
    }

    fn draw(&self, pair: &PairTally, rng: &mut ChaCha8Rng) -> PairTally {
        let p = self.component.share_of_first(pair);
        let half_of_ties = 0.5 * self.kappa * p * (1.0 - p);
        let (first, second) = (p - half_of_ties, 1.0 - p - half_of_ties);
        let votes = votes_of(pair);
        let first_wins = binomial(votes, first, rng);
        let second_wins = binomial(votes - first_wins, second / (1.0 - first), rng);
        PairTally { first_wins, second_wins, halves: votes - first_wins - second_wins, ..*pair }
    }

    /// Computes the infimum of the loss, where some model may be unbounded.
    fn smallest_loss(&self, pairs: &[PairTally]) -> Result<f64, FitError> {
        let models = self.component.names.len();
        let loss =
            PairLoss::new(Likelihood::BradleyTerry, models, pairs.to_vec(), self.component.loss.gauges().to_vec());
        if let Some(point) = self.nearby.minimise(&loss, &self.component.strengths) {
            return Ok(loss.value(&point));
        }
        Ok(-fit(&Tally { pairs: pairs.to_vec(), ..self.models.clone() })?.log_likelihood)
    }
}

/// Draws the number of `votes` votes that fall on an outcome; `probability` is clamped, since rounding may move it out of 0 to 1.
fn binomial(votes: f64, probability: f64, rng: &mut ChaCha8Rng) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of votes")]
    let votes = votes as u64;
    real(rng.sample(Binomial::new(votes, probability.clamp(0.0, 1.0)).expect("clamped to a probability")))
}
