//! Intervals clustered by voter: the votes of one person are not independent.
//!
//! V = H⁺ B H⁺ as in [`super::sandwich`], but B = G/(G−1) · Σ_g s_g s_gᵀ, where s_g is the sum of the scores of all
//! votes of voter g and G the number of voters (Liang and Zeger 1986). A vote without a voter is its own cluster.
//! If every voter voted once, this is the sandwich times G/(G−1).

use nalgebra::{DMatrix, DVector};

use super::covariance::Covariances;
use super::sandwich::Uncertainty;
use crate::battle::Outcome;
use crate::rating::FitError;
use crate::rating::counts::tally::Tally;
use crate::rating::counts::votes_by_voter::{VoterVote, VotesByVoter};
use crate::rating::counts::weighting::Weights;
use crate::rating::strengths::fit::Fit;
use crate::rating::strengths::model_block::{ModelBlock, blocks_of};
use crate::rating::strengths::negative_log_likelihood::LossScore;
use crate::rating::strengths::newton::inverse_but_for_a_constant;
use crate::rating::votes::scoring::Scoring;
use crate::rating::votes::vote_log::VoteLog;
use crate::stats::real_len;

/// Computes standard errors clustered by voter.
///
/// # Errors
/// [`FitError::NoVoters`] if the log has no voters, [`FitError::Solver`] if the Hessian cannot be inverted.
pub(in crate::rating) fn cluster(
    log: &VoteLog,
    scoring: Scoring,
    weights: &Weights,
    tally: &Tally,
    fit: &Fit,
) -> Result<Uncertainty, FitError> {
    let voters = log.voters.as_ref().ok_or(FitError::NoVoters)?;
    let votes = VotesByVoter::new(log, voters, scoring, tally);
    let scores = ClusterScores::new(weights, fit);
    let blocks = blocks_of(fit);
    let mut sums: Vec<VoterSums> = blocks.iter().map(VoterSums::new).collect();
    for of_voter in votes.iter() {
        for (block, sums) in blocks.iter().zip(&mut sums) {
            of_voter.iter().for_each(|vote| scores.add(vote, block, sums));
            sums.close();
        }
    }
    let mut found = Uncertainty::unknown(tally.models.len());
    for (block, sums) in blocks.iter().zip(&sums) {
        let Some(meat) = sums.meat() else { continue };
        let inverse = inverse_but_for_a_constant(&block.loss(&tally.pairs), &block.point(fit))?;
        let own: Vec<f64> = meat.diagonal().iter().copied().collect();
        let half = meat * &inverse;
        found.put(block, &quadratic_forms(&inverse, &half));
        found.drop_without_own_scores(block, &own);
        if Covariances::is_kept_for(block.members.len()) {
            found.put_covariance(block, &inverse * half);
        }
    }
    Ok(found)
}

/// Computes the diagonal of H⁺ B H⁺, given B H⁺.
fn quadratic_forms(inverse: &DMatrix<f64>, half: &DMatrix<f64>) -> DVector<f64> {
    // B is positive semidefinite: negative values are rounding.
    DVector::from_fn(inverse.ncols(), |i, _| inverse.column(i).dot(&half.column(i)).max(0.0))
}

/// Scores of single votes.
struct ClusterScores<'a> {
    weights: &'a Weights,
    fit: &'a Fit,
    strengths: Vec<f64>,
}

impl<'a> ClusterScores<'a> {
    fn new(weights: &'a Weights, fit: &'a Fit) -> Self {
        let strengths = fit.strengths().map(|strength| strength.unwrap_or(0.0)).collect();
        Self { weights, fit, strengths }
    }

    /// Adds the score of a vote if both models belong to one component of the block.
    fn add(&self, vote: &VoterVote, block: &ModelBlock, sums: &mut VoterSums) {
        let (a, b) = (vote.a as usize, vote.b as usize);
        let Some((first, second)) = block.positions(a, b) else { return };
        let d = self.strengths[a] - self.strengths[b];
        let probabilities = block.likelihood.probabilities(d, self.fit.log_nu.unwrap_or(0.0));
        let score = match vote.outcome {
            Outcome::AWins => probabilities.of_first(),
            Outcome::BWins => probabilities.of_second(),
            Outcome::Tie | Outcome::BothBad => probabilities.of_neither(),
        };
        sums.add(first, second, score, self.weights.of_vote(vote.row as usize, a, b));
    }
}

/// Sum Σ_g s_g s_gᵀ, accumulated voter by voter.
struct VoterSums {
    models: usize,
    /// Score of the current voter; zero outside `touched`.
    score: Vec<f64>,
    touched: Vec<usize>,
    meat: DMatrix<f64>,
    voters: usize,
}

impl VoterSums {
    fn new(block: &ModelBlock) -> Self {
        let size = block.parameters();
        Self {
            models: block.members.len(),
            score: vec![0.0; size],
            touched: Vec::new(),
            meat: DMatrix::zeros(size, size),
            voters: 0,
        }
    }

    fn add(&mut self, first: usize, second: usize, score: LossScore, weight: f64) {
        self.add_at(first, weight * score.difference);
        self.add_at(second, -weight * score.difference);
        if self.score.len() > self.models {
            self.add_at(self.models, weight * score.log_nu);
        }
    }

    fn add_at(&mut self, place: usize, score: f64) {
        self.touched.push(place);
        self.score[place] += score;
    }

    /// Adds the current voter's s_g s_gᵀ and resets its score. A voter without a vote in this block is not counted.
    fn close(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        self.voters += 1;
        self.touched.sort_unstable();
        self.touched.dedup();
        for &column in &self.touched {
            for &row in &self.touched {
                self.meat[(row, column)] += self.score[row] * self.score[column];
            }
        }
        self.touched.iter().for_each(|&place| self.score[place] = 0.0);
        self.touched.clear();
    }

    /// Computes B; `None` for a single voter.
    fn meat(&self) -> Option<DMatrix<f64>> {
        (self.voters > 1).then(|| &self.meat * (real_len(self.voters) / real_len(self.voters - 1)))
    }
}
