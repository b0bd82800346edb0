//! Intervals by leaving out one voter at a time: honest where voters have tastes of their own and a few vote much.
//!
//! V = (G−1)/G · Σ_g (θ_(g) − θ)(θ_(g) − θ)ᵀ, where θ_(g) is the fit without voter g and G the number of voters: the
//! jackknife of clusters, CR3 (Bell and McCaffrey 2002; MacKinnon, Nielsen and Webb 2023). The sandwich by voter of
//! [`super::cluster`] leaves each voter in the fit that the voter's votes are compared with, and so is too narrow.
//!
//! For most voters θ_(g) − θ is one Newton step, (H − H_g)⁻¹ s_g, with s_g the sum of the voter's scores and H_g the
//! voter's part of the Hessian. Since (H − H_g)⁻¹ s_g = H⁺ w_g with w_g = (1 − H_g H⁺)⁻¹ s_g, V = H⁺ (Σ w_g w_gᵀ) H⁺, and
//! w_g is zero where the voter has no vote. A voter with more than [`REFIT_SHARE`] of the information on some model is
//! left out by a refit, and w_g = H (θ_(g) − θ).
//!
//! The interval of model i is θ_i ± t·√V_ii, with Student's t at G_i − 1 degrees of freedom. G_i = (Σ h_g)² / Σ h_g² is the
//! effective number of voters (Kish 1965), h_g being the information of voter g's votes on model i, (H_g)_ii.

mod correction;
mod refit;

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::FitError;
use super::block::{ModelBlock, blocks_of};
use super::fit::Fit;
use super::interval::Uncertainty;
use super::loss::OutcomeProbabilities;
use super::newton::inverse_but_for_a_constant;
use super::scoring::Scoring;
use super::tally::Tally;
use super::vote_log::VoteLog;
use super::voter_rows::RowsByVoter;
use super::weighting::Weights;
use crate::battle::Outcome;
use crate::stats::real_len;
pub(super) use correction::{VoterTerm, corrected_score};
use refit::{LeftOut, Refits};

/// A voter with more than this share of the information on some model is left out by a refit: a single Newton step from
/// the fit with the voter would end too far from the fit without.
pub(super) const REFIT_SHARE: f64 = 0.25;
/// Voters whose terms a thread computes at a time.
const CHUNK: usize = 512;

/// Standard errors by leaving out one voter at a time.
///
/// # Errors
/// [`FitError::NoVoters`] if the log has no voters, [`FitError::Solver`] if the Hessian cannot be inverted.
pub(super) fn jackknife(
    log: &VoteLog,
    scoring: Scoring,
    weights: &Weights,
    tally: &Tally,
    fit: &Fit,
) -> Result<Uncertainty, FitError> {
    let voters = log.voters.as_ref().ok_or(FitError::NoVoters)?;
    let rows = RowsByVoter::new(voters);
    let votes = Votes::new(log, scoring, weights, tally);
    let mut found = Uncertainty::unknown(tally.models.len());
    for block in blocks_of(fit) {
        let point = block.point(fit);
        let (terms, carried) = Block::new(&block, tally, &point)?.terms(&rows, &votes)?;
        let inverse = inverse_but_for_a_constant(&block.loss(&tally.pairs), &point)?;
        let sums = Sums::new(point.len(), &terms);
        if let Some(meat) = sums.meat() {
            found.put_by_voters(&block, &sums.variances(&inverse, &meat), &sums.effective_voters(), &carried);
        }
    }
    Ok(found)
}

/// The votes of a log by row.
struct Votes<'a> {
    log: &'a VoteLog,
    weights: &'a Weights,
    counted: [bool; Outcome::ALL.len()],
    /// Positions in the tally, by position in the log.
    places: Vec<Option<usize>>,
}

/// One rated vote of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockVote {
    /// Parameters of the two models.
    pub(super) first: usize,
    pub(super) second: usize,
    /// For the first, for the second, or for neither.
    pub(super) outcome: Outcome,
    pub(super) weight: f64,
}

impl<'a> Votes<'a> {
    fn new(log: &'a VoteLog, scoring: Scoring, weights: &'a Weights, tally: &Tally) -> Self {
        let mut places = vec![None; log.models.as_slice().len()];
        tally.models.iter().enumerate().for_each(|(place, model)| places[model.index] = Some(place));
        Self { log, weights, counted: Outcome::ALL.map(|outcome| scoring.counts(outcome)), places }
    }

    /// The vote in a row, if it is rated within the block.
    fn of_row(&self, row: usize, block: &ModelBlock) -> Option<BlockVote> {
        let outcome = self.log.outcomes[row];
        let place = |model: u32| self.places[model as usize];
        let (a, b) = place(self.log.a[row]).zip(place(self.log.b[row]))?;
        let (first, second) = block.positions(a, b).filter(|_| self.counted[outcome as usize])?;
        Some(BlockVote { first, second, outcome, weight: self.weights.of_vote(row, a, b) })
    }
}

/// A block with all that leaving out a voter needs.
struct Block<'a> {
    block: &'a ModelBlock,
    point: &'a DVector<f64>,
    inverse: DMatrix<f64>,
    /// Diagonal of the Hessian.
    information: DVector<f64>,
    refits: Refits,
}

/// What leaving out one voter gives.
enum Left {
    /// The voter has no vote in the block.
    Nothing,
    Term(VoterTerm),
    /// Without the voter, these parameters cannot be compared with the rest.
    Carried(Option<VoterTerm>, Vec<usize>),
}

impl<'a> Block<'a> {
    fn new(block: &'a ModelBlock, tally: &Tally, point: &'a DVector<f64>) -> Result<Self, FitError> {
        let loss = block.loss(&tally.pairs);
        let hessian = loss.hessian(point);
        let information = hessian.diagonal();
        let inverse = inverse_but_for_a_constant(&loss, point)?;
        Ok(Self { block, point, inverse, information, refits: Refits::new(block, &tally.pairs, point, hessian) })
    }

    /// The terms of all voters in order, and for each parameter whether it rests on a single voter.
    fn terms(&self, rows: &RowsByVoter, votes: &Votes<'_>) -> Result<(Vec<VoterTerm>, Vec<bool>), FitError> {
        let voters: Vec<&[u32]> = rows.iter().collect();
        let chunks: Result<Vec<Vec<Left>>, FitError> = voters
            .par_chunks(CHUNK)
            .map(|chunk| {
                let mut votes_of = VoterVotes::new(self.point.len(), self.nu());
                chunk.iter().map(|rows| self.leave_out(rows, votes, &mut votes_of)).collect()
            })
            .collect();
        let (mut terms, mut carried) = (Vec::new(), vec![false; self.point.len()]);
        for left in chunks?.into_iter().flatten() {
            match left {
                Left::Nothing => {}
                Left::Term(term) => terms.push(term),
                Left::Carried(term, parameters) => {
                    parameters.into_iter().for_each(|parameter| carried[parameter] = true);
                    terms.extend(term);
                }
            }
        }
        Ok((terms, carried))
    }

    fn leave_out(&self, rows: &[u32], votes: &Votes<'_>, voter: &mut VoterVotes) -> Result<Left, FitError> {
        voter.clear();
        rows.iter().filter_map(|&row| votes.of_row(row as usize, self.block)).for_each(|vote| voter.push(vote));
        if voter.votes.is_empty() {
            return Ok(Left::Nothing);
        }
        let curvature = self.curvature(voter);
        let information = curvature.diagonal();
        let held = voter.touched.iter().zip(&information);
        let share = held.map(|(&parameter, own)| own / self.information[parameter]).fold(0.0, f64::max);
        if share <= REFIT_SHARE {
            let inverse = |i: usize, j: usize| self.inverse[(voter.touched[i], voter.touched[j])];
            let corrected = corrected_score(&self.score(voter), inverse, |from, to| curvature.apply(from, to));
            if let Some(corrected) = corrected {
                return Ok(Left::Term(VoterTerm { parameters: voter.touched.clone(), corrected, information }));
            }
        }
        let over_all = |step: DVector<f64>| VoterTerm::over_all(&voter.touched, &information, &step);
        Ok(match self.refits.without(&voter.votes)? {
            LeftOut::Fitted(step) => Left::Term(over_all(step)),
            LeftOut::Divided(step, apart) => Left::Carried(step.map(over_all), apart),
        })
    }

    fn probabilities(&self, vote: &BlockVote) -> OutcomeProbabilities {
        let d = self.point[vote.first] - self.point[vote.second];
        self.block.likelihood.probabilities(d, self.nu().map_or(0.0, |nu| self.point[nu]))
    }

    /// The parameter of ln ν, if the likelihood has it.
    fn nu(&self) -> Option<usize> {
        (self.block.likelihood.extra() > 0).then_some(self.block.members.len())
    }

    /// s_g over the parameters that a voter's votes touch.
    fn score(&self, voter: &VoterVotes) -> Vec<f64> {
        let mut score = vec![0.0; voter.touched.len()];
        for vote in &voter.votes {
            let probabilities = self.probabilities(vote);
            let of = match vote.outcome {
                Outcome::AWins => probabilities.of_first(),
                Outcome::BWins => probabilities.of_second(),
                Outcome::Tie | Outcome::BothBad => probabilities.of_neither(),
            };
            score[voter.place(vote.first)] += vote.weight * of.difference;
            score[voter.place(vote.second)] -= vote.weight * of.difference;
            if let Some(nu) = self.nu() {
                score[voter.place(nu)] += vote.weight * of.log_nu;
            }
        }
        score
    }

    /// H_g over the parameters that a voter's votes touch.
    fn curvature(&self, voter: &VoterVotes) -> Curvature {
        let nu = self.nu().map(|nu| voter.place(nu));
        let of_vote = |vote: &BlockVote| {
            let probabilities = self.probabilities(vote);
            VoteCurvature {
                first: voter.place(vote.first),
                second: voter.place(vote.second),
                difference: vote.weight * probabilities.by_difference_twice(),
                both: vote.weight * probabilities.by_both(),
                log_nu: vote.weight * probabilities.by_log_nu_twice(),
            }
        };
        Curvature { size: voter.touched.len(), nu, votes: voter.votes.iter().map(of_vote).collect() }
    }
}

/// The votes of one voter, and the parameters that they touch.
struct VoterVotes {
    votes: Vec<BlockVote>,
    touched: Vec<usize>,
    /// Position in `touched` by parameter; stale outside of it.
    places: Vec<usize>,
    is_touched: Vec<bool>,
    /// The parameter of ln ν, which every vote touches.
    nu: Option<usize>,
}

impl VoterVotes {
    fn new(parameters: usize, nu: Option<usize>) -> Self {
        let (places, is_touched) = (vec![0; parameters], vec![false; parameters]);
        Self { votes: Vec::new(), touched: Vec::new(), places, is_touched, nu }
    }

    fn clear(&mut self) {
        self.votes.clear();
        self.touched.drain(..).for_each(|parameter| self.is_touched[parameter] = false);
    }

    fn push(&mut self, vote: BlockVote) {
        self.votes.push(vote);
        for parameter in [Some(vote.first), Some(vote.second), self.nu].into_iter().flatten() {
            if !std::mem::replace(&mut self.is_touched[parameter], true) {
                self.places[parameter] = self.touched.len();
                self.touched.push(parameter);
            }
        }
    }

    fn place(&self, parameter: usize) -> usize {
        self.places[parameter]
    }
}

/// H_g as a sum over votes.
struct Curvature {
    size: usize,
    nu: Option<usize>,
    votes: Vec<VoteCurvature>,
}

struct VoteCurvature {
    first: usize,
    second: usize,
    difference: f64,
    both: f64,
    log_nu: f64,
}

impl Curvature {
    fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.size];
        for vote in &self.votes {
            diagonal[vote.first] += vote.difference;
            diagonal[vote.second] += vote.difference;
            if let Some(nu) = self.nu {
                diagonal[nu] += vote.log_nu;
            }
        }
        diagonal
    }

    /// Sets `y` to H_g·x.
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for vote in &self.votes {
            let difference = x[vote.first] - x[vote.second];
            let along_nu = self.nu.map_or(0.0, |nu| x[nu]);
            let slope = vote.difference * difference + vote.both * along_nu;
            y[vote.first] += slope;
            y[vote.second] -= slope;
            if let Some(nu) = self.nu {
                y[nu] += vote.both * difference + vote.log_nu * along_nu;
            }
        }
    }
}

/// Sums over the voters of a block.
pub(super) struct Sums<'a> {
    size: usize,
    terms: &'a [VoterTerm],
}

impl<'a> Sums<'a> {
    pub(super) fn new(size: usize, terms: &'a [VoterTerm]) -> Self {
        Self { size, terms }
    }

    /// (G−1)/G · Σ w_g w_gᵀ; `None` for fewer than two voters.
    pub(super) fn meat(&self) -> Option<DMatrix<f64>> {
        let voters = self.terms.len();
        if voters < 2 {
            return None;
        }
        let mut meat = DMatrix::zeros(self.size, self.size);
        for term in self.terms {
            for (&column, across) in term.parameters.iter().zip(&term.corrected) {
                let mut column = meat.column_mut(column);
                term.parameters.iter().zip(&term.corrected).for_each(|(&row, down)| column[row] += down * across);
            }
        }
        Some(meat * (real_len(voters - 1) / real_len(voters)))
    }

    /// The diagonal of H⁺ B H⁺.
    pub(super) fn variances(&self, inverse: &DMatrix<f64>, meat: &DMatrix<f64>) -> DVector<f64> {
        let half = meat * inverse;
        // B is positive semidefinite: negative values are rounding.
        DVector::from_fn(self.size, |i, _| inverse.column(i).dot(&half.column(i)).max(0.0))
    }

    /// The effective number of voters of each parameter.
    pub(super) fn effective_voters(&self) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.size];
        for term in self.terms {
            for (&parameter, own) in term.parameters.iter().zip(&term.information) {
                let (sum, squares) = &mut sums[parameter];
                *sum += own;
                *squares += own * own;
            }
        }
        sums.into_iter().map(|(sum, squares)| if squares > 0.0 { sum * sum / squares } else { 0.0 }).collect()
    }
}
