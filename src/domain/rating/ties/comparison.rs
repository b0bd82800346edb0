//! Compares tie models by likelihood.
//!
//! All three are models of three outcomes, so their likelihoods can be compared: Davidson (1970), Rao–Kupper (1967), and ties
//! that are equally frequent in every pair, P(tie) = t and P(first) = (1 − t)·σ(d), the assumption behind half wins and dropped
//! ties. The information criteria are AIC = 2k − 2 ln L (Akaike 1974) and BIC = k·ln n − 2 ln L (Schwarz 1978), with k parameters,
//! n votes and the maximum likelihood L of each model. Equally frequent ties carry no information on d, so L is largest at the
//! Bradley–Terry strengths of the wins alone, or towards infinite ones where some model won or lost all of these. Votes between
//! components and with unbounded models are left out.

use nalgebra::DVector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::negative_log_likelihood::{OutcomeCounts, TieLoss};
use super::outcomes::OutcomeModel;
use crate::rating::FitError;
use crate::rating::counts::tally::{PairTally, Tally};
use crate::rating::strengths::fit::Fit;
use crate::rating::strengths::model_block::{ModelBlock, blocks};
use crate::rating::strengths::negative_log_likelihood::Likelihood;
use crate::rating::strengths::newton::{minimise, newton_minimise};
use crate::rating::strengths::{bradley_terry, davidson};
use crate::stats::real_len;

/// Tie model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TieModel {
    /// Ties equally frequent in every pair.
    Half,
    /// Davidson's model.
    Davidson,
    /// Rao and Kupper's model.
    RaoKupper,
}

/// Likelihood and information criteria of a tie model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TieComparison {
    /// The model.
    pub ties: TieModel,
    /// ln L.
    pub log_likelihood: f64,
    /// k: the differences of strengths, and the frequency of ties.
    pub parameters: usize,
    /// 2k − 2 ln L; the smallest is best.
    pub aic: f64,
    /// k·ln n − 2 ln L; the smallest is best.
    pub bic: f64,
}

/// Fits each model to the largest component of a Bradley–Terry fit, best first by AIC. Empty without ties there, or where their
/// frequency has no finite estimate because the strengths determine them.
///
/// # Errors
/// [`FitError::Solver`] as for [`super::super::strengths::bradley_terry::fit`].
pub fn compare_ties(tally: &Tally, fit: &Fit) -> Result<Vec<TieComparison>, FitError> {
    let Some(TiedComponent { members, with_nu, pairs, start }) = TiedComponent::new(tally, fit) else {
        return Ok(Vec::new());
    };
    let votes: f64 = pairs.iter().map(|pair| pair.first_wins + pair.second_wins + pair.halves).sum();
    let parameters = members.len();
    let compared = |(ties, log_likelihood): (TieModel, f64)| TieComparison {
        ties,
        log_likelihood,
        parameters,
        aic: 2.0 * real_len(parameters) - 2.0 * log_likelihood,
        bic: real_len(parameters) * votes.ln() - 2.0 * log_likelihood,
    };
    let half = equally_frequent(tally, &members, &pairs)?;
    let davidson = -minimise(with_nu.loss(&tally.pairs), start.clone())?.loss;
    let (loss, point) = rao_kupper(members.len(), &pairs, start)?;
    let rao_kupper = -loss.value(&point);
    let found = [(TieModel::Half, half), (TieModel::Davidson, davidson), (TieModel::RaoKupper, rao_kupper)];
    let mut found: Vec<TieComparison> = found.into_iter().map(compared).collect();
    found.sort_by(|one, other| one.aic.total_cmp(&other.aic));
    Ok(found)
}

/// Fits Rao and Kupper's model to the largest component of a Bradley–Terry fit. Returns its models, by position in the tally, with their
/// log strengths. Empty where [`compare_ties`] is.
///
/// # Errors
/// Those of [`compare_ties`].
pub(in crate::rating) fn rao_kupper_strengths(tally: &Tally, fit: &Fit) -> Result<Vec<(usize, f64)>, FitError> {
    let Some(TiedComponent { members, pairs, start, .. }) = TiedComponent::new(tally, fit) else {
        return Ok(Vec::new());
    };
    let (_, point) = rao_kupper(members.len(), &pairs, start)?;
    Ok(members.into_iter().zip(point.iter().copied()).collect())
}

/// Largest component of a Bradley–Terry fit, with a finite estimate of the frequency of ties.
struct TiedComponent {
    /// Models by position in the tally.
    members: Vec<usize>,
    with_nu: ModelBlock,
    /// Pairs by position in `members`.
    pairs: Vec<PairTally>,
    /// Fitted strengths, and 0 for the frequency of ties.
    start: DVector<f64>,
}

impl TiedComponent {
    fn new(tally: &Tally, fit: &Fit) -> Option<Self> {
        let members = fit.members().into_iter().max_by_key(Vec::len).filter(|members| members.len() > 1)?;
        let with_nu = blocks(tally.models.len(), std::slice::from_ref(&members), Likelihood::Davidson).remove(0);
        let pairs = with_nu.pairs(&tally.pairs);
        let start = fit.strengths().enumerate().filter(|(model, _)| members.contains(model));
        let start = start.map(|(_, at)| at.unwrap_or(0.0)).chain([0.0]);
        let start = DVector::from_iterator(members.len() + 1, start);
        davidson::is_finite(members.len(), &pairs).then_some(Self { members, with_nu, pairs, start })
    }
}

/// Computes ln L of ties that are equally frequent in every pair.
fn equally_frequent(tally: &Tally, members: &[usize], pairs: &[PairTally]) -> Result<f64, FitError> {
    let sum = |votes: fn(&PairTally) -> f64| pairs.iter().map(votes).sum::<f64>();
    let (ties, wins) = (sum(|pair| pair.halves), sum(|pair| pair.first_wins + pair.second_wins));
    let of_shares = ties * (ties / (ties + wins)).ln() + wins * (wins / (ties + wins)).ln();
    let decided = pairs.iter().filter(|pair| pair.first_wins + pair.second_wins > 0.0);
    let decided = Tally {
        models: members.iter().map(|&model| tally.models[model].clone()).collect(),
        pairs: decided.map(|pair| PairTally { halves: 0.0, ..*pair }).collect(),
        ..Tally::default()
    };
    Ok(of_shares + bradley_terry::fit(&decided)?.log_likelihood)
}

/// Minimises the loss of Rao and Kupper's model; returns the loss and its minimum point.
fn rao_kupper(models: usize, pairs: &[PairTally], start: DVector<f64>) -> Result<(TieLoss, DVector<f64>), FitError> {
    let counted = |pair: &PairTally| OutcomeCounts {
        first: pair.first,
        second: pair.second,
        votes: [pair.first_wins, pair.second_wins, pair.halves, 0.0],
    };
    let loss = TieLoss::new(OutcomeModel::RaoKupper, models, pairs.iter().map(counted).collect());
    let point = newton_minimise(&loss, start)?.point;
    Ok((loss, point))
}
