//! How firm the leaderboard is as a whole: its first place, whether ratings describe the votes, and what the choice of a tie
//! rule and single voters change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::counts::tally::Tally;
use super::super::vote_log::VoteLog;
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
use crate::rating::fit::Fit;

/// How firm the largest component of a leaderboard is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverallRobustness {
    /// Number of its votes between rated models.
    pub votes: u64,
    /// The first place; like the others `None` where no votes compare two rated models.
    pub first_place: Option<FirstPlace>,
    /// Whether the ratings describe the votes; `None` where every pair is needed for the ratings.
    pub goodness_of_fit: Option<GoodnessOfFit>,
    /// Circles of three models; `None` where no three models have met one another.
    pub cycles: Option<Cycles>,
    /// The order under each way to count ties; empty where no vote is for neither model.
    pub tie_orders: Vec<TieOrder>,
    /// The consistency of the voters with the crowd; `None` without voters.
    pub voter_consistency: Option<VoterConsistency>,
}

/// The report of a fit and of the votes of each voter, if they are known.
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
