//! Rigging report of a leaderboard: votes needed to swap neighbours, the most influential voter, and the places without flagged voters. It
//! names no voter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::anomalous_voters::detection::{DEFAULT_ALPHA, MIN_VOTES, VoterTest, test_voters};
use crate::rating::FitError;
use crate::rating::robustness::{PlaceMove, neighbour_flips};
use crate::rating::strengths::crowd_expectation::CrowdExpectation;
use crate::rating::votes::vote_log::{Labels, VoteLog};

/// Maximum number of neighbours whose swap is searched; it bounds the running time.
const MAX_SWAP_NEIGHBOURS: usize = 10;
/// Difference below which strengths are equal up to rounding.
const ROUNDING: f64 = 1e-9;

/// Rigging report of a leaderboard.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RiggingReport {
    /// Neighbours of the first places, best first.
    pub neighbours: Vec<SwapCost>,
    /// Voter whose removal changes most places; `None` without voters, or if no single voter moves a model.
    pub most_influential: Option<InfluentialVoter>,
    /// Effect of the flagged voters; `None` without voters.
    pub flagged: Option<FlaggedVoters>,
}

/// Number of votes that determine the order of two neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SwapCost {
    /// Model with the higher rating.
    pub upper: String,
    /// Next model.
    pub lower: String,
    /// Smallest number of votes found whose removal swaps them; `None` if none was found.
    pub votes: Option<u64>,
}

/// Voter whose removal changes most places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InfluentialVoter {
    /// Number of the voter's votes.
    pub votes: u64,
    /// Number of models whose place changes without the voter.
    pub moved: u64,
    /// Largest move of a model.
    pub largest_move: PlaceMove,
}

/// Voters whom the score test flags, and the leaderboard without them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlaggedVoters {
    /// Number of voters with votes.
    pub voters: u64,
    /// Minimum number of decisive votes of a tested voter.
    pub fewest_votes: u64,
    /// Number of tested voters.
    pub tested: u64,
    /// Maximum expected share of honest voters among the flagged ones.
    pub false_discovery_rate: f64,
    /// Number of flagged voters.
    pub flagged: u64,
    /// Number of voters whom the test would flag, if they are more than a quarter of all voters: then none is flagged. Otherwise 0.
    pub withheld: u64,
    /// Number of the flagged voters' votes.
    pub votes: u64,
    /// Number of models whose place changes without them.
    pub moved: u64,
    /// Largest move of a model.
    pub largest_move: Option<PlaceMove>,
    /// Model in first place without them, if it is another.
    pub other_leader: Option<String>,
}

/// Computes the report of a log.
///
/// # Errors
/// [`FitError::Solver`] as for the fit.
pub fn rigging_report(log: &VoteLog, seed: u64) -> Result<RiggingReport, FitError> {
    let Some(crowd) = CrowdExpectation::new(log)? else { return Ok(RiggingReport::default()) };
    let flips = neighbour_flips(log, MAX_SWAP_NEIGHBOURS)?;
    let neighbours = flips.into_iter().map(|(upper, lower, votes)| SwapCost { upper, lower, votes }).collect();
    let has_voters = log.voters.as_ref().is_some_and(|voters| !voters.names.as_slice().is_empty());
    let (most_influential, flagged) =
        if has_voters { (most_influential(&crowd, log), Some(flagged(&crowd, log, seed)?)) } else { (None, None) };
    Ok(RiggingReport { neighbours, most_influential, flagged })
}

/// Ranks the models of the component by strength.
fn places(strengths: &[f64]) -> Vec<u64> {
    let above = |height: f64| strengths.iter().map(|other| u64::from(*other > height + ROUNDING)).sum::<u64>();
    strengths.iter().map(|&height| 1 + above(height)).collect()
}

/// Returns the number of models that move, and the largest move.
fn moves(published: &[u64], places: &[u64], names: &[&str]) -> (u64, Option<PlaceMove>) {
    let moved = published.iter().zip(places).filter(|(one, other)| one != other).count();
    let distance = |&model: &usize| published[model].abs_diff(places[model]);
    let furthest = (0..places.len()).rev().max_by_key(distance).filter(|model| distance(model) > 0);
    let moving =
        |model: usize| PlaceMove { model: names[model].to_owned(), published: published[model], place: places[model] };
    (u64::try_from(moved).unwrap_or(u64::MAX), furthest.map(moving))
}

/// Finds the most influential voter by one Newton step per voter, which is accurate for the few votes of one person and takes milliseconds
/// for thousands.
fn most_influential(crowd: &CrowdExpectation, log: &VoteLog) -> Option<InfluentialVoter> {
    let (names, published) = (crowd.names(log), places(crowd.strengths()));
    let voters = crowd.votes_of_voters(log).into_iter().filter(|votes| !votes.is_empty());
    let without = |votes: Vec<_>| {
        let (moved, largest_move) = moves(&published, &places(crowd.strengths_without(&votes).as_slice()), &names);
        let votes = u64::try_from(votes.len()).unwrap_or(u64::MAX);
        Some(InfluentialVoter { votes, moved, largest_move: largest_move? })
    };
    let distance = |voter: &InfluentialVoter| voter.largest_move.published.abs_diff(voter.largest_move.place);
    voters.filter_map(without).max_by_key(|voter| (distance(voter), voter.moved, voter.votes))
}

fn flagged(crowd: &CrowdExpectation, log: &VoteLog, seed: u64) -> Result<FlaggedVoters, FitError> {
    let report = test_voters(log, VoterTest::Score, seed)?;
    let labels = log.voters.as_ref().ok_or(FitError::NoVoters)?;
    let mut is_flagged = vec![false; labels.names.as_slice().len()];
    report.flagged(DEFAULT_ALPHA).filter_map(|result| labels.names.find(&result.voter)).for_each(|voter| {
        is_flagged[voter as usize] = true;
    });
    let keep: Vec<bool> =
        labels.rows.iter().map(|&voter| voter == Labels::NONE || !is_flagged[voter as usize]).collect();
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let mut found = FlaggedVoters {
        voters: report.voters,
        fewest_votes: count(MIN_VOTES),
        tested: count(report.results.len()),
        false_discovery_rate: DEFAULT_ALPHA,
        flagged: count(is_flagged.iter().filter(|flagged| **flagged).count()),
        withheld: report.withheld().unwrap_or(0),
        votes: count(keep.iter().filter(|keep| !**keep).count()),
        moved: 0,
        largest_move: None,
        other_leader: None,
    };
    if found.flagged > 0 {
        let mut rest = log.clone();
        rest.retain(&keep);
        compare_ranks(crowd, log, &rest, &mut found)?;
    }
    Ok(found)
}

/// Compares the places of the models that both logs rate together.
fn compare_ranks(
    crowd: &CrowdExpectation,
    log: &VoteLog,
    rest: &VoteLog,
    found: &mut FlaggedVoters,
) -> Result<(), FitError> {
    let Some(without) = CrowdExpectation::new(rest)? else { return Ok(()) };
    let shared = |model: &usize| Some((crowd.parameter(*model)?, without.parameter(*model)?));
    let models: Vec<usize> = (0..log.models.as_slice().len()).filter(|model| shared(model).is_some()).collect();
    let (published, other): (Vec<f64>, Vec<f64>) = models
        .iter()
        .filter_map(shared)
        .map(|(with, without_flagged)| (crowd.strengths()[with], without.strengths()[without_flagged]))
        .unzip();
    let (published, other) = (places(&published), places(&other));
    let names: Vec<&str> = models.iter().map(|&model| log.models.as_slice()[model].as_str()).collect();
    (found.moved, found.largest_move) = moves(&published, &other, &names);
    let leaders = |places: &[u64]| places.iter().position(|place| *place == 1);
    let (leader, other_leader) = (leaders(&published), leaders(&other));
    found.other_leader = other_leader.filter(|other| leader != Some(*other)).map(|model| names[model].to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battle::Outcome;
    use crate::integrity::anomalous_voters::simulated_riggers::{RiggerSimulation, RiggerStrategy, add_riggers};
    use crate::rating::simulate::{Simulation, SimulationOptions};
    use crate::rating::votes::vote_log::ColumnSet;

    fn honest() -> VoteLog {
        let options = SimulationOptions { models: 8, seed: 4, voters: 60, spread: 0.7, ..SimulationOptions::default() };
        Simulation::new(options).unwrap().log(2_400)
    }

    #[test]
    fn the_report_says_what_riggers_changed_and_who_could() {
        let log = honest();
        let quiet = rigging_report(&log, 1).unwrap();
        let flagged = quiet.flagged.unwrap();
        assert_eq!((flagged.voters, flagged.tested, quiet.neighbours.len()), (60, 60, 7));
        // In one of ten arenas, an honest voter is flagged.
        assert!(flagged.flagged <= 1, "{flagged:?}");

        // One rigger with a tenth of the votes, all for its target.
        let strategy = RiggerStrategy::TargetOnly;
        let simulation = RiggerSimulation { riggers: 1, votes: 250, strategy, target_share: 1.0, seed: 2 };
        let rigged = add_riggers(&log, simulation).unwrap();
        let target = &rigged.models.as_slice()[rigged.a[rigged.len() - 1] as usize];
        let other = &rigged.models.as_slice()[rigged.b[rigged.len() - 1] as usize];
        let report = rigging_report(&rigged, 1).unwrap();
        let flagged = report.flagged.unwrap();
        // The rigger, and up to two of the sixty honest voters, who look unusual beside this many rigged votes.
        assert!((1..=3).contains(&flagged.flagged) && (250..=350).contains(&flagged.votes), "{flagged:?}");
        let moved = flagged.largest_move.unwrap();
        assert!([target, other].contains(&&moved.model) && moved.place > moved.published, "{moved:?}");
        let strongest = report.most_influential.unwrap();
        assert_eq!((strongest.votes, &strongest.largest_move.model), (250, &moved.model));
        let json = serde_json::to_string(&rigging_report(&rigged, 1).unwrap()).unwrap();
        assert!(!json.contains("rigger-"), "the report names no voter: {json}");
    }

    /// Builds five models, a before b before c and so on, by 60 of 100 votes without a voter for each pair. Then one voter makes c the
    /// first, and one with fewer votes lifts e over d.
    fn two_movers() -> VoteLog {
        let mut log = VoteLog::with_columns(ColumnSet { voters: true, ..ColumnSet::default() });
        let mut cast = |winner: &str, loser: &str, voter: Option<&str>, votes: usize| {
            for _ in 0..votes {
                log.push(winner, loser, Outcome::AWins).unwrap();
                log.voters.as_mut().unwrap().push(voter);
            }
        };
        let names = ["a", "b", "c", "d", "e"];
        for (place, upper) in names.iter().enumerate() {
            for lower in &names[place + 1..] {
                cast(upper, lower, None, 60);
                cast(lower, upper, None, 40);
            }
        }
        cast("c", "a", Some("who makes a leader"), 50);
        cast("c", "b", Some("who makes a leader"), 50);
        cast("e", "d", Some("who moves one place"), 30);
        log
    }

    #[test]
    fn the_voter_who_moves_a_model_furthest_counts_and_another_first_place_is_reported() {
        let log = two_movers();
        let report = rigging_report(&log, 1).unwrap();
        let strongest = report.most_influential.unwrap();
        let from_third = PlaceMove { model: "c".into(), published: 1, place: 3 };
        assert_eq!((strongest.votes, &strongest.largest_move), (100, &from_third));
        let flagged = report.flagged.unwrap();
        assert_eq!(flagged.other_leader.as_deref(), Some("a"), "{flagged:?}");
        assert_eq!(flagged.largest_move, Some(from_third));
        let swaps = report.neighbours.into_iter().map(|swap| (swap.upper, swap.lower, swap.votes));
        assert_eq!(swaps.collect::<Vec<_>>(), neighbour_flips(&log, MAX_SWAP_NEIGHBOURS).unwrap());
    }

    #[test]
    fn without_votes_or_voters_there_is_less_to_say() {
        assert_eq!(rigging_report(&VoteLog::default(), 1).unwrap(), RiggingReport::default());
        let mut log = honest();
        log.voters = None;
        let report = rigging_report(&log, 1).unwrap();
        assert!(report.neighbours.len() == 7 && report.flagged.is_none() && report.most_influential.is_none());
    }
}
