//! Absolute quality of models: the share of prompts for which a model's reply is good enough.
//!
//! Comparisons alone do not determine it: if all models improved, no rating would change. Votes for "both bad" do. In the
//! generalised Rao–Kupper model (see `outcomes.rs`) "bad" is a player of strength 1, so π_i/(1 + π_i) is the probability
//! that a reply of model i, alone, beats it. The estimate is by maximum likelihood, its interval by leaving out one voter
//! at a time, each by one Newton step, as in `jackknife.rs`; where no voters are known, by the sandwich. The interval is computed
//! for ln π and then transformed to a share.
//!
//! The likelihood has a finite maximum for models that are strongly connected with "bad": a win or tie beats it, and it wins a vote
//! for "both bad".

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::negative_log_likelihood::{OutcomeCounts, TieLoss, add_block};
use super::outcomes::{OutcomeModel, PairOutcome};
use crate::battle::Outcome;
use crate::rating::counts::pair_counts::PairCounts;
use crate::rating::counts::tally::{PairTally, Tally};
use crate::rating::counts::votes_by_voter::{VoterVote, VotesByVoter};
use crate::rating::intervals::jackknife::{Correction, SumsOfVoters, ranges};
use crate::rating::strengths::graph::decompose;
use crate::rating::strengths::newton::newton_minimise;
use crate::rating::votes::scoring::Scoring;
use crate::stats::cholesky::{cholesky, inverse};
use crate::stats::confidence::ConfidenceLevel;

/// ln(θ − 1) at the start of the search: θ = 2.
const INITIAL_LOG_THETA: f64 = 0.0;

/// Share of prompts for which a model is good enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GoodEnough {
    /// Estimate, 0 to 1.
    pub share: f64,
    /// Lower bound; `None` where a single voter's votes determine the share.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
}

/// Estimates the shares of all models, by position in the tally; `None` for models that are not connected with "bad", and for all
/// where no vote is "both bad" or the votes are too few to determine shares.
pub(in crate::rating) fn good_enough(
    tally: &Tally,
    counts: &[(u32, u32, PairCounts)],
    scoring: Scoring,
    votes: Option<&VotesByVoter>,
    level: ConfidenceLevel,
) -> Vec<Option<GoodEnough>> {
    let mut shares = vec![None; tally.models.len()];
    let pairs = outcome_counts(tally, counts, scoring);
    let members = connected(tally.models.len(), &pairs);
    let mut places = vec![None; tally.models.len()];
    members.iter().enumerate().for_each(|(place, &model)| places[model] = Some(place));
    let inside = |pair: &OutcomeCounts| {
        Some(OutcomeCounts { first: places[pair.first]?, second: places[pair.second]?, ..*pair })
    };
    let pairs: Vec<OutcomeCounts> = pairs.iter().filter_map(inside).collect();
    if pairs.is_empty() {
        return shares;
    }
    let loss = TieLoss::new(OutcomeModel::GeneralisedRaoKupper, members.len(), pairs);
    let start =
        DVector::from_fn(loss.parameters(), |place, _| if place < members.len() { 0.0 } else { INITIAL_LOG_THETA });
    let Some(found) = newton_minimise(&loss, start).ok().filter(|found| found.converged) else { return shares };
    let errors = match votes {
        Some(votes) => errors_by_voter(&loss, &found.point, &places, votes),
        None => errors_of_votes(&loss, &found.point),
    };
    let errors = errors.unwrap_or_else(|| vec![None; found.point.len()]);
    for (place, (&model, error)) in members.iter().zip(errors).enumerate() {
        let at = found.point[place];
        let half = error.map(|error| error.deviation * level.quantile(error.voters));
        let share = |log_odds: f64| 1.0 / (1.0 + (-log_odds).exp());
        let (lower, upper) = (half.map(|half| share(at - half)), half.map(|half| share(at + half)));
        shares[model] = Some(GoodEnough { share: share(at), lower, upper });
    }
    shares
}

/// Counts the votes that the scoring keeps, by position in the tally.
fn outcome_counts(tally: &Tally, counts: &[(u32, u32, PairCounts)], scoring: Scoring) -> Vec<OutcomeCounts> {
    let last = tally.models.iter().map(|model| model.index + 1).max().unwrap_or(0);
    let mut places = vec![None; last];
    tally.models.iter().enumerate().for_each(|(place, model)| places[model.index] = Some(place));
    let place = |index: u32| places.get(index as usize).copied().flatten();
    let counted = |outcome: Outcome, votes: u64| if scoring.counts(outcome) { crate::stats::real(votes) } else { 0.0 };
    let pair = |&(first, second, counts): &(u32, u32, PairCounts)| {
        let votes = [
            counted(Outcome::AWins, counts.first_wins),
            counted(Outcome::BWins, counts.second_wins),
            counted(Outcome::Tie, counts.ties),
            counted(Outcome::BothBad, counts.both_bad),
        ];
        let (first, second) = (place(first)?, place(second)?);
        // Fixed order within pairs, so that the order of the votes changes no bit of the result.
        let (first, second, votes) = match first < second {
            true => (first, second, votes),
            false => (second, first, [votes[1], votes[0], votes[2], votes[3]]),
        };
        votes.iter().any(|votes| *votes > 0.0).then_some(OutcomeCounts { first, second, votes })
    };
    let mut pairs: Vec<OutcomeCounts> = counts.iter().filter_map(pair).collect();
    pairs.sort_by_key(|pair| (pair.first, pair.second));
    pairs
}

/// Finds the models that are connected with "bad", in order.
fn connected(models: usize, pairs: &[OutcomeCounts]) -> Vec<usize> {
    let mut arcs = Vec::new();
    let mut against_bad = vec![(0.0, 0.0); models];
    for &OutcomeCounts { first, second, votes: [first_wins, second_wins, ties, both_bad] } in pairs {
        arcs.push(PairTally { first, second, first_wins, second_wins, halves: ties });
        for (model, wins) in [(first, first_wins + ties), (second, second_wins + ties)] {
            against_bad[model].0 += wins;
            against_bad[model].1 += both_bad;
        }
    }
    let against_bad = against_bad.into_iter().enumerate().filter(|(_, (wins, losses))| wins + losses > 0.0);
    arcs.extend(against_bad.map(|(model, (first_wins, second_wins))| PairTally {
        first: model,
        second: models,
        first_wins,
        second_wins,
        halves: 0.0,
    }));
    let layout = decompose(models + 1, &arcs);
    let with_bad = layout.components.into_iter().find(|members| members.contains(&models)).unwrap_or_default();
    with_bad.into_iter().filter(|&model| model < models).collect()
}

/// Standard error of ln π, with the effective number of voters.
#[derive(Debug, Clone, Copy)]
struct StandardError {
    deviation: f64,
    voters: Option<f64>,
}

fn inverse_of(matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    cholesky(matrix).map(|factor| inverse(&factor))
}

/// Computes the sandwich for independent votes; `None` where the Hessian is singular.
fn errors_of_votes(loss: &TieLoss, point: &DVector<f64>) -> Option<Vec<Option<StandardError>>> {
    let inverse = inverse_of(loss.hessian(point))?;
    let mut meat = DMatrix::zeros(point.len(), point.len());
    for pair in loss.pairs() {
        let places = loss.places(pair.first, pair.second);
        for (outcome, votes) in PairOutcome::ALL.into_iter().zip(pair.votes).filter(|(_, votes)| *votes > 0.0) {
            let by = loss.of(outcome, places, point).gradient;
            add_block(&mut meat, places, &by.map(|one| by.map(|other| votes * one * other)));
        }
    }
    let half = meat * &inverse;
    let error = |(column, half): (usize, _)| {
        let deviation = inverse.column(column).dot(&half).max(0.0).sqrt();
        Some(StandardError { deviation, voters: None })
    };
    Some(half.column_iter().map(|half| half.into_owned()).enumerate().map(error).collect())
}

/// Computes the errors by leaving out one voter at a time; `None` where the Hessian is singular.
fn errors_by_voter(
    loss: &TieLoss,
    point: &DVector<f64>,
    places: &[Option<usize>],
    votes: &VotesByVoter,
) -> Option<Vec<Option<StandardError>>> {
    let hessian = loss.hessian(point);
    let information = hessian.diagonal();
    let inverse = inverse_of(hessian)?;
    // As in `jackknife.rs`, ranges of voters are summed separately and then in order.
    let parts: Vec<SumsOfVoters> = ranges(votes.len())
        .into_par_iter()
        .map(|range| {
            let (mut sums, mut correction) = (SumsOfVoters::new(point.len()), Correction::default());
            for of_voter in range.map(|voter| votes.of(voter)) {
                let voter = VoterPart::new(loss, point, places, of_voter);
                sums.mark_sole_voter_parameters(&voter.touched, voter.hessian.diagonal().as_slice(), &information);
                leave_out(&voter, &inverse, &mut correction, &mut sums);
            }
            sums
        })
        .collect();
    let sums = SumsOfVoters::total(point.len(), parts);
    let variances = sums.variances(&inverse)?;
    let effective = sums.effective_voters();
    let error = |place: usize| {
        let found = StandardError { deviation: variances[place].sqrt(), voters: Some(effective[place]) };
        (!sums.single_voter()[place]).then_some(found)
    };
    Some((0..point.len()).map(error).collect())
}

fn leave_out(voter: &VoterPart, inverse: &DMatrix<f64>, correction: &mut Correction, sums: &mut SumsOfVoters) {
    if voter.touched.is_empty() {
        return;
    }
    correction.set(&voter.touched, voter.score.as_slice(), inverse);
    match correction.solve(|from, to| voter.curve(from, to)) {
        Some(corrected) => sums.add(&voter.touched, corrected, voter.information().as_slice()),
        None => {
            sums.add_information(&voter.touched, voter.information().as_slice());
            sums.carry(&voter.touched);
        }
    }
}

/// Score and Hessian of the votes of one voter, over the parameters that they touch.
struct VoterPart {
    touched: Vec<usize>,
    score: DVector<f64>,
    hessian: DMatrix<f64>,
}

impl VoterPart {
    fn new(loss: &TieLoss, point: &DVector<f64>, places: &[Option<usize>], votes: &[VoterVote]) -> Self {
        let inside: Vec<([Option<usize>; 3], PairOutcome)> = votes
            .iter()
            .filter_map(|vote| {
                let outcome = match vote.outcome {
                    Outcome::AWins => PairOutcome::First,
                    Outcome::BWins => PairOutcome::Second,
                    Outcome::Tie => PairOutcome::Tie,
                    Outcome::BothBad => PairOutcome::BothBad,
                };
                Some((loss.places(places[vote.a as usize]?, places[vote.b as usize]?), outcome))
            })
            .collect();
        let mut touched: Vec<usize> = inside.iter().flat_map(|(places, _)| places.iter().flatten().copied()).collect();
        touched.sort_unstable();
        touched.dedup();
        let size = touched.len();
        let mut found = Self { touched, score: DVector::zeros(size), hessian: DMatrix::zeros(size, size) };
        for (places, outcome) in inside {
            let terms = loss.of(outcome, places, point);
            let own = places.map(|place| place.and_then(|place| found.touched.binary_search(&place).ok()));
            for (place, by) in own.into_iter().zip(terms.gradient) {
                place.into_iter().for_each(|place| found.score[place] += by);
            }
            add_block(&mut found.hessian, own, &terms.hessian);
        }
        found
    }

    fn information(&self) -> DVector<f64> {
        // A tie has no information on η where the loss curves downwards.
        self.hessian.diagonal().map(|own| own.max(0.0))
    }

    /// Sets `to` to the Hessian times `from`.
    fn curve(&self, from: &[f64], to: &mut [f64]) {
        to.fill(0.0);
        for (column, factor) in self.hessian.column_iter().zip(from) {
            to.iter_mut().zip(column.iter()).for_each(|(sum, entry)| *sum += factor * entry);
        }
    }
}
