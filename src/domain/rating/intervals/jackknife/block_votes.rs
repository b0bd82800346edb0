//! Votes of one voter in a block: score, information and Hessian over the parameters that they touch.

use nalgebra::DVector;

use crate::battle::Outcome;
use crate::rating::counts::votes_by_voter::VoterVote;
use crate::rating::counts::weighting::Weights;
use crate::rating::strengths::model_block::ModelBlock;

/// One vote within the block.
#[derive(Clone, Copy)]
pub(super) struct BlockVote {
    /// Parameters of the models on sides A and B.
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) outcome: Outcome,
    pub(super) weight: f64,
}

/// Second derivatives of one vote, by positions in [`Voter::touched`].
struct VoteCurvature {
    first: usize,
    second: usize,
    difference: f64,
    both: f64,
    log_nu: f64,
}

/// Votes and derivatives of one voter; its buffers are reused for the next.
pub(super) struct Voter<'a> {
    block: &'a ModelBlock,
    point: &'a DVector<f64>,
    votes: Vec<BlockVote>,
    curvatures: Vec<VoteCurvature>,
    touched: Vec<usize>,
    score: Vec<f64>,
    information: Vec<f64>,
    /// Position in `touched` by parameter, [`UNTOUCHED`] for the others.
    places: Vec<usize>,
    /// Position of ln ν in `touched`, if the likelihood has it.
    nu: Option<usize>,
}

const UNTOUCHED: usize = usize::MAX;

impl<'a> Voter<'a> {
    pub(super) fn new(block: &'a ModelBlock, point: &'a DVector<f64>) -> Self {
        Self {
            block,
            point,
            votes: Vec::new(),
            curvatures: Vec::new(),
            touched: Vec::new(),
            score: Vec::new(),
            information: Vec::new(),
            places: vec![UNTOUCHED; point.len()],
            nu: None,
        }
    }

    /// Loads the votes of the next voter.
    pub(super) fn read(&mut self, votes: &[VoterVote], weights: &Weights) {
        self.votes.clear();
        self.curvatures.clear();
        self.touched.drain(..).for_each(|parameter| self.places[parameter] = UNTOUCHED);
        self.score.clear();
        self.information.clear();
        for vote in votes {
            let (a, b) = (vote.a as usize, vote.b as usize);
            if let Some((first, second)) = self.block.positions(a, b) {
                let weight = weights.of_vote(vote.row as usize, a, b);
                self.votes.push(BlockVote { first, second, outcome: vote.outcome, weight });
                self.touch(first);
                self.touch(second);
            }
        }
        let models = self.block.members.len();
        if self.block.likelihood.extra() > 0 {
            self.touch(models);
        }
        // Ascending order, so that the matrices are accessed sequentially.
        self.touched.sort_unstable();
        self.touched.iter().enumerate().for_each(|(place, &parameter)| self.places[parameter] = place);
        self.nu = (self.block.likelihood.extra() > 0).then(|| self.places[models]);
        self.score.resize(self.touched.len(), 0.0);
        self.information.resize(self.touched.len(), 0.0);
        (0..self.votes.len()).for_each(|vote| self.add(self.votes[vote]));
    }

    fn touch(&mut self, parameter: usize) {
        if self.places[parameter] == UNTOUCHED {
            self.places[parameter] = self.touched.len();
            self.touched.push(parameter);
        }
    }

    fn add(&mut self, vote: BlockVote) {
        let d = self.point[vote.first] - self.point[vote.second];
        let log_nu = self.nu.map_or(0.0, |_| self.point[self.block.members.len()]);
        let probabilities = self.block.likelihood.probabilities(d, log_nu);
        let score = match vote.outcome {
            Outcome::AWins => probabilities.of_first(),
            Outcome::BWins => probabilities.of_second(),
            Outcome::Tie | Outcome::BothBad => probabilities.of_neither(),
        };
        let (first, second) = (self.places[vote.first], self.places[vote.second]);
        let difference = vote.weight * probabilities.by_difference_twice();
        self.score[first] += vote.weight * score.difference;
        self.score[second] -= vote.weight * score.difference;
        self.information[first] += difference;
        self.information[second] += difference;
        let (mut both, mut by_nu) = (0.0, 0.0);
        if let Some(nu) = self.nu {
            (both, by_nu) =
                (vote.weight * probabilities.mixed_second_derivative(), vote.weight * probabilities.by_log_nu_twice());
            self.score[nu] += vote.weight * score.log_nu;
            self.information[nu] += by_nu;
        }
        self.curvatures.push(VoteCurvature { first, second, difference, both, log_nu: by_nu });
    }

    pub(super) fn votes(&self) -> &[BlockVote] {
        &self.votes
    }

    /// Returns the parameters that the votes touch.
    pub(super) fn touched(&self) -> &[usize] {
        &self.touched
    }

    /// Returns s_g over the touched parameters.
    pub(super) fn score(&self) -> &[f64] {
        &self.score
    }

    /// Returns the diagonal of H_g over the touched parameters.
    pub(super) fn information(&self) -> &[f64] {
        &self.information
    }

    /// Sets `to` to H_g times `from`.
    pub(super) fn curve(&self, from: &[f64], to: &mut [f64]) {
        to.fill(0.0);
        for vote in &self.curvatures {
            let difference = from[vote.first] - from[vote.second];
            let along_nu = self.nu.map_or(0.0, |nu| from[nu]);
            let slope = vote.difference * difference + vote.both * along_nu;
            to[vote.first] += slope;
            to[vote.second] -= slope;
            if let Some(nu) = self.nu {
                to[nu] += vote.both * difference + vote.log_nu * along_nu;
            }
        }
    }
}
