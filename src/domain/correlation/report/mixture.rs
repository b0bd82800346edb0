//! Mixture of several series with the highest correlation with a target.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{Correlations, SeriesReport, StudyOptions, notes};
use crate::correlation::{Series, SeriesError, align};
use crate::stats::convex_mixture::{MixtureError, Search, best, leave_one_out, mix, permutation_test};
use crate::stats::correlation_matrix::{DataColumn, pair};
use crate::stats::real_len;
use crate::stats::resample::BootstrapOptions;

/// Number of permutations of the target for the p-value that accounts for fitted weights.
const PERMUTATIONS: u32 = 999;

/// Mixture with the highest correlation with a target.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MixtureReport {
    /// Number of models.
    pub n: usize,
    /// Models that all series have.
    pub models: Vec<String>,
    /// Confidence level of all intervals.
    pub confidence: f64,
    /// Weight of each series; the weights sum to 1.
    pub weights: BTreeMap<String, f64>,
    /// Correlations of the mixture with the target, which it was fitted to. Their p-values and intervals take the weights as given.
    #[serde(flatten)]
    pub correlations: Correlations,
    /// Whether the correlations are computed from the data that the weights were fitted to, so that they are optimistic; always true.
    pub in_sample: bool,
    /// Permutation test of Pearson's correlation that fits the weights to each permutation.
    pub permutation_test: PermutationReport,
    /// Correlations on models that the mixture was not fitted to.
    pub leave_one_out: HeldOutCorrelations,
    /// Mixed series.
    pub series: Vec<SeriesReport>,
    /// Target series.
    pub target: SeriesReport,
    /// Models that at least one series lacks.
    pub unmatched: Vec<String>,
    /// Caveats for readers.
    pub notes: Vec<String>,
}

/// Permutation test: the target is permuted over the models, and the weights are fitted again to each permutation (the exact optimum).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PermutationReport {
    /// One-sided p-value: share of the permutations, including the observed order, whose best mixture correlates at least as strongly.
    pub p: f64,
    /// Number of random permutations.
    pub permutations: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl PermutationReport {
    /// Returns the approximate minimum p-value for this number of permutations and models: n models have n! orders, one of which is the
    /// observed one.
    #[must_use]
    pub fn smallest_p(&self, models: usize) -> f64 {
        let orders: f64 = (1..=models).map(real_len).product();
        (1.0 / (1.0 + f64::from(self.permutations))).max(1.0 / orders)
    }
}

/// Correlations of each model's target with its prediction by the mixture fitted to the other models, or why they are undefined.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HeldOutCorrelations {
    /// Correlations of the predictions.
    Found(Box<Correlations>),
    /// No predictions.
    Undefined {
        /// Reason.
        #[serde(serialize_with = "serialize_text")]
        #[schemars(with = "String")]
        undefined: MixtureError,
    },
}

/// Serialises a reason as an English text.
fn serialize_text<S: Serializer>(why: &MixtureError, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(why)
}

/// Converts a step of the weights to a search: a step of 0.001 is a thousand steps, and 0 is the exact optimum. `None` for an invalid step.
#[must_use]
pub fn search(step: f64) -> Option<Search> {
    if step == 0.0 {
        return Some(Search::Exact);
    }
    let steps = (1.0 / step).round();
    // A step that does not divide 1 would exclude a weight of 1: 0.333 is accepted as a third, and 0.3 is invalid.
    let divides = (steps * step - 1.0).abs() < 0.01;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to lie between 1 and a million"
    )]
    (divides && step > 0.0 && step <= 1.0 && steps <= 1e6).then_some(Search::Grid { steps: steps as u32 })
}

/// Finds the mixture of series with the highest correlation with a target, over their common models.
///
/// # Errors
/// [`SeriesError::Mixture`] where it is undefined, [`SeriesError::Subjects`] where subjects differ.
pub fn mixture(
    series: &[&Series],
    target: &Series,
    wanted: &[String],
    search: Search,
    options: StudyOptions,
) -> Result<MixtureReport, SeriesError> {
    let all: Vec<&Series> = series.iter().copied().chain([target]).collect();
    if let Some(twice) = (1..all.len()).find(|&at| all[..at].iter().any(|other| other.name == all[at].name)) {
        return Err(SeriesError::Twice(all[twice].name.to_string()));
    }
    let found = align(&all, wanted)?;
    let values = found.values();
    let (of_target, mixed) = values.split_last().expect("the target is among them");
    let mixed: Vec<&[f64]> = mixed.iter().map(Vec::as_slice).collect();
    let weights = best(&mixed, of_target, search)?.weights;
    let against = |values: &[f64]| {
        let cell = pair(&column_without_samples(values), &column_without_samples(of_target), options.level);
        Correlations::new(&cell, options.level).with_exact_p(values, of_target)
    };
    let left_out = match leave_one_out(&mixed, of_target, search) {
        Ok(left) => HeldOutCorrelations::Found(Box::new(against(&left.predicted))),
        Err(undefined) => HeldOutCorrelations::Undefined { undefined },
    };
    let seed = options.bootstrap.seed;
    let tested = permutation_test(&mixed, of_target, BootstrapOptions { replicates: PERMUTATIONS, seed })?;
    let named = series.iter().map(|series| series.name.to_string()).zip(weights.iter().copied());
    Ok(MixtureReport {
        n: found.models.len(),
        confidence: options.level.share(),
        weights: named.collect(),
        correlations: against(&mix(&mixed, &weights)),
        in_sample: true,
        permutation_test: PermutationReport { p: tested.p, permutations: tested.permutations, seed },
        leave_one_out: left_out,
        series: series.iter().enumerate().map(|(at, series)| SeriesReport::new(series, at, &found)).collect(),
        target: SeriesReport::new(target, series.len(), &found),
        notes: notes(&all, &found),
        models: found.models,
        unmatched: found.unmatched,
    })
}

fn column_without_samples(values: &[f64]) -> DataColumn {
    DataColumn { values: values.iter().copied().map(Some).collect(), samples: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::PermutationReport;

    #[test]
    fn the_smallest_p_follows_from_permutations_or_models() {
        let smallest = |permutations, models| PermutationReport { p: 1.0, permutations, seed: 0 }.smallest_p(models);
        for (found, expected) in [
            (smallest(999, 20), 1.0 / 1000.0),
            // 16 series have 16 permutations.
            (smallest(16, 20), 1.0 / 17.0),
            // Five models have 120 orders.
            (smallest(999, 5), 1.0 / 120.0),
            (smallest(999, 500), 1.0 / 1000.0),
        ] {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }
}
