//! Mean scores of models.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judged::JudgedUnit;
use crate::campaign::judgement::UnitJudgement;
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::real_len;

/// Tolerance for the rounding error of equal means.
const ROUNDING: f64 = 1e-9;

/// Mean score of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoredModel {
    /// Id of the model.
    pub model: String,
    /// Mean over the model's items of the mean over annotators.
    pub score: f64,
    /// Lower bound, with items as independent observations; `None` for one item, and if all items have the same mean, which does not show
    /// the uncertainty.
    pub lower: Option<f64>,
    /// Upper bound; `None` as for the lower one.
    pub upper: Option<f64>,
    /// Number of items.
    pub items: u64,
    /// Number of judgements.
    pub judgements: u64,
    /// Mean score of each item.
    #[serde(skip)]
    pub item_means: Vec<f64>,
}

/// Computes each model's mean scores by item.
#[must_use]
pub fn scores_by_model(judged: &[&JudgedUnit]) -> BTreeMap<String, Vec<f64>> {
    item_means(by_model(judged))
}

/// Scores by model and item.
pub(super) type ScoresByItem<'j> = BTreeMap<&'j str, BTreeMap<u32, Vec<f64>>>;

/// Computes the mean of each item of each model.
pub(super) fn item_means(scores: ScoresByItem<'_>) -> BTreeMap<String, Vec<f64>> {
    let means = |items: BTreeMap<u32, Vec<f64>>| items.values().map(|scores| mean_of(scores)).collect();
    scores.into_iter().map(|(model, items)| (model.to_owned(), means(items))).collect()
}

/// Computes the mean scores, best first: x̄ ± t·s/√n over the n items of a model, each the mean of its judgements.
pub(super) fn mean_scores(judged: &[&JudgedUnit], level: ConfidenceLevel) -> Vec<ScoredModel> {
    scored_models(by_model(judged), level)
}

/// Computes the mean scores of models, best first.
pub(super) fn scored_models(scores: ScoresByItem<'_>, level: ConfidenceLevel) -> Vec<ScoredModel> {
    let mut models: Vec<ScoredModel> = scores.into_iter().map(|(model, items)| scored(model, &items, level)).collect();
    models.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.model.cmp(&other.model)));
    models
}

/// Groups the scores by model and item.
fn by_model<'j>(judged: &[&'j JudgedUnit]) -> ScoresByItem<'j> {
    let mut by_model = ScoresByItem::new();
    for unit in judged {
        if let (UnitJudgement::Score(score), [model]) = (&unit.judgement, &*unit.shown) {
            by_model.entry(model).or_default().entry(unit.unit).or_default().push(f64::from(*score));
        }
    }
    by_model
}

pub(super) fn mean_of(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / real_len(scores.len())
}

fn scored(model: &str, items: &BTreeMap<u32, Vec<f64>>, level: ConfidenceLevel) -> ScoredModel {
    let means: Vec<f64> = items.values().map(|scores| mean_of(scores)).collect();
    let n = real_len(means.len());
    let mean = means.iter().sum::<f64>() / n;
    // Neither equal means nor a single item show the uncertainty.
    let differ = means.iter().any(|value| (value - means[0]).abs() > ROUNDING);
    let half = differ.then(|| {
        let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        level.t(n - 1.0) * (variance / n).sqrt()
    });
    ScoredModel {
        model: model.to_owned(),
        score: mean,
        lower: half.map(|half| mean - half),
        upper: half.map(|half| mean + half),
        items: means.len() as u64,
        judgements: items.values().map(|scores| scores.len() as u64).sum(),
        item_means: means,
    }
}
