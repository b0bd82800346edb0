//! How firm an order is: beyond intervals of single ratings, what votes, voters and more votes could change.
//!
//! [`robustness`] says of every model which places it may truly have (`places`) and which it takes when any one voter is
//! left out (`voters`); and of every two neighbours by rating how few votes hold their order (`swaps`) and how many
//! more between the two would settle it ([`votes_to_separate`]). All of it is of the plain Bradley–Terry fit, each
//! component by itself. A *place* is 1 + the number of models of the component with a higher rating, whereas a *rank*
//! allows for intervals.

mod information;
mod places;
mod swaps;
mod voters;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bradley_terry::{Direction, Fit, ModelStrength, fit};
use super::interval::ConfidenceLevel;
use super::loss::logistic;
use super::scoring::{Scoring, TieRule};
use super::tally::Tally;
use super::vote_log::VoteLog;
use super::{FitError, POINTS_PER_STRENGTH};
use information::Information;
pub use swaps::RemovedVotes;
use swaps::min_votes_to_flip;

/// Strengths that differ by less differ only by rounding.
const ROUNDING: f64 = 1e-9;

/// How firm the order of a leaderboard is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Robustness {
    /// Confidence of the ranges of places, and level at which two models count as separated.
    pub confidence: f64,
    /// By component, then place.
    pub models: Vec<ModelRobustness>,
    /// Every two rated models of a component that follow one another.
    pub neighbours: Vec<NeighbourRobustness>,
    /// Voters that were left out one at a time; none without a column of voters.
    pub voters: Option<u64>,
    /// What a reader must know, in whole sentences.
    pub notes: Vec<String>,
}

/// How firm a model's place is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRobustness {
    /// Its name.
    pub model: String,
    /// Places are within a component.
    pub component: usize,
    /// 1 + the number of models with a higher rating.
    pub place: u64,
    /// The places that the votes leave possible: with the confidence given, the true one is among them.
    pub possible: PlaceRange,
    /// The places that it takes when any one voter's votes are left out; none without voters.
    pub without_a_voter: Option<PlaceRange>,
}

/// From the best to the worst place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceRange {
    /// The best.
    pub best: u64,
    /// The worst.
    pub worst: u64,
}

impl PlaceRange {
    fn of(place: u64) -> Self {
        Self { best: place, worst: place }
    }

    fn widen(&mut self, place: u64) {
        *self = Self { best: self.best.min(place), worst: self.worst.max(place) };
    }
}

/// How firm the order of two neighbours is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeighbourRobustness {
    /// The one with the higher rating.
    pub upper: String,
    /// The one that follows it.
    pub lower: String,
    /// How far apart their ratings are.
    pub gap: f64,
    /// Standard error of the gap.
    pub gap_error: f64,
    /// Votes whose removal lets the lower one pass, as few as were found; a refit without them has shown that it does.
    /// None where no removal was found, or the two are equal.
    pub votes_to_swap: Option<u64>,
    /// Which votes these are.
    pub swapped_by: Vec<RemovedVotes>,
    /// How many more votes between the two would separate them if the gap is what it seems; none where they are equal.
    pub votes_to_separate: Option<u64>,
}

/// What to look into.
#[derive(Debug, Clone, Copy, Default)]
pub struct RobustnessOptions {
    /// What ties and both-bad votes count; not by Davidson's model.
    pub scoring: Scoring,
    /// Confidence.
    pub confidence: ConfidenceLevel,
}

/// Looks into the votes of a log. `progress` hears, from several threads, how much of the work is done, as a share.
///
/// # Errors
/// [`FitError::PlainInsight`] for ties by Davidson's model, [`FitError::Solver`] as for the fit.
pub fn robustness(
    log: &VoteLog,
    options: RobustnessOptions,
    progress: impl Fn(f64) + Sync,
) -> Result<Robustness, FitError> {
    if options.scoring.ties == TieRule::Davidson {
        return Err(FitError::PlainInsight);
    }
    let tally = Tally::of_log(log, options.scoring);
    let fit = fit(&tally)?;
    let parts: Vec<Information> = Information::of_components(&tally, &fit)?;
    let places = places_of(&fit);
    let possible = places::possible(&tally, &fit, &parts, options.confidence)?;
    let neighbours = neighbours(&tally, &fit, &parts, options.confidence, |share| progress(0.5 * share))?;
    let voters = voters::leave_each_out(log, options.scoring, &tally, &fit, |share| progress(0.5 + 0.5 * share))?;
    let mut models: Vec<ModelRobustness> = (0..tally.models.len())
        .map(|model| ModelRobustness {
            model: tally.models[model].name.clone(),
            component: fit.model_strengths[model].component(),
            place: places[model],
            possible: possible[model],
            without_a_voter: voters.as_ref().map(|voters| voters.ranges[model]),
        })
        .collect();
    models.sort_by(|x, y| (x.component, x.place, &x.model).cmp(&(y.component, y.place, &y.model)));
    let notes = voters.as_ref().and_then(voters::Ranges::note).into_iter().collect();
    let confidence = options.confidence.share();
    Ok(Robustness { confidence, models, neighbours, voters: voters.map(|voters| voters.left_out), notes })
}

/// A strength to sort by: infinite where it has no limit.
fn height(standing: &ModelStrength) -> f64 {
    match standing {
        ModelStrength::Rated { strength, .. } => *strength,
        ModelStrength::Unbounded { direction: Direction::Above, .. } => f64::INFINITY,
        ModelStrength::Unbounded { direction: Direction::Below, .. } => f64::NEG_INFINITY,
    }
}

/// 1 + the number of models of the same component that stand higher, by model.
fn places_of(fit: &Fit) -> Vec<u64> {
    let above = |one: &ModelStrength, other: &ModelStrength| {
        one.component() == other.component() && height(one) > height(other) + ROUNDING
    };
    let place = |standing| 1 + fit.model_strengths.iter().map(|other| u64::from(above(other, standing))).sum::<u64>();
    fit.model_strengths.iter().map(place).collect()
}

fn neighbours(
    tally: &Tally,
    fit: &Fit,
    parts: &[Information],
    level: ConfidenceLevel,
    progress: impl Fn(f64) + Sync,
) -> Result<Vec<NeighbourRobustness>, FitError> {
    let pairs: Vec<(&Information, usize, usize)> = parts
        .iter()
        .flat_map(|part| part.in_order().windows(2).map(|two| (part, two[0], two[1])).collect::<Vec<_>>())
        .collect();
    let done = voters::Counter::new(pairs.len(), progress);
    pairs
        .par_iter()
        .map(|&(part, upper, lower)| {
            let (gap, variance) = part.gap(upper, lower);
            let (upper, lower) = (part.members[upper], part.members[lower]);
            let swap = if gap > ROUNDING { min_votes_to_flip(tally, fit, upper, lower)? } else { None };
            done.advance();
            Ok(NeighbourRobustness {
                upper: tally.models[upper].name.clone(),
                lower: tally.models[lower].name.clone(),
                gap: POINTS_PER_STRENGTH * gap,
                gap_error: POINTS_PER_STRENGTH * variance.sqrt(),
                votes_to_swap: swap.as_ref().map(|swap| swap.votes),
                swapped_by: swap.map_or_else(Vec::new, |swap| swap.removed),
                votes_to_separate: votes_to_separate(gap, variance, level),
            })
        })
        .collect()
}

/// Votes between two models after which the interval of their difference would no longer hold 0.
///
/// Each vote adds p(1−p), p = σ(d), to the precision 1/v of the difference d (Sherman–Morrison on H + m·p(1−p)·uuᵀ), so
/// d² > z²/(1/v + m·p(1−p)) from m = (z²/d² − 1/v) / (p(1−p)) on. 0 where they are separated already.
#[must_use]
pub fn votes_to_separate(difference: f64, variance: f64, level: ConfidenceLevel) -> Option<u64> {
    let each = logistic(difference) * logistic(-difference);
    let wanted = (level.z() / difference).powi(2);
    // Where no vote contradicts the fit there is no variance to be had, and the two are as separated as they can be.
    let missing = if variance > 0.0 { wanted - 1.0 / variance } else { 0.0 };
    let votes = (missing / each).ceil().max(0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^53 and not negative")]
    (difference.abs() > ROUNDING && votes < 2_f64.powi(53)).then_some(votes as u64)
}
