//! Benchmark scores as rows of a table.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::benchmark::analysis::item_scores::ItemScores;
use crate::domain::benchmark::record::ScoredJudgement;
use crate::domain::benchmark::scores::judgement::Judgement;
use crate::domain::benchmark::scores::panel_scores::ModelScores;
use crate::domain::benchmark::scores::score::Score;
use crate::domain::benchmark::{Suite, SuiteData};

/// One score as a row of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreRow {
    /// The suite.
    pub suite: String,
    /// SHA-256 of its data file.
    pub suite_version: String,
    /// Options of the run; empty for the suite's defaults.
    pub variant: String,
    /// Round of answers, from 1.
    pub sample: u32,
    /// The model.
    pub model: String,
    /// The judge, or the panel.
    pub judge: String,
    /// The model that the answers were compared with.
    pub baseline: String,
    /// The part of the suite, such as `overall`.
    pub part: String,
    /// The score, unrounded; `None` if nothing could be judged.
    pub score: Option<f64>,
    /// Sample standard deviation of the values behind the mean.
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
    /// Number of valid judgements.
    pub judged: u64,
    /// Number of expected judgements.
    pub total: u64,
    /// Whether fewer than 95 % of the judgements are valid.
    pub flagged: bool,
    /// Whether the judge is also evaluated.
    pub judge_is_evaluated: bool,
    /// Time of the latest judgement, in milliseconds since 1970.
    pub judged_at: i64,
}

/// The score of one item as a row of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemScoreRow {
    /// The suite.
    pub suite: String,
    /// SHA-256 of its data file.
    pub suite_version: String,
    /// Options of the run; empty for the suite's defaults.
    pub variant: String,
    /// Round of answers, from 1.
    pub sample: u32,
    /// The item.
    pub item: String,
    /// The model.
    pub model: String,
    /// The judge; empty where none is needed.
    pub judge: String,
    /// The model that the answers were compared with.
    pub baseline: String,
    /// The score, unrounded.
    pub score: f64,
}

impl ItemScoreRow {
    /// Scores of every item by each judge, model by model; unjudged items are left out.
    #[must_use]
    pub fn all(suite: &dyn Suite, data: &SuiteData, sample: u32, judged: &[ScoredJudgement]) -> Vec<Self> {
        let mut groups: BTreeMap<(&str, &str), Vec<&Judgement>> = BTreeMap::new();
        for ScoredJudgement { baseline, judgement } in judged {
            groups.entry((baseline.as_str(), judgement.judge_model.as_str())).or_default().push(judgement);
        }
        let of_group = |((baseline, judge), said): (&(&str, &str), &Vec<&Judgement>)| {
            let scores = ItemScores::new(suite, &data.items, said);
            let row = |(item, model, score): (&str, &str, f64)| Self {
                suite: suite.name().to_owned(),
                suite_version: data.sha256.clone(),
                variant: suite.variant().to_owned(),
                sample,
                item: item.to_owned(),
                model: model.to_owned(),
                judge: (*judge).to_owned(),
                baseline: (*baseline).to_owned(),
                score,
            };
            scores.scores().map(row).collect::<Vec<_>>()
        };
        groups.iter().flat_map(of_group).collect()
    }
}

impl ScoreRow {
    /// The rows of one model by one judge.
    #[must_use]
    pub fn all(suite: &dyn Suite, data: &SuiteData, sample: u32, scores: &ModelScores) -> Vec<Self> {
        let row = |score: &Score| Self {
            suite: suite.name().to_owned(),
            suite_version: data.sha256.clone(),
            variant: suite.variant().to_owned(),
            sample,
            model: scores.model.clone(),
            judge: scores.judge.clone(),
            baseline: scores.baseline.clone(),
            part: score.part.key(),
            score: score.value,
            std_dev: score.std_dev,
            judged: score.coverage.ok,
            total: score.coverage.total,
            flagged: score.coverage.is_low(),
            judge_is_evaluated: scores.judge_is_evaluated,
            judged_at: scores.judged_at,
        };
        scores.scores.0.iter().map(row).collect()
    }
}
