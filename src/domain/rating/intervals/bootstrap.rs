//! Bootstrap intervals: each replicate resamples as many voters, or votes, as there are and fits the sample.
//!
//! If several voters are known, whole voters are drawn (see `voter_resampling.rs`). Otherwise the votes of a replicate
//! are Multinomial(n, c/n) over pairs and outcomes. The interval runs between percentiles of
//! the replicates' strengths, linearly interpolated (Efron and Tibshirani 1993, section 13.3). A model that loses all
//! its wins in a replicate has an infinite strength there; an interval whose percentile is infinite has an open end.
//! Each replicate has its own random stream, so the result does not depend on the number of threads.

use nalgebra::DVector;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::Binomial;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sandwich::{IntervalEnds, Intervals};
use super::voter_resampling::{REPLICATES_PER_PASS, VoterVotes};
use crate::rating::FitError;
use crate::rating::counts::pair_counts::PairCounts;
use crate::rating::counts::tally::{PairTally, Tally};
use crate::rating::strengths::davidson;
use crate::rating::strengths::fit::Direction;
use crate::rating::strengths::fit::Fit;
use crate::rating::strengths::graph::{ModelPosition, connected_both_ways, decompose};
use crate::rating::strengths::model_block::{ModelBlock, blocks_of};
use crate::rating::strengths::negative_log_likelihood::Likelihood;
use crate::rating::strengths::newton::{FixedHessianSolver, minimise};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::distribution::quantile;
use crate::stats::resample::BootstrapOptions;
use crate::stats::{real, real_len};

/// Width in log odds below which an interval is rounding error.
const ROUNDING: f64 = 1e-9;

/// Summary of a bootstrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapReport {
    /// Number of replicates.
    pub replicates: u32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Resampling unit: votes or voters.
    #[serde(default)]
    pub resampled: ResamplingUnit,
    /// Replicates in which some rated model has no finite rating.
    pub not_finite: u32,
    /// Whether the fits of all replicates converged.
    pub converged: bool,
}

/// Resampling unit of a bootstrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResamplingUnit {
    /// Single votes.
    #[default]
    Votes,
    /// Voters with all of their votes.
    Voters,
}

/// Computes bootstrap intervals of a fit; resamples voters where `voters` gives the votes of each.
///
/// # Errors
/// [`FitError::NoReplicates`] for 0 replicates, [`FitError::Solver`] as for the fit itself.
pub(in crate::rating) fn bootstrap(
    tally: &Tally,
    fit: &Fit,
    voters: Option<&VoterVotes>,
    options: BootstrapOptions,
    level: ConfidenceLevel,
) -> Result<(Intervals, BootstrapReport), FitError> {
    if options.replicates == 0 {
        return Err(FitError::NoReplicates);
    }
    let mut report = BootstrapReport {
        replicates: options.replicates,
        seed: options.seed,
        resampled: if voters.is_some() { ResamplingUnit::Voters } else { ResamplingUnit::Votes },
        not_finite: 0,
        converged: true,
    };
    let (blocks, replicates) = fit_replicates(tally, fit, voters, options)?;
    report.not_finite = count(&replicates, |replicate| replicate.values.iter().any(|value| !value.is_finite()));
    report.converged = count(&replicates, |replicate| !replicate.converged) == 0;
    let mut found = Intervals::none(tally.models.len());
    for (number, centre) in blocks.iter().enumerate() {
        let ends = |parameter: usize| {
            let values: Vec<f64> = replicates.iter().map(|blocks| blocks[number].values[parameter]).collect();
            // Identical replicates, as where all votes are ties, carry no information on the spread.
            Some(ends_of(&values, level)).filter(|ends| ends.upper - ends.lower > ROUNDING)
        };
        let models = &centre.block.members;
        models.iter().enumerate().for_each(|(position, &model)| found.strengths[model] = ends(position));
        if centre.block.parameters() > models.len() {
            found.log_nu = ends(models.len());
        }
    }
    Ok((found, report))
}

/// Computes the strengths in each replicate, by position in [`Tally::models`]; not finite where a replicate does not determine
/// one. The mean of each component equals that of the fit. Voters are drawn where `voters` gives the votes of each.
///
/// # Errors
/// [`FitError::Solver`] as for the fit itself.
pub(in crate::rating) fn resampled_strengths(
    tally: &Tally,
    fit: &Fit,
    voters: Option<&VoterVotes>,
    options: BootstrapOptions,
) -> Result<Vec<Vec<f64>>, FitError> {
    let (blocks, replicates) = fit_replicates(tally, fit, voters, options)?;
    let by_model = |replicate: Vec<BlockReplicate>| {
        let mut strengths = vec![f64::NAN; tally.models.len()];
        for (centre, found) in blocks.iter().zip(replicate) {
            centre.block.members.iter().zip(found.values).for_each(|(&model, value)| strengths[model] = value);
        }
        strengths
    };
    Ok(replicates.into_iter().map(by_model).collect())
}

/// Fits each block of a fit in each replicate.
fn fit_replicates(
    tally: &Tally,
    fit: &Fit,
    voters: Option<&VoterVotes>,
    options: BootstrapOptions,
) -> Result<(Vec<BlockStartingFit>, Vec<Vec<BlockReplicate>>), FitError> {
    let centre = |block| BlockStartingFit::new(block, tally, fit);
    let blocks: Vec<BlockStartingFit> = blocks_of(fit).into_iter().map(centre).collect::<Result<_, _>>()?;
    let numbers: Vec<u32> = (0..options.replicates).collect();
    let replicates: Vec<Vec<Vec<BlockReplicate>>> = numbers
        .par_chunks(REPLICATES_PER_PASS)
        .map(|numbers| {
            let mut rngs: Vec<ChaCha8Rng> = numbers.iter().map(|&replicate| options.rng(replicate)).collect();
            let drawn = match voters {
                Some(voters) => voters.sample_tallies(tally, &mut rngs),
                None => rngs.iter_mut().map(|rng| resample(tally, rng)).collect(),
            };
            drawn.iter().map(|pairs| blocks.iter().map(|block| block.fit(pairs)).collect()).collect()
        })
        .collect::<Result<_, _>>()?;
    Ok((blocks, replicates.into_iter().flatten().collect()))
}

/// Computes the share of its votes that each model won or tied, in each replicate, by position in [`Tally::models`];
/// `None` for a model without votes in the replicate. Voters are drawn where `voters` gives the votes of each.
pub(in crate::rating) fn resampled_win_tie_rates(
    tally: &Tally,
    voters: Option<&VoterVotes>,
    options: BootstrapOptions,
) -> Vec<Vec<Option<f64>>> {
    let rates = |numbers: &[u32]| -> Vec<Vec<Option<f64>>> {
        let mut rngs: Vec<ChaCha8Rng> = numbers.iter().map(|&replicate| options.rng(replicate)).collect();
        let drawn = match voters {
            Some(voters) => voters.sample_counts(tally.pairs.len(), &mut rngs),
            None => rngs.iter_mut().map(|rng| resample_outcomes(tally, rng)).collect(),
        };
        drawn.iter().map(|drawn| win_tie_rates(tally, drawn)).collect()
    };
    let numbers: Vec<u32> = (0..options.replicates).collect();
    let replicates: Vec<Vec<Vec<Option<f64>>>> = numbers.par_chunks(REPLICATES_PER_PASS).map(rates).collect();
    replicates.into_iter().flatten().collect()
}

/// Computes the win-and-tie rates of one replicate.
fn win_tie_rates(tally: &Tally, drawn: &[PairCounts]) -> Vec<Option<f64>> {
    let (mut kept, mut all) = (vec![0.0; tally.models.len()], vec![0.0; tally.models.len()]);
    for (pair, drawn) in tally.pairs.iter().zip(drawn) {
        kept[pair.first] += real(drawn.first_wins + drawn.ties);
        kept[pair.second] += real(drawn.second_wins + drawn.ties);
        all[pair.first] += real(drawn.total());
        all[pair.second] += real(drawn.total());
    }
    kept.iter().zip(&all).map(|(kept, &all)| (all > 0.0).then(|| kept / all)).collect()
}

fn count(replicates: &[Vec<BlockReplicate>], holds: impl Fn(&BlockReplicate) -> bool) -> u32 {
    let found = replicates.iter().filter(|blocks| blocks.iter().any(&holds)).count();
    u32::try_from(found).expect("the number of replicates is 32 bits wide")
}

/// Resamples as many votes as the tally has; each has the mean weight of its pair and outcome.
fn resample(tally: &Tally, rng: &mut ChaCha8Rng) -> Vec<PairTally> {
    let sampled = resample_counts(tally, rng);
    let counts_by_kind = tally.pairs.iter().zip(&tally.counts).zip(sampled);
    counts_by_kind
        .filter(|(_, sampled)| sampled.iter().sum::<u64>() > 0)
        .map(|((pair, counts), sampled)| pair.of_drawn(*counts, sampled))
        .collect()
}

/// Resamples the votes of each pair: for the first model, for the second, for neither.
pub(in crate::rating) fn resample_counts(tally: &Tally, rng: &mut ChaCha8Rng) -> Vec<[u64; 3]> {
    let (mut votes, mut left) = (tally.votes, tally.votes);
    let mut sample = |kind: u64| {
        let sampled = binomial(votes, kind, left, rng);
        left -= kind;
        votes -= sampled;
        sampled
    };
    let counts_by_kind = |counts: &PairCounts| [counts.first_wins, counts.second_wins, counts.ties + counts.both_bad];
    tally.counts.iter().map(|counts| counts_by_kind(counts).map(&mut sample)).collect()
}

/// Resamples the votes of each pair by outcome.
fn resample_outcomes(tally: &Tally, rng: &mut ChaCha8Rng) -> Vec<PairCounts> {
    let sampled = resample_counts(tally, rng);
    let by_outcome = |(counts, [first_wins, second_wins, halves]): (&PairCounts, [u64; 3])| {
        let ties = binomial(halves, counts.ties, counts.ties + counts.both_bad, rng);
        PairCounts { first_wins, second_wins, ties, both_bad: halves - ties }
    };
    tally.counts.iter().zip(sampled).map(by_outcome).collect()
}

/// Draws the number of `votes` votes that fall on a category with probability `kind` / `left`.
fn binomial(votes: u64, kind: u64, left: u64, rng: &mut ChaCha8Rng) -> u64 {
    if kind == 0 || votes == 0 {
        return 0;
    }
    if kind == left {
        return votes;
    }
    let share = real(kind) / real(left);
    rng.sample(Binomial::new(votes, share).expect("a category is at most all that remains"))
}

/// Block with its fit, the starting point of the replicates.
struct BlockStartingFit {
    block: ModelBlock,
    point: DVector<f64>,
    nearby: FixedHessianSolver,
}

/// Parameters of a block in one replicate: ±∞ for a model that only won or only lost, NaN for one that the replicate
/// does not connect with the others.
struct BlockReplicate {
    values: Vec<f64>,
    converged: bool,
}

impl BlockStartingFit {
    fn new(block: ModelBlock, tally: &Tally, fit: &Fit) -> Result<Self, FitError> {
        let point = block.point(fit);
        let nearby = FixedHessianSolver::new(&block.loss(&tally.pairs), &point)?;
        Ok(Self { block, point, nearby })
    }

    fn fit(&self, pairs: &[PairTally]) -> Result<BlockReplicate, FitError> {
        let inside = self.block.pairs(pairs);
        let connected = |gauge: &Vec<usize>| connected_both_ways(self.block.members.len(), &inside, gauge);
        if self.block.gauges().iter().all(connected) && self.is_finite(&inside) {
            self.fit_all(inside)
        } else {
            self.fit_rest(&inside)
        }
    }

    /// Whether ν, if the likelihood has it, has a finite estimate.
    fn is_finite(&self, pairs: &[PairTally]) -> bool {
        self.block.likelihood == Likelihood::BradleyTerry || davidson::is_finite(self.block.members.len(), pairs)
    }

    fn fit_all(&self, inside: Vec<PairTally>) -> Result<BlockReplicate, FitError> {
        let loss = self.block.loss_of(inside);
        let (mut point, converged) = match self.nearby.minimise(&loss, &self.point) {
            Some(point) => (point, true),
            None => {
                let optimum = minimise(loss, self.point.clone())?;
                (optimum.point, optimum.converged)
            }
        };
        self.block.centre(&mut point);
        Ok(BlockReplicate { values: point.iter().copied().collect(), converged })
    }

    /// Fits the largest part of each component that has finite strengths, and centres it on the mean that its models
    /// have in the fit to all votes.
    fn fit_rest(&self, inside: &[PairTally]) -> Result<BlockReplicate, FitError> {
        let models = self.block.members.len();
        let layout = decompose(models, inside);
        let mut values = vec![f64::NAN; self.point.len()];
        let mut parts = Vec::new();
        for gauge in self.block.gauges() {
            let of_gauge = |members: &Vec<usize>| members.len() > 1 && gauge.contains(&members[0]);
            let Some(part) = layout.components.iter().position(of_gauge) else { continue };
            for &model in gauge {
                match layout.places[model] {
                    ModelPosition::Beyond(component, direction) if component == part => {
                        values[model] = infinite(direction)
                    }
                    _ => {}
                }
            }
            parts.push(layout.components[part].clone());
        }
        let rest = ModelBlock::new(models, &parts, self.block.likelihood);
        if parts.is_empty() || !self.is_finite(&rest.pairs(inside)) {
            return Ok(BlockReplicate { values: vec![f64::NAN; self.point.len()], converged: true });
        }
        let optimum = minimise(rest.loss(inside), DVector::zeros(rest.parameters()))?;
        let mut point = optimum.point;
        rest.centre(&mut point);
        for gauge in rest.gauges() {
            let mean = gauge.iter().map(|&i| self.point[rest.members[i]]).sum::<f64>() / real_len(gauge.len());
            gauge.iter().for_each(|&i| values[rest.members[i]] = point[i] + mean);
        }
        if let (Some(log_nu), Some(value)) = (point.iter().nth(rest.members.len()), values.get_mut(models)) {
            *value = *log_nu;
        }
        Ok(BlockReplicate { values, converged: optimum.converged })
    }
}

fn infinite(direction: Direction) -> f64 {
    match direction {
        Direction::Above => f64::INFINITY,
        Direction::Below => f64::NEG_INFINITY,
    }
}

/// Computes the percentile interval. A NaN may be any number, so it counts as −∞ for the lower end and as +∞ for the upper end.
fn ends_of(values: &[f64], level: ConfidenceLevel) -> IntervalEnds {
    let tail = 0.5 * (1.0 - level.share());
    let with_any_at = |any: f64| {
        let mut sorted: Vec<f64> = values.iter().map(|&value| if value.is_nan() { any } else { value }).collect();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    IntervalEnds {
        lower: quantile(&with_any_at(f64::NEG_INFINITY), tail),
        upper: quantile(&with_any_at(f64::INFINITY), 1.0 - tail),
        error: std_dev(values).filter(|std_dev| std_dev.is_finite()),
    }
}

fn std_dev(values: &[f64]) -> Option<f64> {
    let (count, mean) = (real_len(values.len()), values.iter().sum::<f64>() / real_len(values.len()));
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt())
}
