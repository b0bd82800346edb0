//! Self-preference: whether a judge that is also evaluated scores itself higher than other judges do.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::Undefined;
use crate::stats::distribution::mean;

/// Self-preference of a judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelfPreference {
    /// Judge that is also an evaluated model.
    pub judge: String,
    /// Judge's score of itself minus the mean of the other judges' scores of it.
    pub of_itself: f64,
    /// Mean of the same difference over the other models: the judge's leniency.
    pub of_others: f64,
    /// `of_itself` minus `of_others`, in the unit of the scores: positive if the judge prefers itself.
    pub preference: f64,
}

/// Scores by judge and model.
pub type ScoresByJudge = BTreeMap<String, BTreeMap<String, f64>>;

/// Computes the self-preference of every judge that is also scored, if other judges scored it and it scored other models. A model counts
/// only if the judge and at least one other judge scored it.
///
/// preference(j) = d(j, j) − mean over models m ≠ j of d(j, m), with d(j, m) = score of m by j − mean over other judges of their scores of
/// m.
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
