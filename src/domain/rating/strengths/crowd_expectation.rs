//! Leave-one-voter-out predictions: ratings without the voter's own votes, so that no voter is compared with itself.

use nalgebra::{DMatrix, DVector};

use super::super::FitError;
use super::super::counts::tally::Tally;
use super::super::votes::scoring::Scoring;
use super::super::votes::vote_log::{Labels, VoteLog};
use super::bradley_terry::fit;
use super::model_block::ModelBlock;
use super::negative_log_likelihood::{Likelihood, logistic};
use super::newton::inverse_but_for_a_constant;
use crate::battle::Outcome;

/// Largest κ: above it, votes for neither would exceed the weaker model's share.
const MAX_KAPPA: f64 = 2.0;

/// Ratings of the largest component; votes for neither side count half.
#[derive(Debug)]
pub(crate) struct CrowdExpectation {
    /// Index of each model of the log in `strengths`; `None` outside the component.
    parameters: Vec<Option<usize>>,
    /// θ.
    strengths: DVector<f64>,
    /// H⁺ up to a constant.
    inverse: DMatrix<f64>,
    /// κ: a vote is for neither with probability κ·p(1−p), p the share of one model.
    kappa: f64,
}

/// A vote between two models of the largest component.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CrowdVote {
    /// Parameters of the models on sides A and B.
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) outcome: Outcome,
}

impl CrowdExpectation {
    /// Fits the votes of a log; `None` where no votes compare two rated models.
    pub(crate) fn new(log: &VoteLog) -> Result<Option<Self>, FitError> {
        let tally = Tally::from_log(log, Scoring::default());
        let fitted = fit(&tally)?;
        let Some(members) = fitted.members().into_iter().next().filter(|members| members.len() > 1) else {
            return Ok(None);
        };
        let mut parameters = vec![None; log.models.as_slice().len()];
        (0..).zip(&members).for_each(|(parameter, &model)| parameters[tally.models[model].index] = Some(parameter));
        let block = ModelBlock::new(tally.models.len(), std::slice::from_ref(&members), Likelihood::BradleyTerry);
        let (loss, strengths) = (block.loss(&tally.pairs), block.point(&fitted));
        let inverse = inverse_but_for_a_constant(&loss, &strengths)?;
        let halves: f64 = loss.pairs().iter().map(|pair| pair.halves).sum();
        let variance = loss.pairs().iter().map(|pair| {
            let d = strengths[pair.first] - strengths[pair.second];
            (pair.points_first() + pair.points_second()) * logistic(d) * logistic(-d)
        });
        let kappa = (halves / variance.sum::<f64>()).min(MAX_KAPPA);
        Ok(Some(Self { parameters, strengths, inverse, kappa }))
    }

    /// Returns the number of models.
    pub(crate) fn models(&self) -> usize {
        self.strengths.len()
    }

    /// Returns θ by parameter.
    pub(crate) fn strengths(&self) -> &[f64] {
        self.strengths.as_slice()
    }

    /// Returns the names of the component's models, by parameter.
    pub(crate) fn names<'log>(&self, log: &'log VoteLog) -> Vec<&'log str> {
        let mut names = vec![""; self.models()];
        for (name, parameter) in log.models.as_slice().iter().zip(&self.parameters) {
            parameter.iter().for_each(|&parameter| names[parameter] = name);
        }
        names
    }

    /// Returns the votes of the log between models of the component.
    pub(crate) fn votes(&self, log: &VoteLog) -> Vec<CrowdVote> {
        (0..log.len()).filter_map(|row| self.vote(log, row)).collect()
    }

    fn vote(&self, log: &VoteLog, row: usize) -> Option<CrowdVote> {
        let [a, b] = [log.a[row], log.b[row]].map(|model| self.parameters[model as usize]);
        Some(CrowdVote { a: a?, b: b?, outcome: log.outcomes[row] })
    }

    /// Computes θ_a − θ_b.
    pub(crate) fn difference(&self, a: usize, b: usize) -> f64 {
        self.strengths[a] - self.strengths[b]
    }

    /// Returns the votes of each voter between models of the component, by position of the voter in the log.
    pub(crate) fn votes_of_voters(&self, log: &VoteLog) -> Vec<Vec<CrowdVote>> {
        let Some(labels) = &log.voters else { return Vec::new() };
        let mut votes = vec![Vec::new(); labels.names.as_slice().len()];
        for (row, &voter) in labels.rows.iter().enumerate().filter(|(_, voter)| **voter != Labels::NONE) {
            votes[voter as usize].extend(self.vote(log, row));
        }
        votes
    }

    /// Computes the strengths without the votes of a voter, by one Newton step: θ − H⁺ Σ (y − p)(e_a − e_b).
    pub(crate) fn strengths_without(&self, votes: &[CrowdVote]) -> DVector<f64> {
        let mut slope = DVector::<f64>::zeros(self.models());
        for vote in votes {
            let residual = vote.outcome.points_a() - logistic(self.difference(vote.a, vote.b));
            slope[vote.a] += residual;
            slope[vote.b] -= residual;
        }
        let mut strengths = self.strengths.clone();
        for (model, slope) in slope.iter().enumerate().filter(|(_, slope)| slope.abs() > 0.0) {
            strengths.axpy(-slope, &self.inverse.column(model), 1.0);
        }
        strengths
    }

    /// Computes the probabilities of a vote for the first model, the second and neither, given the difference d of their strengths.
    pub(crate) fn outcome_shares(&self, d: f64) -> [f64; 3] {
        let (p, q) = (logistic(d), logistic(-d));
        let neither = self.kappa * p * q;
        [p - 0.5 * neither, q - 0.5 * neither, neither]
    }

    /// Computes H⁺(e_one − e_other), the influence of votes on the gap between two models. A vote (a, b, y) moves the gap by about
    /// (y − p)·(h_a − h_b).
    pub(crate) fn pull(&self, one: usize, other: usize) -> DVector<f64> {
        self.inverse.column(one) - self.inverse.column(other)
    }

    /// Returns the parameter of a model of the log.
    pub(crate) fn parameter(&self, model: usize) -> Option<usize> {
        self.parameters[model]
    }

    /// Computes the log odds that a vote for one of two models is for the first.
    pub(crate) fn decisive_log_odds(&self, d: f64) -> f64 {
        // Both factors are at least 0; with κ = 2 they are p and q.
        let (first, second) = (1.0 - 0.5 * self.kappa * logistic(-d), 1.0 - 0.5 * self.kappa * logistic(d));
        d + first.ln() - second.ln()
    }
}
