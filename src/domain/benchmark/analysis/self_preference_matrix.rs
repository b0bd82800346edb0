//! URS's cross-validation: every evaluator scores with every generator's answers as the reference.
//!
//! Rating_{A-B}(B) is evaluator A's score of a second answer of B, with B's first answer as the reference worth 8. An unbiased evaluator
//! scores 8.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::benchmark::runs::run_selector::RunSelector;
use crate::benchmark::scores::judgement::Judgement;
use crate::benchmark::suite_options::split_references;
use crate::judging::verdict::Verdict;
use crate::stats::Undefined;
use crate::stats::agreement::wins::rating_bias;
use crate::stats::distribution::Summary;

/// Score that a reference is worth.
pub const REFERENCE_SCORE: f64 = 8.0;

/// Score of the cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossScore<'n> {
    /// Judge: A.
    pub evaluator: &'n str,
    /// Model whose first answers are the references: B.
    pub generator: &'n str,
    /// Scored model.
    pub model: &'n str,
    /// Score by the evaluator.
    pub score: f64,
}

/// Cell of the matrix: an evaluator's scores of a model with a generator's references.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreferenceCell {
    /// Number of scores.
    pub n: usize,
    /// Mean of the scores.
    pub mean: f64,
    /// Sample standard deviation of the scores; `None` for a single score.
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
}

/// Matrix of evaluators and generators.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SelfPreferenceMatrix {
    cells: BTreeMap<(String, String, String), PreferenceCell>,
}

impl SelfPreferenceMatrix {
    /// Groups scores into cells.
    pub fn new<'n>(scores: impl IntoIterator<Item = CrossScore<'n>>) -> Self {
        let mut values: BTreeMap<(String, String, String), Vec<f64>> = BTreeMap::new();
        for CrossScore { evaluator, generator, model, score } in scores {
            let key = (evaluator.to_owned(), generator.to_owned(), model.to_owned());
            values.entry(key).or_default().push(score);
        }
        let cell = |(key, values): (_, Vec<f64>)| {
            let std_dev = Summary::new(&values).ok().map(|summary| summary.std_dev);
            let mean = crate::stats::distribution::mean(&values).ok()?;
            Some((key, PreferenceCell { n: values.len(), mean, std_dev }))
        };
        Self { cells: values.into_iter().filter_map(cell).collect() }
    }

    /// Builds the cross-validation of a selector's judgements from judgements with their round and variant. Of several judgements of one
    /// answer the last one counts.
    #[must_use]
    pub fn of_judgements<'j>(
        way: &RunSelector,
        judgements: impl IntoIterator<Item = (u32, &'j str, &'j Judgement)>,
    ) -> Self {
        let mut latest = BTreeMap::new();
        for (sample, variant, said) in judgements {
            let (Some(generator), Some(Verdict::Rating(rating))) = (split_references(variant).1, &said.parsed) else {
                continue;
            };
            if way.crosses((sample, variant), &said.model, generator) {
                latest.insert((&said.judge_model, generator, &said.model, &said.item_id, said.turn), rating.score);
            }
        }
        let scores = latest.into_iter().map(|((evaluator, generator, model, ..), score)| CrossScore {
            evaluator,
            generator,
            model,
            score,
        });
        Self::new(scores)
    }

    /// Returns the cell of an evaluator, generator and model.
    #[must_use]
    pub fn cell(&self, evaluator: &str, generator: &str, model: &str) -> Option<&PreferenceCell> {
        self.cells.get(&(evaluator.to_owned(), generator.to_owned(), model.to_owned()))
    }

    /// Returns the evaluators, in the order of their names.
    #[must_use]
    pub fn evaluators(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.cells.keys().map(|(evaluator, _, _)| evaluator.as_str()).collect();
        names.into_iter().collect()
    }

    /// Returns the reference generators, in the order of their names.
    #[must_use]
    pub fn generators(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.cells.keys().map(|(_, generator, _)| generator.as_str()).collect();
        names.into_iter().collect()
    }

    /// Returns an evaluator's score with a generator's references: the mean of the models' means.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] if it scored no model with them.
    pub fn mean(&self, evaluator: &str, generator: &str) -> Result<f64, Undefined> {
        let cells = self.cells.iter().filter(|((by, beside, _), _)| by == evaluator && beside == generator);
        crate::stats::distribution::mean(&cells.map(|(_, cell)| cell.mean).collect::<Vec<_>>())
    }

    /// Iterates over the cells, with evaluator, generator and model.
    pub fn cells(&self) -> impl Iterator<Item = ([&str; 3], &PreferenceCell)> {
        self.cells.iter().map(|((evaluator, generator, model), cell)| {
            ([evaluator.as_str(), generator.as_str(), model.as_str()], cell)
        })
    }

    /// Returns the number of generators that an evaluator scored by their own references, the sample size of its rating bias.
    #[must_use]
    pub fn own(&self, evaluator: &str) -> usize {
        self.cells.keys().filter(|(by, generator, model)| by == evaluator && generator == model).count()
    }

    /// Computes the rating bias of an evaluator (URS, Eq. 1): the mean over generators B of Rating_{A-B}(B), minus 8.
    ///
    /// # Errors
    /// [`Undefined::TooFew`] if it scored no generator by that generator's own references.
    pub fn bias(&self, evaluator: &str) -> Result<f64, Undefined> {
        let own = self.cells.iter().filter(|((by, generator, model), _)| by == evaluator && generator == model);
        rating_bias(&own.map(|(_, cell)| cell.mean).collect::<Vec<_>>(), REFERENCE_SCORE)
    }
}
