//! Self-preference: whether a judge that takes part scores itself higher than others score it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::Undefined;
use crate::stats::distribution::mean;

/// What a judge gives itself beyond what others give it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelfPreference {
    /// The judge that is also a model under test.
    pub judge: String,
    /// Its score of itself, less the mean of the other judges' scores of it.
    pub of_itself: f64,
    /// The same of the other models, on average: how generous the judge is.
    pub of_others: f64,
    /// `of_itself` less `of_others`, in the unit of the scores: above zero it prefers itself.
    pub preference: f64,
}

/// The scores of models by each judge: judge, then model.
pub type ScoresByJudge = BTreeMap<String, BTreeMap<String, f64>>;

/// The self-preference of every judge that is also scored, where other judges scored it too, and other models. A model
/// counts only where the judge and at least one other judge scored it.
///
/// preference(j) = d(j, j) − mean over models m ≠ j of d(j, m), with d(j, m) = score of m by j − mean over other judges of
/// their scores of m.
#[must_use]
pub fn self_preferences(scores: &ScoresByJudge) -> Vec<SelfPreference> {
    scores.keys().filter_map(|judge| of_judge(judge, scores).ok()).collect()
}

fn of_judge(judge: &str, scores: &ScoresByJudge) -> Result<SelfPreference, Undefined> {
    let excess = |model: &str| {
        let own = scores[judge].get(model).ok_or(Undefined::Nothing)?;
        let others = scores.iter().filter(|(other, _)| *other != judge);
        let others: Vec<f64> = others.filter_map(|(_, models)| models.get(model).copied()).collect();
        Ok::<f64, Undefined>(own - mean(&others)?)
    };
    let of_itself = excess(judge)?;
    let others = scores[judge].keys().filter(|model| *model != judge);
    let of_others = mean(&others.filter_map(|model| excess(model).ok()).collect::<Vec<_>>())?;
    Ok(SelfPreference { judge: judge.to_owned(), of_itself, of_others, preference: of_itself - of_others })
}
