//! Finite bound for the strength of a model that won, or lost, every vote.
//!
//! Its maximum likelihood strength is infinite, but small strengths are still unlikely. The bound is the
//! likelihood-ratio limit: the strength t at which twice the drop of the profile log likelihood reaches the chi-square
//! quantile of the confidence level. The profile refits all other strengths, and ν if it is a parameter; each component
//! keeps mean 0. The strengths at one t are near those at the next, so that all refits share a factor of the Hessian where they can.

use nalgebra::DVector;

use super::super::FitError;
use super::super::counts::tally::{PairTally, Tally};
use super::fit::Direction;
use super::graph::strongly_connected_with;
use super::negative_log_likelihood::PairLoss;
use super::newton::{FixedHessianSolver, Optimum, minimise};
use crate::rating::strengths::fit::{Fit, ModelStrength};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::real;

const PRECISION: f64 = 1e-12;
const MAX_STEPS: usize = 100;
/// Maximum number of doublings of the step to the left: enough for any confidence level below 1.
const MAX_WIDENINGS: usize = 12;

/// Computes the likelihood-ratio limit of an unbounded model's strength: a lower bound if it only won, an upper bound if it only
/// lost. Returns the strength of a rated model.
///
/// # Errors
/// [`FitError::Solver`] as for the fit itself.
pub fn limit(tally: &Tally, fit: &Fit, model: usize, level: ConfidenceLevel) -> Result<f64, FitError> {
    let (component, direction) = match fit.model_strengths[model] {
        ModelStrength::Rated { strength, .. } => return Ok(strength),
        ModelStrength::Unbounded { component, direction } => (component, direction),
    };
    let allowed = level.z() * level.z();
    let sign = direction.sign();
    // A lone pair has no rated model as a reference: the two models share the limit of their difference.
    if fit.members()[component].is_empty() {
        let wins = real(tally.models[model].counts.battles());
        return Ok(sign * 0.5 * pair_limit(wins, fit.log_nu.map_or(0.0, f64::exp), allowed));
    }
    let mut profile = ProfileLikelihood::new(tally, fit, model, direction);
    Ok(sign * profile.limit(allowed)?)
}

/// Computes the difference d at which `wins` wins in a row lose `allowed` of twice the log likelihood: 2·wins·ln(1 + x² + νx)
/// with x = e^(−d/2). The two never tied, so ν is that of the whole fit.
fn pair_limit(wins: f64, nu: f64, allowed: f64) -> f64 {
    let excess = (allowed / (2.0 * wins)).exp_m1();
    let x = 2.0 * excess / (nu + (nu * nu + 4.0 * excess).sqrt());
    -2.0 * x.ln()
}

/// The likelihood with one model's strength held fixed, mirrored if necessary so that this model only won.
struct ProfileLikelihood {
    loss: PairLoss,
    start: DVector<f64>,
    least_strength: f64,
    held: usize,
    /// Minimum loss without the held model: that of the components alone.
    least: f64,
    /// Hessian at the latest optimum found by full Newton steps.
    nearby: Option<FixedHessianSolver>,
}

impl ProfileLikelihood {
    fn new(tally: &Tally, fit: &Fit, held: usize, direction: Direction) -> Self {
        let mirrored = mirrored(&tally.pairs, direction);
        let sign = direction.sign();
        let strengths: Vec<Option<f64>> = fit.strengths().map(|s| s.map(|s| sign * s)).collect();
        let mut grounded: Vec<usize> = (0..strengths.len()).filter(|&model| strengths[model].is_some()).collect();
        grounded.push(held);
        // Other unbounded models that the held one keeps finite are fitted; the rest go to infinity at no loss.
        let kept = strongly_connected_with(strengths.len(), &mirrored, &grounded);
        let counts = |pair: &PairTally| kept[pair.first] && kept[pair.second] && !joins_components(fit, pair);
        let pairs: Vec<PairTally> = mirrored.into_iter().filter(counts).collect();
        let least = pairs.iter().map(|pair| loss_within(fit, sign, pair)).sum();
        let mut gauges: Vec<Vec<usize>> = fit.members().into_iter().filter(|members| !members.is_empty()).collect();
        gauges.push(vec![held]);
        gauges.extend((0..kept.len()).filter(|&model| !kept[model]).map(|model| vec![model]));
        let least_strength = strengths.iter().flatten().copied().fold(0.0, f64::min);
        let (models, likelihood) = (strengths.len(), fit.likelihood());
        let start = strengths.into_iter().map(|s| s.unwrap_or(0.0)).chain(fit.log_nu);
        let start = DVector::from_iterator(models + likelihood.extra(), start);
        let loss = PairLoss::new(likelihood, models, pairs, gauges);
        Self { loss, start, least_strength, held, least, nearby: None }
    }

    /// Finds the limit by Newton's method on the excess, which is decreasing and convex in the held strength: from the left of the root it
    /// approaches the root without passing it.
    fn limit(&mut self, allowed: f64) -> Result<f64, FitError> {
        let (mut at, mut optimum) = self.left_of_limit(allowed)?;
        for _ in 0..MAX_STEPS {
            let slope = 2.0 * self.loss.gradient(&optimum.point)[self.held];
            let step = self.excess(&optimum, allowed) / slope;
            at -= step;
            if step.abs() <= PRECISION * (1.0 + at.abs()) {
                break;
            }
            optimum = self.minimise_at(at, &optimum.point)?;
        }
        Ok(at)
    }

    fn left_of_limit(&mut self, allowed: f64) -> Result<(f64, Optimum), FitError> {
        let mut at = self.least_strength;
        let mut optimum = self.minimise_at(at, &self.start.clone())?;
        let mut width = 1.0;
        for _ in 0..MAX_WIDENINGS {
            if self.excess(&optimum, allowed) > 0.0 {
                break;
            }
            at -= width;
            width *= 2.0;
            optimum = self.minimise_at(at, &optimum.point)?;
        }
        Ok((at, optimum))
    }

    fn excess(&self, optimum: &Optimum, allowed: f64) -> f64 {
        2.0 * (optimum.loss - self.least) - allowed
    }

    fn minimise_at(&mut self, strength: f64, from: &DVector<f64>) -> Result<Optimum, FitError> {
        let mut start = from.clone();
        start[self.held] = strength;
        if let Some(point) = self.nearby.as_ref().and_then(|nearby| nearby.minimise(&self.loss, &start)) {
            return Ok(Optimum { loss: self.loss.value(&point), point, iterations: 0, converged: true });
        }
        let optimum = minimise(self.loss.clone(), start)?;
        self.nearby = FixedHessianSolver::holding(&self.loss, &optimum.point);
        Ok(optimum)
    }
}

/// Returns the pairs, with wins and losses swapped for a model that only lost.
fn mirrored(pairs: &[PairTally], direction: Direction) -> Vec<PairTally> {
    let turn = |pair: &PairTally| match direction {
        Direction::Above => *pair,
        Direction::Below => PairTally { first_wins: pair.second_wins, second_wins: pair.first_wins, ..*pair },
    };
    pairs.iter().map(turn).collect()
}

/// Whether both models are rated, in different components: with fixed means, such a pair carries no information.
fn joins_components(fit: &Fit, pair: &PairTally) -> bool {
    match (fit.model_strengths[pair.first], fit.model_strengths[pair.second]) {
        (ModelStrength::Rated { component: one, .. }, ModelStrength::Rated { component: other, .. }) => one != other,
        _ => false,
    }
}

/// Computes the loss of a mirrored pair at the fit: 0 unless both models are rated, since all other pairs separate without limit.
fn loss_within(fit: &Fit, sign: f64, pair: &PairTally) -> f64 {
    match (fit.model_strengths[pair.first], fit.model_strengths[pair.second]) {
        (ModelStrength::Rated { strength: first, .. }, ModelStrength::Rated { strength: second, .. }) => {
            fit.likelihood().loss(pair, sign * (first - second), fit.log_nu.unwrap_or(0.0))
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use crate::battle::Outcome;
    use crate::rating::leaderboards::ranking::rank_log;
    use crate::rating::options::{IntervalMethod, LeaderboardOptions};
    use crate::rating::votes::vote_log::VoteLog;

    /// Simulates votes of very unequal models, so that most pairs have votes in one direction only.
    fn sparse(seed: u64, models: usize, votes: usize) -> VoteLog {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut log = VoteLog::default();
        for _ in 0..votes {
            let first = rng.random_range(0..models);
            let second = (first + rng.random_range(1..models)) % models;
            let is_upset = rng.random_bool(0.05);
            let outcome = if (first < second) ^ is_upset { Outcome::AWins } else { Outcome::BWins };
            log.push(&format!("m{first:02}"), &format!("m{second:02}"), outcome).unwrap();
        }
        log
    }

    /// Each model against its next ones on a ring, where the one with the lower number wins; every `upset`th vote goes the
    /// other way.
    fn ring(models: usize, upset: usize) -> VoteLog {
        let mut log = VoteLog::default();
        for first in 0..models {
            for step in [1, 2, 3, 5, 8, 13] {
                let second = (first + step) % models;
                let is_upset = log.len() % upset == upset - 1;
                let outcome = if (first < second) ^ is_upset { Outcome::AWins } else { Outcome::BWins };
                log.push(&format!("m{first:02}"), &format!("m{second:02}"), outcome).unwrap();
            }
        }
        log
    }

    fn assert_finite(log: &VoteLog, name: &str) {
        for interval in [IntervalMethod::None, IntervalMethod::Sandwich] {
            let options = LeaderboardOptions { interval, ..LeaderboardOptions::default() };
            let leaderboard = rank_log(log, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
            for model in &leaderboard.models {
                assert!(model.rating_or_limit().is_finite(), "{name}: {model:?}");
            }
        }
    }

    #[test]
    fn sparse_votes_in_one_direction_have_finite_limits() {
        for (models, votes) in [(60, 120), (20, 40), (6, 12)] {
            (0..3).for_each(|seed| assert_finite(&sparse(seed, models, votes), &format!("{models} {votes} {seed}")));
        }
        // Single votes connect the 60 models, so the limits of some move a long chain of others.
        for (models, upset, first) in [(14, 2, 10), (14, 1_000, 10), (30, 5, 10), (60, 17, 335)] {
            let whole = ring(models, upset);
            for votes in (first..=whole.len()).step_by(25) {
                let keep: Vec<bool> = (0..whole.len()).map(|vote| vote < votes).collect();
                assert_finite(&whole.outcomes_picked(&keep), &format!("ring {models} {upset} {votes}"));
            }
        }
    }
}
