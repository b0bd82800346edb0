//! Rating bias of a judge: its scores of second samples from generators whose first samples are its references.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::agreement::agreement_input::ScoreData;
use crate::agreement::metrics::MetricValue;
use crate::stats::agreement::wins::rating_bias;
use crate::stats::distribution::mean;

/// Rating bias of every judge in a file (URS, Eq. 1).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BiasReport {
    /// Score of a reference answer.
    pub anchor: f64,
    /// Biases of the judges, by name.
    pub judges: Vec<JudgeBias>,
}

/// The rating bias of one judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeBias {
    /// Judge; empty where the file names none.
    pub judge: String,
    /// Mean over generators of their mean scores, less the anchor.
    pub bias: MetricValue,
    /// Mean score of each generator.
    pub generators: BTreeMap<String, f64>,
}

/// Computes the bias of each judge against references that score `anchor` points.
#[must_use]
pub fn bias(scores: &ScoreData, anchor: f64) -> BiasReport {
    let mut by_judge: BTreeMap<&str, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
    for scored in &scores.0 {
        by_judge.entry(&scored.rater).or_default().entry(&scored.model).or_default().push(scored.score);
    }
    let judges = by_judge.into_iter().map(|(judge, generators)| {
        let of_generator = |(name, scores): (&str, Vec<f64>)| Some((name.to_owned(), mean(&scores).ok()?));
        let generators: BTreeMap<String, f64> = generators.into_iter().filter_map(of_generator).collect();
        let means: Vec<f64> = generators.values().copied().collect();
        JudgeBias { judge: judge.to_owned(), bias: rating_bias(&means, anchor).into(), generators }
    });
    BiasReport { anchor, judges: judges.collect() }
}
