//! The scores of every model by every judge, and by all judges together.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Suite;
use super::item::Item;
use super::judgement::Judgement;
use super::score::{Coverage, Part, Score, Scores, mean};

/// Who judged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgePanel {
    /// One judge; its name is empty where answers are read without one.
    Judge(String),
    /// The mean of several.
    Jury(Vec<String>),
}

/// What a model has reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelScores {
    /// Whose answers.
    pub model: String,
    /// Who judged them.
    pub bench: JudgePanel,
    /// The scores.
    pub scores: Scores,
}

/// Every model's scores by each judge, in order of their names; where there are several judges, each model's mean over
/// all of them stands behind its rows.
#[must_use]
pub fn panel_scores(suite: &dyn Suite, items: &[Item], judgements: &[Judgement]) -> Vec<PanelScores> {
    let mut by_model: BTreeMap<&str, BTreeMap<&str, Vec<&Judgement>>> = BTreeMap::new();
    for judgement in judgements {
        let by_judge = by_model.entry(&judgement.model).or_default();
        by_judge.entry(&judgement.judge_model).or_default().push(judgement);
    }
    let judges: BTreeSet<&str> = by_model.values().flat_map(BTreeMap::keys).copied().collect();
    let judges: Vec<String> = judges.into_iter().map(str::to_owned).collect();
    let mut panel_scores = Vec::new();
    for (model, by_judge) in by_model {
        let alone = |judge: &String| match by_judge.get(judge.as_str()) {
            Some(judgements) => suite.score(items, judgements),
            None => suite.score(items, &[]),
        };
        let scores: Vec<Scores> = judges.iter().map(alone).collect();
        let jury = (judges.len() > 1).then(|| jury(&scores));
        let benches = judges.iter().cloned().map(JudgePanel::Judge).zip(scores);
        let benches = benches.chain(jury.map(|scores| (JudgePanel::Jury(judges.clone()), scores)));
        panel_scores.extend(benches.map(|(bench, scores)| PanelScores { model: model.to_owned(), bench, scores }));
    }
    panel_scores
}

/// The mean of several judges' scores, part by part. A part that one of them could not score has no mean: over fewer
/// judges it would not compare with other models'.
#[must_use]
pub fn jury(judges: &[Scores]) -> Scores {
    let Some(first) = judges.first() else { return Scores::default() };
    let of_all = |part: &Part| -> Option<Score> {
        let scores: Vec<&Score> = judges.iter().map(|scores| scores.of(part)).collect::<Option<_>>()?;
        let values: Option<Vec<f64>> = scores.iter().map(|score| score.value).collect();
        let coverage: Coverage = scores.iter().map(|score| score.coverage).sum();
        Some(Score { part: part.clone(), value: values.and_then(|values| mean(&values)), std_dev: None, coverage })
    };
    Scores(first.0.iter().filter_map(|score| of_all(&score.part)).collect())
}
