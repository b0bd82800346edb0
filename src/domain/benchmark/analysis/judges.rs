//! Agreement of two judges on the scores of the same models.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::Undefined;
use crate::stats::correlation::{Concordance, Correlation, concordance, kendall, pearson, spearman};
use crate::stats::real_len;

/// Agreement of two judges on the models that both scored.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgePairAgreement {
    /// Models in the order of their names.
    pub models: Vec<JudgeRankChange>,
    /// Pearson's r of the scores.
    pub pearson: Result<Correlation, Undefined>,
    /// Spearman's ρ of the scores.
    pub spearman: Result<Correlation, Undefined>,
    /// Kendall's τ-b of the scores.
    pub kendall: Result<Correlation, Undefined>,
    /// Number of pairs of models in the same and in opposite orders.
    pub pairs: Concordance,
}

/// Scores and ranks of a model by two judges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeRankChange {
    /// Id of the model.
    pub model: String,
    /// First judge's score.
    pub first: f64,
    /// Second judge's score.
    pub second: f64,
    /// First judge's rank: 1 for the best; equal scores share the mean of their ranks.
    pub first_rank: f64,
    /// Second judge's rank.
    pub second_rank: f64,
}

/// Compares two judges over the models that both scored.
#[must_use]
pub fn compare<S: AsRef<str> + Ord>(first: &BTreeMap<S, f64>, second: &BTreeMap<S, f64>) -> JudgePairAgreement {
    let common = first.iter().filter_map(|(model, score)| Some((model.as_ref(), *score, *second.get(model)?)));
    let common: Vec<(&str, f64, f64)> = common.collect();
    let x: Vec<f64> = common.iter().map(|(_, score, _)| *score).collect();
    let y: Vec<f64> = common.iter().map(|(_, _, score)| *score).collect();
    let ranks = descending_ranks(&x).into_iter().zip(descending_ranks(&y));
    let change = |((model, first, second), (first_rank, second_rank)): ((&str, f64, f64), (f64, f64))| {
        JudgeRankChange { model: model.to_owned(), first, second, first_rank, second_rank }
    };
    JudgePairAgreement {
        models: common.into_iter().zip(ranks).map(change).collect(),
        pearson: pearson(&x, &y),
        spearman: spearman(&x, &y),
        kendall: kendall(&x, &y),
        pairs: concordance(&x, &y),
    }
}

/// Computes ranks in descending order of the scores.
fn descending_ranks(scores: &[f64]) -> Vec<f64> {
    crate::stats::ranks(scores).into_iter().map(|rank| real_len(scores.len()) + 1.0 - rank).collect()
}
