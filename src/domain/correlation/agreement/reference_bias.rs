//! How a judge leans: the scores that it gives to second samples of generators whose first are its references.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::correlation::agreement::metrics::MetricValue;
use crate::correlation::agreement::score_sheet::ScoreSheet;
use crate::stats::agreement::wins::rating_bias;
use crate::stats::distribution::mean;

/// The rating bias of every judge of a file (URS, Eq. 1).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BiasReport {
    /// The score of a reference.
    pub anchor: f64,
    /// The judges, by name.
    pub judges: Vec<JudgeBias>,
}

/// The rating bias of one judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeBias {
    /// Its name; empty where the file names none.
    pub judge: String,
    /// The mean over generators of what it gives them, less the anchor.
    pub bias: MetricValue,
    /// The mean score of each generator.
    pub generators: BTreeMap<String, f64>,
}

/// The bias of each judge against references that are worth `anchor` points.
#[must_use]
pub fn bias(scores: &ScoreSheet, anchor: f64) -> BiasReport {
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
