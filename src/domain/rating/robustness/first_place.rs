//! Robustness of the first place: the fewest votes, and the voters, whose removal gives it to another model.
//!
//! Votes are found as for neighbours (`flips.rs`), against each of the next [`MAX_CHALLENGERS`] models. Voters are left out in the
//! order of their influence on the lead, Σ (y − p)·(h_a − h_b) over their votes with h = H⁺(e_first − e_challenger), and
//! each is confirmed by a fit without it, until a batch changes nothing.

use nalgebra::DVector;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::POINTS_PER_STRENGTH;
use super::super::counts::tally::Tally;
use super::super::strengths::negative_log_likelihood::logistic;
use super::component::LargestComponent;
use super::flips::min_votes_to_flip;
use super::pair_votes_by_voter::CountedVote;
use super::refit::{Refit, WithoutVoter};
use super::{FitError, ROUNDING, height};
use crate::rating::strengths::fit::Fit;
use crate::stats::real;

/// Number of models that may take the first place.
const MAX_CHALLENGERS: usize = 5;
/// Number of voters of a batch, left out one at a time; the search ends after a batch without a decisive voter.
const VOTERS_PER_BATCH: usize = 64;
/// Number of voters times pairs after which no further batch is left out, which bounds the running time.
const MAX_PAIRS: usize = 2_000_000;

/// Robustness of the first place of the largest component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstPlace {
    /// The models in first place: several if they are equal, or if each of them has only won.
    pub models: Vec<String>,
    /// Lead over the next model; `None` where the first place is shared or the first model has only won.
    pub lead: Option<FirstPlaceLead>,
    /// Fewest votes found whose removal gives the first place to another model, confirmed by a refit.
    pub votes: Option<DecisiveVotes>,
    /// Voters whose removal gives the first place to another model; `None` without voters or a lead.
    pub voters: Option<DecisiveVoters>,
}

/// Lead of the first model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstPlaceLead {
    /// The next model.
    pub second: String,
    /// Difference of the ratings, in points.
    pub points: f64,
}

/// Votes whose removal changes the first place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisiveVotes {
    /// Model in first place after the removal.
    pub challenger: String,
    /// Number of votes.
    pub votes: u64,
    /// Share of all votes of the component.
    pub share: f64,
}

/// Voters whose removal, one at a time, changes the first place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisiveVoters {
    /// Number of all voters.
    pub voters: u64,
    /// Number of voters whose removal, one at a time, puts another model first.
    pub decisive: u64,
    /// Number of most influential voters left out. Where all of them are decisive, others may be too.
    pub left_out: u64,
    /// Voter whose removal leaves the smallest lead.
    pub strongest: Option<StrongestVoter>,
}

/// Voter with the most influence on the first place, unnamed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StrongestVoter {
    /// Number of rated votes of the voter.
    pub votes: u64,
    /// Lead without the voter, in points; negative where another model is first.
    pub lead: f64,
}

/// Computes the robustness of the first place; only `models` is set unless one rated model is first.
pub(super) fn first_place(
    component: &LargestComponent,
    tally: &Tally,
    fit: &Fit,
    voters: Option<&[Vec<CountedVote>]>,
) -> Result<FirstPlace, FitError> {
    let first = models_in_first_place(fit);
    let models = first.iter().map(|&model| tally.models[model].name.clone()).collect();
    let nothing = FirstPlace { models, lead: None, votes: None, voters: None };
    let Some(challengers) = FirstPlaceChallengers::new(component, &first) else { return Ok(nothing) };
    let refit = Refit::new(tally, fit);
    Ok(FirstPlace {
        lead: Some(challengers.lead()),
        votes: challengers.decisive_votes(tally, fit)?,
        voters: voters.map(|voters| challengers.decisive_voters(tally, voters, &refit)).transpose()?,
        ..nothing
    })
}

/// Returns the models in first place, by position in the tally.
fn models_in_first_place(fit: &Fit) -> Vec<usize> {
    // Components are in order of their size.
    let inside = || fit.model_strengths.iter().enumerate().filter(|(_, strength)| strength.component() == 0);
    let highest = inside().map(|(_, strength)| height(strength)).fold(f64::NEG_INFINITY, f64::max);
    inside().filter(|(_, strength)| height(strength) >= highest - ROUNDING).map(|(model, _)| model).collect()
}

/// First model and its challengers, by position in the component.
struct FirstPlaceChallengers<'a> {
    component: &'a LargestComponent,
    first: usize,
    /// Challengers, best first; at least one.
    challengers: Vec<usize>,
}

impl<'a> FirstPlaceChallengers<'a> {
    /// Selects the challengers; `None` unless one rated model is first.
    fn new(component: &'a LargestComponent, first: &[usize]) -> Option<Self> {
        let [first] = first else { return None };
        let first = component.place(*first)?;
        let mut others: Vec<usize> = (0..component.members.len()).filter(|&model| model != first).collect();
        others.sort_by(|&one, &other| component.strengths[other].total_cmp(&component.strengths[one]));
        others.truncate(MAX_CHALLENGERS);
        Some(Self { component, first, challengers: others })
    }

    fn gap(&self, challenger: usize) -> f64 {
        self.component.strengths[self.first] - self.component.strengths[challenger]
    }

    fn lead(&self) -> FirstPlaceLead {
        let second = self.challengers[0];
        FirstPlaceLead { second: self.component.names[second].clone(), points: POINTS_PER_STRENGTH * self.gap(second) }
    }

    fn decisive_votes(&self, tally: &Tally, fit: &Fit) -> Result<Option<DecisiveVotes>, FitError> {
        let members = &self.component.members;
        let against = |&challenger: &usize| {
            let flip = min_votes_to_flip(tally, fit, members[self.first], members[challenger])?;
            Ok(flip.map(|flip| (flip.votes, challenger)))
        };
        let found: Vec<Option<(u64, usize)>> =
            self.challengers.par_iter().map(against).collect::<Result<_, FitError>>()?;
        let fewest = found.into_iter().flatten().min_by_key(|(votes, _)| *votes);
        Ok(fewest.map(|(votes, challenger)| DecisiveVotes {
            challenger: self.component.names[challenger].clone(),
            votes,
            share: real(votes) / self.component.votes(),
        }))
    }

    fn decisive_voters(
        &self,
        tally: &Tally,
        voters: &[Vec<CountedVote>],
        refit: &Refit<'_>,
    ) -> Result<DecisiveVoters, FitError> {
        let (mut decisive, mut left_out, mut strongest) = (0, 0, None);
        for batch in self.by_influence(tally, voters).chunks(VOTERS_PER_BATCH) {
            let lead = |votes: &&Vec<CountedVote>| Ok((votes.len(), self.lead_without_voter(&refit.without(votes)?)));
            let leads: Vec<(usize, Option<f64>)> = batch.par_iter().map(lead).collect::<Result<_, FitError>>()?;
            left_out += batch.len();
            let changes = leads.iter().filter(|(_, lead)| lead.is_some_and(|lead| lead < -ROUNDING)).count();
            decisive += changes;
            let known =
                leads.into_iter().filter_map(|(votes, lead)| Some((votes, lead.filter(|lead| lead.is_finite())?)));
            strongest = strongest.into_iter().chain(known).min_by(|(_, one), (_, other)| one.total_cmp(other));
            if changes == 0 || left_out * tally.pairs.len() >= MAX_PAIRS {
                break;
            }
        }
        let whole = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Ok(DecisiveVoters {
            voters: whole(voters.len()),
            decisive: whole(decisive),
            left_out: whole(left_out),
            strongest: strongest
                .map(|(votes, lead)| StrongestVoter { votes: whole(votes), lead: POINTS_PER_STRENGTH * lead }),
        })
    }

    /// Sorts the voters by the expected lead without them, smallest first.
    fn by_influence<'v>(&self, tally: &Tally, voters: &'v [Vec<CountedVote>]) -> Vec<&'v Vec<CountedVote>> {
        let inverse = &self.component.inverse;
        let pulls: Vec<(f64, DVector<f64>)> = self
            .challengers
            .iter()
            .map(|&challenger| (self.gap(challenger), inverse.column(self.first) - inverse.column(challenger)))
            .collect();
        let expected_lead = |votes: &Vec<CountedVote>| {
            let mut leads: Vec<f64> = pulls.iter().map(|(gap, _)| *gap).collect();
            for vote in votes {
                let pair = &tally.pairs[vote.pair];
                let Some((first, second)) = self.component.place(pair.first).zip(self.component.place(pair.second))
                else {
                    continue;
                };
                let p = logistic(self.component.strengths[first] - self.component.strengths[second]);
                let residual = vote.kind.points_first() - p;
                for (lead, (_, pull)) in leads.iter_mut().zip(&pulls) {
                    *lead -= residual * (pull[first] - pull[second]);
                }
            }
            leads.into_iter().fold(f64::INFINITY, f64::min)
        };
        let mut ordered: Vec<(f64, &Vec<CountedVote>)> =
            voters.par_iter().map(|votes| (expected_lead(votes), votes)).collect();
        ordered.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        ordered.into_iter().map(|(_, votes)| votes).collect()
    }

    /// Computes the lead of the first model over all others without a voter; `None` where votes no longer compare it with them.
    fn lead_without_voter(&self, without: &WithoutVoter) -> Option<f64> {
        let first = self.component.members[self.first];
        let strengths = &without.fit.model_strengths;
        let is_rival = |model: &usize| {
            *model != first
                && without.comparable[*model]
                && strengths[*model].component() == strengths[first].component()
        };
        let rivals = (0..strengths.len()).filter(is_rival).map(|model| height(&strengths[model]));
        let highest = rivals.fold(f64::NEG_INFINITY, f64::max);
        let lead = height(&strengths[first]) - highest;
        (without.comparable[first] && !lead.is_nan()).then_some(lead)
    }
}
