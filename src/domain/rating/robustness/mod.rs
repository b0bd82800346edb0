//! Robustness of a ranking: changes of the order by removed votes, left-out voters and further votes, beyond intervals of single
//! ratings.
//!
//! [`robustness`] reports for every model its possible places (`places`) and its places with any one voter left out
//! (`leave_one_voter_out`); and for every two neighbours by rating, an upper bound of the votes whose removal reverses
//! their order (`flips`) and the number of further votes that would separate them ([`votes_to_separate`]).
//! [`overall_robustness`] checks the whole leaderboard: the stability of the first place (`first_place`), the fit of the ratings to the
//! votes (`goodness_of_fit`, `cycles`), the effect of the tie rule (`tie_orders`), and the agreement of voters with the crowd
//! (`voter_consistency`). All use the plain Bradley–Terry fit, component by component. A *place* is 1 + the number of models of the
//! component with a higher rating, whereas a *rank* accounts for intervals.

mod component;
mod cycles;
mod first_place;
mod flips;
mod goodness_of_fit;
mod information;
mod leave_one_voter_out;
mod majorities;
mod overall;
mod pair_votes_by_voter;
mod pair_winner;
mod places;
mod refit;
mod replicates;
mod tie_orders;
mod voter_consistency;
mod work_counter;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::tally::Tally;
use super::counts::weighting::Weights;
use super::intervals::clustered_sandwich::cluster;
use super::intervals::jackknife::jackknife;
use super::intervals::sandwich::{Intervals, joint_sandwich};
use super::options::IntervalMethod;
use super::strengths::bradley_terry::fit;
use super::strengths::fit::Direction;
use super::strengths::negative_log_likelihood::logistic;
use super::votes::scoring::{Scoring, TieRule};
use super::votes::vote_log::VoteLog;
use super::{FitError, POINTS_PER_STRENGTH};
use crate::rating::strengths::fit::{Fit, ModelStrength};
use crate::stats::confidence::ConfidenceLevel;
pub use cycles::{Cycles, CyclicTriple};
pub use first_place::{DecisiveVoters, DecisiveVotes, FirstPlace, FirstPlaceLead, StrongestVoter};
pub use flips::RemovedVotes;
use flips::min_votes_to_flip;
pub use goodness_of_fit::{GoodnessOfFit, PairMisfit};
use information::Information;
pub use overall::OverallRobustness;
use overall::overall_of;
use pair_votes_by_voter::pair_votes_by_voter;
pub use tie_orders::{PlaceMove, TieOrder, TieTreatment};
pub use voter_consistency::VoterConsistency;
use work_counter::WorkCounter;

/// Strengths that differ by less are equal up to rounding.
const ROUNDING: f64 = 1e-9;

/// Robustness report of a leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Robustness {
    /// Confidence level of the place ranges and of separation.
    pub confidence: f64,
    /// Ordered by component, then place.
    pub models: Vec<ModelRobustness>,
    /// Every two consecutive rated models of a component.
    pub neighbours: Vec<NeighbourRobustness>,
    /// Number of voters left out one at a time; `None` without voters.
    pub voters: Option<u64>,
    /// Caveats for the reader of the numbers, in English.
    pub notes: Vec<String>,
    /// Robustness of the leaderboard as a whole.
    #[serde(default)]
    pub overall: OverallRobustness,
}

/// Robustness of a model's place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRobustness {
    /// Name of the model.
    pub model: String,
    /// Component; places are within a component.
    pub component: usize,
    /// 1 + the number of models with a higher rating.
    pub place: u64,
    /// Possible places: a confidence range for the true place, the range of ranks of the leaderboard.
    pub possible: PlaceRange,
    /// Places with any one voter left out; `None` without voters.
    pub without_a_voter: Option<PlaceRange>,
}

/// A range of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceRange {
    /// Best place.
    pub best: u64,
    /// Worst place.
    pub worst: u64,
}

impl PlaceRange {
    fn at(place: u64) -> Self {
        Self { best: place, worst: place }
    }

    fn extend_to(&mut self, place: u64) {
        *self = Self { best: self.best.min(place), worst: self.worst.max(place) };
    }
}

/// Robustness of the order of two neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourRobustness {
    /// The model with the higher rating.
    pub upper: String,
    /// The next model.
    pub lower: String,
    /// Difference of the ratings, in points.
    pub gap: f64,
    /// Standard error of the gap, in points.
    pub gap_error: f64,
    /// Fewest votes found whose removal reverses the order, confirmed by a refit: an upper bound. `None` if none were found or the two are
    /// equal.
    pub votes_to_flip: Option<u64>,
    /// Votes of [`votes_to_flip`](Self::votes_to_flip), by pair and outcome.
    pub flipped_by: Vec<RemovedVotes>,
    /// Further votes between the two that would separate them if the gap stays the same, by the simultaneous comparison of all pairs behind
    /// the possible places; `None` if they are equal.
    pub votes_to_separate: Option<u64>,
}

/// Options of the robustness report.
#[derive(Debug, Clone, Copy, Default)]
pub struct RobustnessOptions {
    /// Treatment of ties and both-bad votes; Davidson's model is not supported.
    pub scoring: Scoring,
    /// Interval method of the leaderboard; [`Auto`](IntervalMethod::Auto) for one that has no standard errors.
    pub interval: IntervalMethod,
    /// Confidence level.
    pub confidence: ConfidenceLevel,
    /// Seed of the replicates.
    pub seed: u64,
}

/// Computes the robustness report of a log. Several threads call `progress` with the completed share of the work.
///
/// # Errors
/// [`FitError::PlainRobustness`] for Davidson's model, [`FitError::Solver`] as for the fit.
pub fn robustness(
    log: &VoteLog,
    options: RobustnessOptions,
    progress: impl Fn(f64) + Sync,
) -> Result<Robustness, FitError> {
    if options.scoring.ties == TieRule::Davidson {
        return Err(FitError::PlainRobustness);
    }
    let tally = Tally::from_log(log, options.scoring);
    let fit = fit(&tally)?;
    let intervals = intervals_of(log, options, &tally, &fit)?;
    let parts = Information::of_components(&tally, &fit, &intervals, options.confidence)?;
    let places = places_of(&fit);
    let possible = places::possible(&tally, &fit, &parts, &intervals, options.confidence)?;
    let neighbours = neighbours(&tally, &fit, &parts, |share| progress(0.45 * share))?;
    let votes = pair_votes_by_voter(log, options.scoring, &tally);
    let shown = |share: f64| progress(0.45 + 0.45 * share);
    let leave_out = |votes: &Vec<_>| leave_one_voter_out::leave_each_out(votes, &tally, &fit, shown);
    let voters = votes.as_ref().map(leave_out).transpose()?;
    let overall = overall_of(log, options, &tally, &fit, votes.as_deref())?;
    progress(1.0);
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
    let notes = voters.as_ref().and_then(leave_one_voter_out::Ranges::note).into_iter().collect();
    let confidence = options.confidence.share();
    Ok(Robustness { confidence, models, neighbours, voters: voters.map(|voters| voters.left_out), notes, overall })
}

/// Computes the intervals of the leaderboard.
fn intervals_of(log: &VoteLog, options: RobustnessOptions, tally: &Tally, fit: &Fit) -> Result<Intervals, FitError> {
    let method = if options.interval.has_errors() { options.interval } else { IntervalMethod::Auto };
    let errors = match method.resolve(log.voters_known()) {
        IntervalMethod::Jackknife => jackknife(log, options.scoring, &Weights::Equal, tally, fit)?,
        IntervalMethod::Cluster => cluster(log, options.scoring, &Weights::Equal, tally, fit)?,
        _ => joint_sandwich(tally, fit)?,
    };
    Ok(errors.around(fit, options.confidence))
}

/// Computes the robustness of the leaderboard of a log as a whole, at a fraction of the cost of [`robustness`].
///
/// # Errors
/// Those of [`robustness`].
pub fn overall_robustness(log: &VoteLog, options: RobustnessOptions) -> Result<OverallRobustness, FitError> {
    if options.scoring.ties == TieRule::Davidson {
        return Err(FitError::PlainRobustness);
    }
    let tally = Tally::from_log(log, options.scoring);
    let fit = fit(&tally)?;
    let votes = pair_votes_by_voter(log, options.scoring, &tally);
    overall_of(log, options, &tally, &fit, votes.as_deref())
}

/// Returns the upper and lower model of the first `most` pairs of neighbours of the largest component, with the fewest votes found whose
/// removal swaps them. Ties and both-bad votes count half.
pub(crate) fn neighbour_flips(log: &VoteLog, most: usize) -> Result<Vec<(String, String, Option<u64>)>, FitError> {
    let tally = Tally::from_log(log, Scoring::default());
    let fit = fit(&tally)?;
    let mut members = fit.members().into_iter().next().unwrap_or_default();
    let model_height = |model: usize| height(&fit.model_strengths[model]);
    members.sort_by(|&x, &y| model_height(y).total_cmp(&model_height(x)));
    let name = |model: usize| tally.models[model].name.clone();
    let pairs = members.windows(2).take(most);
    pairs
        .map(|two| {
            let gap = model_height(two[0]) - model_height(two[1]);
            let swap = if gap > ROUNDING { min_votes_to_flip(&tally, &fit, two[0], two[1])? } else { None };
            Ok((name(two[0]), name(two[1]), swap.map(|swap| swap.votes)))
        })
        .collect()
}

/// Returns a strength to sort by; infinite for an unbounded model.
fn height(model_strength: &ModelStrength) -> f64 {
    match model_strength {
        ModelStrength::Rated { strength, .. } => *strength,
        ModelStrength::Unbounded { direction: Direction::Above, .. } => f64::INFINITY,
        ModelStrength::Unbounded { direction: Direction::Below, .. } => f64::NEG_INFINITY,
    }
}

/// Computes the place of each model.
fn places_of(fit: &Fit) -> Vec<u64> {
    let above = |one: &ModelStrength, other: &ModelStrength| {
        one.component() == other.component() && height(one) > height(other) + ROUNDING
    };
    let place = |model_strength| {
        1 + fit.model_strengths.iter().map(|other| u64::from(above(other, model_strength))).sum::<u64>()
    };
    fit.model_strengths.iter().map(place).collect()
}

fn neighbours(
    tally: &Tally,
    fit: &Fit,
    parts: &[Information],
    progress: impl Fn(f64) + Sync,
) -> Result<Vec<NeighbourRobustness>, FitError> {
    let pairs: Vec<(&Information, usize, usize)> = parts
        .iter()
        .flat_map(|part| part.in_order().windows(2).map(|two| (part, two[0], two[1])).collect::<Vec<_>>())
        .collect();
    let done = WorkCounter::new(pairs.len(), progress);
    pairs
        .par_iter()
        .map(|&(part, upper, lower)| {
            let (gap, variance) = part.gap(upper, lower);
            let (level, quantile) = (part.level_of_pairs, part.quantile_of_pair(upper, lower));
            // Where Student's t widens the interval, the variance of a normal interval of the same width.
            let widened = if quantile.is_finite() { variance * (quantile / level.z()).powi(2) } else { quantile };
            let (upper, lower) = (part.members[upper], part.members[lower]);
            let swap = if gap > ROUNDING { min_votes_to_flip(tally, fit, upper, lower)? } else { None };
            done.advance();
            Ok(NeighbourRobustness {
                upper: tally.models[upper].name.clone(),
                lower: tally.models[lower].name.clone(),
                gap: POINTS_PER_STRENGTH * gap,
                gap_error: POINTS_PER_STRENGTH * variance.sqrt(),
                votes_to_flip: swap.as_ref().map(|swap| swap.votes),
                flipped_by: swap.map_or_else(Vec::new, |swap| swap.removed),
                votes_to_separate: votes_to_separate(gap, widened, level),
            })
        })
        .collect()
}

/// Computes the number of further votes between two models after which the interval of their difference excludes 0.
///
/// Each vote adds p(1−p), p = σ(d), to the precision 1/v of the difference d (Sherman–Morrison on H + m·p(1−p)·uuᵀ), so
/// d² > z²/(1/v + m·p(1−p)) for m > (z²/d² − 1/v) / (p(1−p)). 0 if they are already separated.
#[must_use]
pub fn votes_to_separate(difference: f64, variance: f64, level: ConfidenceLevel) -> Option<u64> {
    let each = logistic(difference) * logistic(-difference);
    let wanted = (level.z() / difference).powi(2);
    // Zero variance means that no vote contradicts the fit: the two are separated.
    let missing = if variance > 0.0 { wanted - 1.0 / variance } else { 0.0 };
    let votes = (missing / each).ceil().max(0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^53 and not negative")]
    (difference.abs() > ROUNDING && votes < 2_f64.powi(53)).then_some(votes as u64)
}
