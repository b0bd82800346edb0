//! Robustness of the leaderboard as a whole: first place, goodness of fit, and effects of the tie rule and of single voters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::counts::tally::Tally;
use super::super::votes::vote_log::VoteLog;
use super::component::LargestComponent;
use super::cycles::{Cycles, cycles};
use super::first_place::{FirstPlace, first_place};
use super::flips::whole;
use super::goodness_of_fit::{GoodnessOfFit, goodness_of_fit};
use super::pair_votes_by_voter::CountedVote;
use super::replicates::replicates;
use super::tie_orders::{TieOrder, tie_orders};
use super::voter_consistency::{VoterConsistency, voter_consistency};
use super::{FitError, RobustnessOptions};
use crate::rating::strengths::fit::Fit;

/// Robustness of the largest component of a leaderboard.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverallRobustness {
    /// Number of votes between rated models of the component.
    pub votes: u64,
    /// Robustness of the first place; `None`, like the other checks, where no votes compare two rated models.
    pub first_place: Option<FirstPlace>,
    /// Goodness of fit of the ratings; `None` where every pair is needed for the ratings.
    pub goodness_of_fit: Option<GoodnessOfFit>,
    /// Cyclic triples; `None` where no three models have met one another.
    pub cycles: Option<Cycles>,
    /// Order under each tie treatment; empty where no vote is for neither model.
    pub tie_orders: Vec<TieOrder>,
    /// Consistency of the voters with the crowd; `None` without voters.
    pub voter_consistency: Option<VoterConsistency>,
}

/// Computes the report of a fit and of the votes of each voter, if these are known.
pub(super) fn overall_of(
    log: &VoteLog,
    options: RobustnessOptions,
    tally: &Tally,
    fit: &Fit,
    voters: Option<&[Vec<CountedVote>]>,
) -> Result<OverallRobustness, FitError> {
    let Some(component) = LargestComponent::new(tally, fit)? else { return Ok(OverallRobustness::default()) };
    let replicates = replicates(&component, tally, options.seed)?;
    Ok(OverallRobustness {
        votes: whole(component.votes()),
        first_place: Some(first_place(&component, tally, fit, voters)?),
        goodness_of_fit: goodness_of_fit(&component, &replicates),
        cycles: cycles(&component, &replicates),
        tie_orders: tie_orders(log, options.scoring, tally, fit)?,
        voter_consistency: voters.and_then(|voters| voter_consistency(&component, tally, voters, options.confidence)),
    })
}
