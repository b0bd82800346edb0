//! Rules that select the notes of a leaderboard.

use std::collections::BTreeMap;

use super::super::leaderboard::{Leaderboard, RankedModel};
use super::voter_numbers::VoterNumbers;
use crate::confusable_names::confusable_names;
use crate::rating::counts::tally::Tally;
use crate::rating::intervals::bootstrap::BootstrapReport;
use crate::rating::intervals::sequential_testing::{NeighbourPair, NeighbourState};
use crate::rating::notes::RatingNote;
use crate::rating::options::{IntervalMethod, LeaderboardOptions, Method};
use crate::rating::strengths::fit::Direction;
use crate::rating::votes::scoring::TieRule;
use crate::rating::votes::vote_log::{VoteLog, VotersKnown};
use crate::stats::real_len;
use crate::stats::resample::MIN_CLUSTERS;

/// Maximum number of one-way connections in the note; [`Leaderboard::bridges`] has all of them.
const BRIDGES_LISTED: usize = 5;

pub(super) fn notes(
    tally: &Tally,
    leaderboard: &Leaderboard,
    single_voter: &[usize],
    options: &LeaderboardOptions,
) -> Vec<RatingNote> {
    if leaderboard.models.is_empty() {
        return vec![RatingNote::NoVotes];
    }
    let mut notes = Vec::new();
    if !leaderboard.converged {
        notes.push(RatingNote::NotConverged);
    }
    notes.extend(missing_tie_parameter(tally, leaderboard, options));
    let both = [Direction::Above, Direction::Below];
    notes.extend(both.into_iter().filter_map(|direction| unbounded(leaderboard, direction)));
    if leaderboard.components > 1 {
        notes.push(RatingNote::Components { count: leaderboard.components });
        notes.extend(one_way_votes(leaderboard));
    }
    notes.extend(leaderboard.bootstrap.and_then(infinite_replicates));
    notes.extend(missing_intervals(leaderboard, single_voter));
    notes.extend(carried_by_one_voter(tally, single_voter));
    notes.extend(few_voters(leaderboard));
    let models = confusable_names(tally.models.iter().map(|model| model.name.as_str()));
    notes.extend((!models.is_empty()).then_some(RatingNote::AlikeNames { models }));
    notes
}

fn missing_tie_parameter(tally: &Tally, leaderboard: &Leaderboard, options: &LeaderboardOptions) -> Option<RatingNote> {
    let requested = options.method == Method::Bt && options.scoring.ties == TieRule::Davidson;
    let no_ties = tally.models.iter().all(|model| model.counts.ties + model.counts.both_bad == 0);
    (requested && leaderboard.davidson.is_none()).then_some(if no_ties {
        RatingNote::NoTies
    } else {
        RatingNote::UnboundedTieParameter
    })
}

/// Whether a rated model has an interval. One end may be open, and a bootstrap with infinite replicates gives no standard error.
fn has_interval(model: &RankedModel) -> bool {
    model.unbounded.is_none() && (model.lower.is_some() || model.upper.is_some())
}

/// Returns the reason for missing intervals of models that are compared with others.
fn missing_intervals(leaderboard: &Leaderboard, single_voter: &[usize]) -> Option<RatingNote> {
    let rated = |model: &&RankedModel| model.unbounded.is_none();
    let compared = |model: &RankedModel| {
        leaderboard.models.iter().filter(rated).any(|o| o.model != model.model && o.component == model.component)
    };
    let missing = |model: &RankedModel| !has_interval(model) && compared(model);
    if leaderboard.models.iter().filter(rated).filter(|model| missing(model)).count() <= single_voter.len() {
        return None;
    }
    match leaderboard.interval {
        IntervalMethod::Cluster | IntervalMethod::Jackknife => Some(RatingNote::NoVoterVariance),
        IntervalMethod::Sandwich | IntervalMethod::Bootstrap => Some(RatingNote::NoVoteVariance),
        IntervalMethod::Auto | IntervalMethod::None => None,
    }
}

fn carried_by_one_voter(tally: &Tally, single_voter: &[usize]) -> Option<RatingNote> {
    let models: Vec<String> = single_voter.iter().map(|&model| tally.models[model].name.clone()).collect();
    (!models.is_empty()).then_some(RatingNote::CarriedByOneVoter { models })
}

/// Lists the models with intervals from few voters, with their minimum effective number.
fn few_voters(leaderboard: &Leaderboard) -> Option<RatingNote> {
    let few = |model: &&RankedModel| has_interval(model) && is_few(voters(model));
    let models: Vec<&RankedModel> = leaderboard.models.iter().filter(few).collect();
    let least = models.iter().map(|model| voters(model)).reduce(f64::min)?;
    Some(RatingNote::FewVoters { models: models.into_iter().map(|model| model.model.clone()).collect(), least })
}

/// Returns a note for intervals from few voters by a method that does not correct for their number, as the jackknife does.
pub(super) fn too_few_voters(leaderboard: &Leaderboard, numbers: Option<VoterNumbers>) -> Option<RatingNote> {
    let VoterNumbers { voters, effective } = numbers.filter(|numbers| is_few(numbers.effective))?;
    let has_intervals = leaderboard.models.iter().any(has_interval);
    let is_narrow = has_intervals && leaderboard.interval != IntervalMethod::Jackknife;
    is_narrow.then_some(RatingNote::TooFewVoters { voters, effective })
}

/// Returns a note for neighbours separated, or found equal, on few voters. The confidence sequence is asymptotic: it holds at every look
/// as the number of independent units grows, here that of voters.
pub(super) fn decided_by_few_voters(leaderboard: &Leaderboard, numbers: Option<VoterNumbers>) -> Option<RatingNote> {
    let of_all = numbers.map_or(f64::INFINITY, |numbers| numbers.effective);
    let by_model: BTreeMap<&str, f64> =
        leaderboard.models.iter().map(|model| (model.model.as_str(), voters(model))).collect();
    let fewest = |pair: &NeighbourPair| {
        [&pair.upper, &pair.lower].into_iter().map(|name| by_model[name.as_str()]).fold(of_all, f64::min)
    };
    let decided = leaderboard.neighbours.iter().filter(|pair| pair.state != NeighbourState::Open);
    let least = decided.map(fewest).filter(|voters| is_few(*voters)).reduce(f64::min)?;
    Some(RatingNote::DecidedByFewVoters { least })
}

/// Whether an effective number of voters is too small to estimate the variance between voters.
fn is_few(voters: f64) -> bool {
    voters < real_len(MIN_CLUSTERS)
}

fn voters(model: &RankedModel) -> f64 {
    model.effective_voters.unwrap_or(f64::INFINITY)
}

fn infinite_replicates(report: BootstrapReport) -> Option<RatingNote> {
    let BootstrapReport { replicates, not_finite: infinite, .. } = report;
    (infinite > 0).then_some(RatingNote::InfiniteReplicates { infinite, replicates })
}

fn unbounded(leaderboard: &Leaderboard, direction: Direction) -> Option<RatingNote> {
    let found = leaderboard.models.iter().filter(|model| model.unbounded == Some(direction));
    let models: Vec<String> = found.map(|model| model.model.clone()).collect();
    (!models.is_empty()).then_some(RatingNote::Unbounded { models, direction, confidence: leaderboard.confidence })
}

fn one_way_votes(leaderboard: &Leaderboard) -> Option<RatingNote> {
    let bridges: Vec<_> = leaderboard.bridges.iter().take(BRIDGES_LISTED).cloned().collect();
    let more = leaderboard.bridges.len() - bridges.len();
    (!bridges.is_empty()).then_some(RatingNote::OneWayVotes { bridges, more })
}

/// Returns notes on requested options that could not be applied, or only in part.
pub(super) fn notes_on_options(
    leaderboard: &Leaderboard,
    log: Option<&VoteLog>,
    options: &LeaderboardOptions,
) -> Vec<RatingNote> {
    let is_of_one_voter = log.is_some_and(|log| log.voters_known() == VotersKnown::One);
    let takes_votes_as_independent =
        matches!(leaderboard.interval, IntervalMethod::Sandwich | IntervalMethod::Bootstrap);
    let lacks_levels = leaderboard.models.iter().all(|model| model.good_enough.is_none());
    let lacks_tie_models = leaderboard.tie_models.is_empty() && !leaderboard.models.is_empty();
    let one_slice = options.pool_by.filter(|_| leaderboard.pooled.is_none() && !leaderboard.models.is_empty());
    let notes = [
        (takes_votes_as_independent && is_of_one_voter, RatingNote::IntervalsOfOneVoter),
        (options.good_enough && lacks_levels, RatingNote::NoBothBad),
        (options.compare_ties && lacks_tie_models, RatingNote::TiesNotCompared),
    ];
    let notes = notes.into_iter().filter_map(|(applies, note)| applies.then_some(note));
    notes.chain(one_slice.map(|by| RatingNote::OneSlice { by })).chain(not_pooled(leaderboard)).collect()
}

/// Lists the models outside of the component whose slices are pooled.
fn not_pooled(leaderboard: &Leaderboard) -> Option<RatingNote> {
    let pooled = leaderboard.pooled.as_ref()?.slices.first()?.models.first()?;
    let component = leaderboard.models.iter().find(|model| model.model == pooled.model)?.component;
    let left_out = leaderboard.models.iter().filter(|model| model.component != component || model.unbounded.is_some());
    let models: Vec<String> = left_out.map(|model| model.model.clone()).collect();
    (!models.is_empty()).then_some(RatingNote::NotPooled { models })
}
