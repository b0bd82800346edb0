//! Goodness of fit: observed points of every pair against those that the strengths predict.
//!
//! The statistic is the deviance G² = 2 Σ O·ln(O/E) over both models of each pair, where E = n·σ(θ_a − θ_b) (McCullagh and
//! Nelder 1989, section 4.4). Ties make it smaller than χ², and pairs have few votes, so its p-value comes from a parametric
//! bootstrap ([`super::replicates`]), not from χ².
//!
//! The bootstrap assumes independent votes. Voters with individual tastes, or with repeated votes on a pair, increase the deviations,
//! so a small p need not mean that the ratings fail. With many votes p is small even for negligible differences:
//! [`GoodnessOfFit::misfit`] measures their size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::counts::tally::PairTally;
use super::component::{LargestComponent, deviance, votes_of};
use super::flips::whole;
use super::replicates::{Replicate, mean, p_value};

/// Number of pairs listed.
const MAX_LISTED_PAIRS: usize = 5;
/// Threshold of 1 − leverage: below it, a pair determines its own prediction and cannot contradict it.
const MIN_LEVERAGE_COMPLEMENT: f64 = 1e-6;
/// Deviances that differ by less are equal up to rounding.
const ROUNDING: f64 = 1e-8;

/// Goodness of fit of the ratings in the largest component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoodnessOfFit {
    /// Number of pairs that met.
    pub pairs: u64,
    /// G².
    pub deviance: f64,
    /// Degrees of freedom: `pairs` − models + 1.
    pub degrees_of_freedom: u64,
    /// Mean G² of the replicates.
    pub expected_deviance: f64,
    /// Probability of a G² at least as large under the fitted strengths.
    pub p: f64,
    /// Number of replicates.
    pub replicates: u32,
    /// Root mean square over votes of the difference between a pair's true and predicted share, beyond chance; 0 where the pairs deviate
    /// no more than by chance.
    pub misfit: f64,
    /// Pairs with the largest residuals.
    pub worst: Vec<PairMisfit>,
}

/// Pair whose votes deviate from the prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairMisfit {
    /// Model that did better than predicted.
    pub better: String,
    /// Other model.
    pub worse: String,
    /// Votes of the pair.
    pub votes: u64,
    /// Share of points of the better model; a vote for neither is half a point.
    pub observed: f64,
    /// Predicted share.
    pub expected: f64,
    /// (O − E) / √(n·p(1−p)·(1 − κ/4)·(1 − h)), h the leverage n·p(1−p)·uᵀH⁺u: about standard normal.
    pub residual: f64,
}

/// Tests the fit; `None` where the strengths determine every pair, so that nothing could contradict them.
pub(super) fn goodness_of_fit(component: &LargestComponent, replicates: &[Replicate]) -> Option<GoodnessOfFit> {
    let free = (component.pairs().len() + 1).checked_sub(component.members.len()).filter(|free| *free > 0)?;
    let observed = deviance(component.pairs(), component.loss.value(&component.strengths));
    let deviations: Vec<PairDeviation> =
        component.pairs().iter().filter_map(|pair| PairDeviation::new(component, pair)).collect();
    Some(GoodnessOfFit {
        pairs: u64::try_from(component.pairs().len()).unwrap_or(u64::MAX),
        deviance: observed,
        degrees_of_freedom: u64::try_from(free).unwrap_or(u64::MAX),
        expected_deviance: mean(replicates, |replicate| replicate.deviance),
        p: p_value(replicates, |replicate| replicate.deviance >= observed - ROUNDING),
        replicates: u32::try_from(replicates.len()).unwrap_or(u32::MAX),
        misfit: misfit(component, &deviations, component.kappa()),
        worst: worst(component, deviations, component.kappa()),
    })
}

/// Deviation of a pair from its prediction.
struct PairDeviation<'a> {
    pair: &'a PairTally,
    /// Predicted share of the first model.
    share: f64,
    /// O − E of the first model.
    excess: f64,
    /// n·p(1−p)·(1 − h): the variance of the excess if every vote were for a side.
    variance: f64,
}

impl<'a> PairDeviation<'a> {
    fn new(component: &LargestComponent, pair: &'a PairTally) -> Option<Self> {
        let (share, votes) = (component.share_of_first(pair), votes_of(pair));
        let information = votes * share * (1.0 - share);
        let free = 1.0 - information * component.spread(pair.first, pair.second);
        let excess = pair.points_first() - votes * share;
        (free > MIN_LEVERAGE_COMPLEMENT).then_some(Self { pair, share, excess, variance: information * free })
    }
}

/// Computes √(Σ (excess² − variance) / n  /  Σ n), since excess² is expected to be the variance plus (n·difference)².
fn misfit(component: &LargestComponent, deviations: &[PairDeviation<'_>], kappa: f64) -> f64 {
    let beyond = |deviation: &PairDeviation<'_>| {
        (deviation.excess.powi(2) - deviation.variance * of_one(kappa)) / votes_of(deviation.pair)
    };
    (deviations.iter().map(beyond).sum::<f64>() / component.votes()).max(0.0).sqrt()
}

/// Computes the variance of a vote's points, as a multiple of p(1−p).
fn of_one(kappa: f64) -> f64 {
    1.0 - 0.25 * kappa
}

fn worst(component: &LargestComponent, deviations: Vec<PairDeviation<'_>>, kappa: f64) -> Vec<PairMisfit> {
    let residual = |deviation: &PairDeviation<'_>| deviation.excess / (deviation.variance * of_one(kappa)).sqrt();
    let mut all: Vec<(f64, PairDeviation<'_>)> =
        deviations.into_iter().map(|deviation| (residual(&deviation), deviation)).collect();
    all.sort_by(|(one, _), (other, _)| other.abs().total_cmp(&one.abs()));
    let listed = |(residual, deviation): (f64, PairDeviation<'_>)| {
        let PairDeviation { pair, share, .. } = deviation;
        let observed = pair.points_first() / votes_of(pair);
        let name = |model: usize| component.names[model].clone();
        let votes = whole(votes_of(pair));
        if residual >= 0.0 {
            let (better, worse) = (name(pair.first), name(pair.second));
            PairMisfit { better, worse, votes, observed, expected: share, residual }
        } else {
            let (better, worse) = (name(pair.second), name(pair.first));
            PairMisfit { better, worse, votes, observed: 1.0 - observed, expected: 1.0 - share, residual: -residual }
        }
    };
    all.into_iter().take(MAX_LISTED_PAIRS).map(listed).collect()
}
