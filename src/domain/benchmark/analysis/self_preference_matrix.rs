//! URS's cross validation: every evaluator scores with every generator's answers as the reference.
//!
//! Rating_{A-B}(B) is what evaluator A gives to a second answer of B with B's first as the reference worth 8. An evaluator
//! without bias gives 8.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::benchmark::judgement::Judgement;
use crate::benchmark::run_selector::RunSelector;
use crate::benchmark::suite_options::split_references;
use crate::judging::verdict::Verdict;
use crate::stats::Undefined;
use crate::stats::agreement::wins::rating_bias;
use crate::stats::distribution::Summary;

/// What a reference is worth.
pub const ANCHOR: f64 = 8.0;

/// One score of the cross validation.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossScore<'n> {
    /// The judge: A.
    pub evaluator: &'n str,
    /// The model whose first answers are the references: B.
    pub generator: &'n str,
    /// The scored model.
    pub model: &'n str,
    /// The score.
    pub score: f64,
}

/// A cell: what an evaluator gives to a model by a generator's references.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreferenceCell {
    /// How many scores.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their sample standard deviation; none of one score.
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
}

/// The grid of evaluators and generators.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SelfPreferenceMatrix {
    cells: BTreeMap<(String, String, String), PreferenceCell>,
}

impl SelfPreferenceMatrix {
    /// Puts scores into their cells.
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

    /// The cross validation that belongs to this way of judging, of judgements with their round and variant. Of several judgements of
    /// one answer the last one counts.
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

    /// What an evaluator gives to a model by a generator's references.
    #[must_use]
    pub fn cell(&self, evaluator: &str, generator: &str, model: &str) -> Option<&PreferenceCell> {
        self.cells.get(&(evaluator.to_owned(), generator.to_owned(), model.to_owned()))
    }

    /// The evaluators, in the order of their names.
    #[must_use]
    pub fn evaluators(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.cells.keys().map(|(evaluator, _, _)| evaluator.as_str()).collect();
        names.into_iter().collect()
    }

    /// The reference generators, in the order of their names.
    #[must_use]
    pub fn generators(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.cells.keys().map(|(_, generator, _)| generator.as_str()).collect();
        names.into_iter().collect()
    }

    /// What an evaluator gives by a generator's references: the mean over the models of their means.
    ///
    /// # Errors
    /// [`Undefined::Nothing`] where it scored no model by them.
    pub fn mean(&self, evaluator: &str, generator: &str) -> Result<f64, Undefined> {
        let cells = self.cells.iter().filter(|((by, beside, _), _)| by == evaluator && beside == generator);
        crate::stats::distribution::mean(&cells.map(|(_, cell)| cell.mean).collect::<Vec<_>>())
    }

    /// Every cell, with its evaluator, generator and model.
    pub fn cells(&self) -> impl Iterator<Item = ([&str; 3], &PreferenceCell)> {
        self.cells.iter().map(|((evaluator, generator, model), cell)| {
            ([evaluator.as_str(), generator.as_str(), model.as_str()], cell)
        })
    }

    /// How many generators an evaluator scored by their own references: what its rating bias is a mean over.
    #[must_use]
    pub fn own(&self, evaluator: &str) -> usize {
        self.cells.keys().filter(|(by, generator, model)| by == evaluator && generator == model).count()
    }

    /// The rating bias of an evaluator (URS, Eq. 1): the mean over generators B of Rating_{A-B}(B), less 8.
    ///
    /// # Errors
    /// [`Undefined::TooFew`] where it scored no generator by that generator's own references.
    pub fn bias(&self, evaluator: &str) -> Result<f64, Undefined> {
        let own = self.cells.iter().filter(|((by, generator, model), _)| by == evaluator && generator == model);
        rating_bias(&own.map(|(_, cell)| cell.mean).collect::<Vec<_>>(), ANCHOR)
    }
}
