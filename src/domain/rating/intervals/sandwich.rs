//! Standard errors by the sandwich formula.
//!
//! V = H⁺ B H⁺ with H = Σ c·p(1−p)·uuᵀ, B = Σ c·(y−p)²·uuᵀ, u = e_a − e_b (White 1982; Chiang et al. 2024, section 4).
//! H⁺ is the inverse on the strengths that sum to zero. H has no penalty term, which would make the intervals of rarely
//! seen models too narrow. For votes with weights w, H sums w and B sums w². If ν is fitted, H and B include it, so the
//! intervals of the strengths allow for its error.

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::covariance::Covariances;
use crate::rating::FitError;
use crate::rating::counts::tally::{PairTally, Tally};
use crate::rating::strengths::fit::Fit;
use crate::rating::strengths::model_block::{ModelBlock, blocks_of};
use crate::rating::strengths::negative_log_likelihood::{LossScore, OutcomeProbabilities};
use crate::rating::strengths::newton::inverse_but_for_a_constant;
use crate::stats::confidence::ConfidenceLevel;

/// Standard errors of the parameters of a fit.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::rating) struct Uncertainty {
    /// Standard error of each strength, as in [`sandwich`].
    errors: Vec<Option<f64>>,
    /// Standard error of ln ν, if it is a parameter.
    log_nu: Option<f64>,
    /// Effective numbers of voters, if the errors come from the variation between voters with Student's t: of the
    /// strengths, and of ln ν.
    voters: Option<(Vec<f64>, f64)>,
    /// Models that only the votes of a single voter connect with the rest.
    single_voter: Vec<usize>,
    covariances: Covariances,
}

/// Standard error of a strength at or below which it is rounding error.
pub(in crate::rating) const ROUNDING: f64 = 1e-9;

impl Uncertainty {
    /// Creates the state without any standard error.
    pub(in crate::rating) fn unknown(models: usize) -> Self {
        let covariances = Covariances::default();
        Self { errors: vec![None; models], log_nu: None, voters: None, single_voter: Vec::new(), covariances }
    }

    /// Stores the variances of the parameters of a block. A zero variance means that every vote equals its prediction,
    /// such as a single tie: the standard error is then unknown.
    pub(in crate::rating) fn put(&mut self, block: &ModelBlock, variances: &DVector<f64>) {
        for (&model, variance) in block.members.iter().zip(variances) {
            self.errors[model] = Some(variance.sqrt()).filter(|error| *error > ROUNDING);
        }
        self.log_nu = variances.iter().nth(block.members.len()).map(|variance| variance.sqrt());
    }

    /// Drops the standard error of each model whose own votes all equal their predictions: the rest of its variance is the error of
    /// its opponents. `own` has the sums of squares of the scores of the models' votes.
    pub(in crate::rating) fn drop_without_own_scores(&mut self, block: &ModelBlock, own: &[f64]) {
        for (&model, square) in block.members.iter().zip(own) {
            if square.sqrt() <= ROUNDING {
                self.errors[model] = None;
            }
        }
    }

    /// Stores the joint covariance of the parameters of a block.
    pub(in crate::rating) fn put_covariance(&mut self, block: &ModelBlock, covariance: DMatrix<f64>) {
        self.covariances.put(block, covariance);
    }

    /// Stores variances between voters, with the effective number of voters of each parameter. A parameter that is not
    /// determined without one of the voters has no standard error.
    pub(in crate::rating) fn put_by_voters(
        &mut self,
        block: &ModelBlock,
        variances: &DVector<f64>,
        effective: &[f64],
        single_voter: &[bool],
    ) {
        self.put(block, variances);
        let (voters, of_nu) = self.voters.get_or_insert_with(|| (vec![0.0; self.errors.len()], 0.0));
        for (place, &model) in block.members.iter().enumerate() {
            voters[model] = effective[place];
            if single_voter[place] {
                self.errors[model] = None;
                self.single_voter.push(model);
            }
        }
        *of_nu = effective.get(block.members.len()).copied().unwrap_or(0.0);
    }
}

/// Ends of an interval; infinite for an open end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::rating) struct IntervalEnds {
    pub(in crate::rating) lower: f64,
    pub(in crate::rating) upper: f64,
    /// Standard error, if known.
    pub(in crate::rating) error: Option<f64>,
}

impl IntervalEnds {
    /// Returns `at` plus and minus `quantile` standard errors.
    pub(in crate::rating) fn around(at: f64, error: f64, quantile: f64) -> Self {
        let margin = quantile * error;
        Self { lower: at - margin, upper: at + margin, error: Some(error) }
    }
}

/// Intervals of the strengths by model, and of ln ν; `None` where the votes determine no interval.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::rating) struct Intervals {
    pub(in crate::rating) strengths: Vec<Option<IntervalEnds>>,
    pub(in crate::rating) log_nu: Option<IntervalEnds>,
    /// Effective number of voters by model, where the intervals come from the variation between voters.
    pub(in crate::rating) voters: Option<Vec<f64>>,
    /// Models without an interval because only a single voter's votes connect them with the rest.
    pub(in crate::rating) single_voter: Vec<usize>,
    /// Joint covariances of the strengths, where they are known.
    pub(in crate::rating) covariances: Covariances,
}

impl Intervals {
    pub(in crate::rating) fn none(models: usize) -> Self {
        Self { strengths: vec![None; models], ..Self::default() }
    }

    /// Drops the intervals of models whose own votes all equal their predictions.
    pub(in crate::rating) fn without_zero_variance(mut self, tally: &Tally, fit: &Fit) -> Self {
        for block in blocks_of(fit) {
            for (&model, square) in block.members.iter().zip(own_scores_of(&block, tally, &block.point(fit))) {
                if square.sqrt() <= ROUNDING {
                    self.strengths[model] = None;
                }
            }
        }
        self
    }

    /// Returns the effective number of voters behind the interval of a model, where the intervals come from the variation between voters.
    pub(in crate::rating) fn voters_of(&self, model: usize) -> Option<f64> {
        self.voters.as_ref().map(|voters| voters[model])
    }

    /// Computes half the width of the interval of the difference of two strengths, with the quantile of the model that has fewer
    /// voters; `None` without their joint covariance.
    pub(in crate::rating) fn half_width_of_difference(
        &self,
        one: usize,
        other: usize,
        level: ConfidenceLevel,
    ) -> Option<f64> {
        let quantile = |model| level.quantile(self.voters_of(model));
        Some(self.covariances.error_of_difference(one, other)? * quantile(one).max(quantile(other)))
    }
}

impl Uncertainty {
    /// Computes intervals around a fit: by Student's t where the effective numbers of voters are known, else normal ones.
    pub(in crate::rating) fn around(&self, fit: &Fit, level: ConfidenceLevel) -> Intervals {
        let voters = self.voters.as_ref();
        let strength = |(model, strength): (usize, Option<f64>)| {
            let quantile = level.quantile(voters.map(|(voters, _)| voters[model]));
            Some(IntervalEnds::around(strength?, self.errors[model]?, quantile))
        };
        let of_nu = level.quantile(voters.map(|(_, of_nu)| *of_nu));
        Intervals {
            strengths: fit.strengths().enumerate().map(strength).collect(),
            log_nu: fit.log_nu.zip(self.log_nu).map(|(at, error)| IntervalEnds::around(at, error, of_nu)),
            voters: voters.map(|(voters, _)| voters.clone()),
            single_voter: self.single_voter.clone(),
            covariances: self.covariances.clone(),
        }
    }
}

/// Computes standard errors of the strengths by the sandwich formula, by position in [`Tally::models`]. `None` for an unbounded
/// model and for a model that is alone in its component.
///
/// # Errors
/// [`FitError::Solver`] if the Hessian cannot be inverted.
pub fn sandwich(tally: &Tally, fit: &Fit) -> Result<Vec<Option<f64>>, FitError> {
    Ok(joint_sandwich(tally, fit)?.errors)
}

/// Computes standard errors of all parameters by the sandwich formula.
pub(in crate::rating) fn joint_sandwich(tally: &Tally, fit: &Fit) -> Result<Uncertainty, FitError> {
    let mut found = Uncertainty::unknown(tally.models.len());
    let squares = tally.squares.as_ref().unwrap_or(&tally.pairs);
    for block in blocks_of(fit) {
        let sandwich = BlockSandwich::new(&block, &tally.pairs, squares, &block.point(fit))?;
        found.put(&block, &sandwich.variances());
        found.drop_without_own_scores(&block, &own_scores(block.members.len(), &sandwich.pairs));
        if Covariances::is_kept_for(block.members.len()) {
            found.put_covariance(&block, sandwich.covariance());
        }
    }
    Ok(found)
}

/// H⁺ of a block, and the terms of B by pair.
struct BlockSandwich {
    inverse: DMatrix<f64>,
    pairs: Vec<(PairTally, SquaredScores)>,
    /// The position of ln ν, if it is a parameter.
    nu: Option<usize>,
}

impl BlockSandwich {
    fn new(
        block: &ModelBlock,
        pairs: &[PairTally],
        squares: &[PairTally],
        point: &DVector<f64>,
    ) -> Result<Self, FitError> {
        let inverse = inverse_but_for_a_constant(&block.loss(pairs), point)?;
        let nu = (point.len() > block.members.len()).then_some(block.members.len());
        Ok(Self { inverse, pairs: scored_pairs(block, squares, point), nu })
    }

    /// Computes the diagonal of H⁺ B H⁺ as Σ w·(H⁺ s)² over pairs, where s is the score of a vote: a sum of squares, without cancellation.
    fn variances(&self) -> DVector<f64> {
        let size = self.inverse.nrows();
        let mut variances = DVector::zeros(size);
        variances.as_mut_slice().par_chunks_mut(ROWS_PER_BATCH).enumerate().for_each(|(part, variances)| {
            let rows = part * ROWS_PER_BATCH..part * ROWS_PER_BATCH + variances.len();
            let column = |column: usize| &self.inverse.as_slice()[column * size..][rows.clone()];
            add_scores(column, &self.pairs, self.nu, variances);
        });
        variances
    }

    /// Computes H⁺ B H⁺.
    fn covariance(&self) -> DMatrix<f64> {
        let mut meat = DMatrix::zeros(self.inverse.nrows(), self.inverse.ncols());
        for (pair, scores) in &self.pairs {
            let (first, second) = (pair.first, pair.second);
            meat[(first, first)] += scores.difference;
            meat[(second, second)] += scores.difference;
            meat[(first, second)] -= scores.difference;
            meat[(second, first)] -= scores.difference;
            if let Some(nu) = self.nu {
                meat[(nu, nu)] += scores.log_nu;
                for (model, both) in [(first, scores.both), (second, -scores.both)] {
                    meat[(model, nu)] += both;
                    meat[(nu, model)] += both;
                }
            }
        }
        &self.inverse * (meat * &self.inverse)
    }
}

/// Computes the terms of B for the pairs within a block.
fn scored_pairs(block: &ModelBlock, squares: &[PairTally], point: &DVector<f64>) -> Vec<(PairTally, SquaredScores)> {
    let log_nu = point.iter().nth(block.members.len()).copied().unwrap_or(0.0);
    let score = |pair: &PairTally| {
        let d = point[pair.first] - point[pair.second];
        SquaredScores::new(pair, block.likelihood.probabilities(d, log_nu))
    };
    block.pairs(squares).into_iter().map(|pair| (pair, score(&pair))).collect()
}

/// Computes the sums of squares of the scores of each model's votes: the diagonal of B.
fn own_scores(models: usize, pairs: &[(PairTally, SquaredScores)]) -> Vec<f64> {
    let mut own = vec![0.0; models];
    for (pair, scores) in pairs {
        own[pair.first] += scores.difference;
        own[pair.second] += scores.difference;
    }
    own
}

/// Computes [`own_scores`] of the votes of a tally within a block.
pub(in crate::rating) fn own_scores_of(block: &ModelBlock, tally: &Tally, point: &DVector<f64>) -> Vec<f64> {
    let squares = tally.squares.as_ref().unwrap_or(&tally.pairs);
    own_scores(block.members.len(), &scored_pairs(block, squares, point))
}

/// Number of parameters whose variances are summed together: their rows of H⁺ stay in the cache.
const ROWS_PER_BATCH: usize = 32;

/// Adds the pairs' terms to the variances of some parameters, given the columns of their rows of H⁺.
fn add_scores<'h>(
    column: impl Fn(usize) -> &'h [f64],
    pairs: &[(PairTally, SquaredScores)],
    nu: Option<usize>,
    variances: &mut [f64],
) {
    for (pair, scores) in pairs {
        let (first, second) = (column(pair.first), column(pair.second));
        for ((variance, first), second) in variances.iter_mut().zip(first).zip(second) {
            let spread = first - second;
            *variance += scores.difference * spread * spread;
        }
        if let Some(nu) = nu {
            for (((variance, first), second), nu) in variances.iter_mut().zip(first).zip(second).zip(column(nu)) {
                *variance += nu * (2.0 * scores.both * (first - second) + scores.log_nu * nu);
            }
        }
    }
}

/// Sums of products of the scores of a pair's votes.
struct SquaredScores {
    difference: f64,
    both: f64,
    log_nu: f64,
}

impl SquaredScores {
    fn new(pair: &PairTally, probabilities: OutcomeProbabilities) -> Self {
        let votes = [
            (pair.first_wins, probabilities.of_first()),
            (pair.second_wins, probabilities.of_second()),
            (pair.halves, probabilities.of_neither()),
        ];
        let sum = |product: fn(LossScore) -> f64| votes.iter().map(|&(weight, score)| weight * product(score)).sum();
        Self {
            difference: sum(|score| score.difference * score.difference),
            both: sum(|score| score.difference * score.log_nu),
            log_nu: sum(|score| score.log_nu * score.log_nu),
        }
    }
}
