//! Design effects of dependent votes, within slices and over all votes.
//!
//! The design effect (Kish 1965) of all votes is the mean of the variances that their intervals use, over the mean of those
//! that independent Bradley–Terry votes would have. Within slices, a voter has fewer votes that depend on each other. With s
//! the sum of the scores (y − p)(e_a − e_b) of a voter's votes, the design effect is smaller there by the factor Σ|s|² over voters and
//! slices, over Σ|s|² over voters. The factor is at most 1: the scores of all votes sum to zero, so those of a single voter do.

use nalgebra::{DMatrix, DVector};

use super::super::counts::tally::Tally;
use super::super::counts::votes_by_voter::{VoterVote, VotesByVoter};
use super::super::intervals::sandwich::Intervals;
use super::super::strengths::model_block::ModelBlock;
use super::super::strengths::negative_log_likelihood::logistic;
use super::super::votes::scoring::Scoring;
use super::super::votes::vote_log::{Labels, VoteLog};
use crate::battle::Outcome;
use crate::stats::real_len;

/// Minimum design effect of all votes. A few votes that agree by chance, or only ties, would give 0.
const MIN_DESIGN_EFFECT: f64 = 0.1;

/// Design effects of votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DesignEffects {
    /// Design effect of all votes.
    pub(super) overall: f64,
    /// Design effect of the votes of one slice.
    pub(super) within: f64,
}

impl DesignEffects {
    /// Computes the design effects of a block's votes, given its strengths and H⁺ there.
    pub(super) fn new(
        log: &VoteLog,
        labels: &Labels,
        scoring: Scoring,
        (tally, intervals): (&Tally, &Intervals),
        (block, point, inverse): (&ModelBlock, &DVector<f64>, &DMatrix<f64>),
    ) -> Self {
        let overall = of_all_votes(&block.members, inverse, intervals);
        let voters = log.voters.as_ref().filter(|_| intervals.voters.is_some());
        let votes = voters.map(|voters| VotesByVoter::new(log, voters, scoring, tally));
        let share = votes.map_or(1.0, |votes| share_within(&votes, labels, block, point));
        Self { overall, within: overall * share }
    }
}

/// Computes the design effect of all votes; 1 where no interval is known.
fn of_all_votes(members: &[usize], inverse: &DMatrix<f64>, intervals: &Intervals) -> f64 {
    let size = real_len(members.len());
    let errors = || members.iter().filter_map(|&model| intervals.strengths[model]?.error);
    let (known, sum) = errors().fold((0_usize, 0.0), |(known, sum), error| (known + 1, sum + error * error));
    // H⁺ is known up to a constant, which centring removes.
    let independent = (inverse.trace() - inverse.sum() / size) / size;
    if known == 0 || independent <= 0.0 { 1.0 } else { (sum / real_len(known) / independent).max(MIN_DESIGN_EFFECT) }
}

/// Computes Σ|s|² over voters and slices, over Σ|s|² over voters.
fn share_within(votes: &VotesByVoter, labels: &Labels, block: &ModelBlock, point: &DVector<f64>) -> f64 {
    let (mut within, mut overall) = (0.0, 0.0);
    for votes in votes.iter() {
        let mut scores: Vec<(usize, u32, f64)> = Vec::with_capacity(2 * votes.len());
        for vote in votes {
            let Some((a, b)) = block.positions(vote.a as usize, vote.b as usize) else { continue };
            let score = points_of_a(vote) - logistic(point[a] - point[b]);
            let label = labels.rows[vote.row as usize];
            scores.extend([(a, label, score), (b, label, -score)]);
        }
        scores.sort_unstable_by_key(|&(model, label, _)| (model, label));
        within += squared_sums(&scores, |one, other| (one.0, one.1) == (other.0, other.1));
        overall += squared_sums(&scores, |one, other| one.0 == other.0);
    }
    if overall > within { within / overall } else { 1.0 }
}

fn points_of_a(vote: &VoterVote) -> f64 {
    match vote.outcome {
        Outcome::AWins => 1.0,
        Outcome::BWins => 0.0,
        Outcome::Tie | Outcome::BothBad => 0.5,
    }
}

/// Computes the sum over groups of the squared sums of their scores.
fn squared_sums(scores: &[(usize, u32, f64)], same: impl Fn(&(usize, u32, f64), &(usize, u32, f64)) -> bool) -> f64 {
    scores.chunk_by(same).map(|group| group.iter().map(|(.., score)| score).sum::<f64>().powi(2)).sum()
}
