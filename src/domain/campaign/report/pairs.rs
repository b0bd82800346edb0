//! Comparisons of two models and of two annotators.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use super::comparisons;
use super::item_bootstrap::RESAMPLES;
use super::judged::{JudgedUnit, JudgementLabel, LabelsByUnit};
use crate::battle::Outcome;
use crate::stats::agreement::kappa::{cohen, cohen_of_counts};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::resample::{BootstrapOptions, resample_counts, uncertainty};

/// Maximum number of annotators whose pairs are compared, since a larger table is unreadable.
const MAX_COMPARED_ANNOTATORS: usize = 40;

/// Outcomes between two models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelPair {
    /// Model whose name comes first.
    pub model_a: String,
    /// Other model.
    pub model_b: String,
    /// Number of comparisons; a ranking has one of each pair.
    pub judgements: u64,
    /// Number of comparisons in which `model_a` was better.
    pub a_wins: u64,
    /// Number of comparisons in which `model_b` was better.
    pub b_wins: u64,
    /// Number of ties.
    pub ties: u64,
    /// Number of comparisons in which both were bad.
    pub both_bad: u64,
}

impl ModelPair {
    /// Returns `model_a`'s share of the points; a tie or both-bad comparison is half a point.
    #[must_use]
    pub fn share_a(&self) -> f64 {
        let [wins, equal, all] = [self.a_wins, self.ties + self.both_bad, self.judgements].map(crate::stats::real);
        (wins + equal / 2.0) / all
    }

    fn add(&mut self, outcome: Outcome) {
        self.judgements += 1;
        match outcome {
            Outcome::AWins => self.a_wins += 1,
            Outcome::BWins => self.b_wins += 1,
            Outcome::Tie => self.ties += 1,
            Outcome::BothBad => self.both_bad += 1,
        }
    }
}

/// Agreement of two annotators.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotatorPair {
    /// Pseudonym of the first annotator.
    pub one: String,
    /// Pseudonym of the second annotator.
    pub other: String,
    /// Number of units that both judged.
    pub units: u64,
    /// Number of units on which they agree.
    pub equal: u64,
    /// Cohen's kappa; `None` if each gave one label throughout.
    pub kappa: Option<f64>,
    /// Bounds of kappa over resampled units, each of a different item; `None` if resampling does not show the uncertainty, as with full
    /// agreement.
    pub kappa_interval: Option<[f64; 2]>,
}

/// Counts the outcomes of the compared pairs of models, in the order of their names.
pub(super) fn model_pairs(judged: &[&JudgedUnit]) -> Vec<ModelPair> {
    let mut pairs: BTreeMap<(&str, &str), ModelPair> = BTreeMap::new();
    for unit in judged {
        for (a, b, outcome) in comparisons(unit) {
            let (a, b) = (unit.shown[a].as_str(), unit.shown[b].as_str());
            let (a, b, outcome) = if a <= b { (a, b, outcome) } else { (b, a, outcome.swapped()) };
            let new = || ModelPair {
                model_a: a.to_owned(),
                model_b: b.to_owned(),
                judgements: 0,
                a_wins: 0,
                b_wins: 0,
                ties: 0,
                both_bad: 0,
            };
            pairs.entry((a, b)).or_insert_with(new).add(outcome);
        }
    }
    pairs.into_values().collect()
}

/// Labels of two annotators on the units that both judged.
type LabelsOfPair<'l> = [Vec<&'l JudgementLabel<'l>>; 2];

/// Compares the pairs of annotators with units in common, in the order of their names; empty if there are too many annotators.
pub(super) fn annotator_pairs(labels: &LabelsByUnit, seed: u64, level: ConfidenceLevel) -> Vec<AnnotatorPair> {
    let names: std::collections::BTreeSet<&str> = labels.values().flatten().map(|(name, _)| *name).collect();
    if names.len() > MAX_COMPARED_ANNOTATORS {
        return Vec::new();
    }
    let mut pairs: BTreeMap<(&str, &str), LabelsOfPair> = BTreeMap::new();
    for given in labels.values() {
        for (at, (one, first)) in given.iter().enumerate() {
            for (other, second) in &given[at + 1..] {
                let (key, values) =
                    if one < other { ((*one, *other), [first, second]) } else { ((*other, *one), [second, first]) };
                let known = pairs.entry(key).or_default();
                known.iter_mut().zip(values).for_each(|(known, value)| known.push(value));
            }
        }
    }
    let pair = |((one, other), [first, second]): ((&str, &str), LabelsOfPair)| AnnotatorPair {
        one: one.to_owned(),
        other: other.to_owned(),
        units: first.len() as u64,
        equal: first.iter().zip(&second).filter(|(x, y)| x == y).count() as u64,
        kappa: cohen(&first, &second).ok().map(|kappa| kappa.kappa),
        kappa_interval: kappa_interval(&first, &second, seed, level),
    };
    pairs.into_par_iter().map(pair).collect()
}

/// Computes bounds of Cohen's kappa: pairs of labels are counted, and a resample draws these counts.
fn kappa_interval(
    first: &[&JudgementLabel],
    second: &[&JudgementLabel],
    seed: u64,
    level: ConfidenceLevel,
) -> Option<[f64; 2]> {
    let mut numbers: BTreeMap<&JudgementLabel, usize> = BTreeMap::new();
    let mut number = |label| {
        let next = numbers.len();
        *numbers.entry(label).or_insert(next)
    };
    let mut cells: BTreeMap<[usize; 2], u64> = BTreeMap::new();
    for (one, other) in first.iter().zip(second) {
        *cells.entry([number(*one), number(*other)]).or_default() += 1;
    }
    let (pairs, counts): (Vec<[usize; 2]>, Vec<u64>) = cells.into_iter().unzip();
    let options = BootstrapOptions { replicates: RESAMPLES, seed };
    let kappas: Vec<_> = (0..RESAMPLES)
        .map(|replicate| {
            let drawn = resample_counts(&counts, &mut options.rng(replicate));
            cohen_of_counts(pairs.iter().copied().zip(drawn.iter().copied())).map(|kappa| kappa.kappa)
        })
        .collect();
    let found = uncertainty(&kappas, level).ok()?;
    Some([found.lower, found.upper])
}
