//! Which mixture of several series follows a target best.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Correlations, SeriesReport, StudyOptions, notes};
use crate::correlation::{Series, SeriesError, align};
use crate::stats::convex_mixture::{Search, best, leave_one_out, mix, permutation_test};
use crate::stats::correlation_matrix::{DataColumn, pair};
use crate::stats::real_len;
use crate::stats::resample::BootstrapOptions;

/// Permutations of the target behind the p that knows that the weights were fitted.
const PERMUTATIONS: u32 = 999;

/// The mixture that follows a target best.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MixtureReport {
    /// The number of models.
    pub n: usize,
    /// The models that all series have.
    pub models: Vec<String>,
    /// Confidence level of all intervals.
    pub confidence: f64,
    /// What of each series goes into the mixture; they sum to 1.
    pub weights: BTreeMap<String, f64>,
    /// The correlations of the mixture with the target, which it was fitted to. Their p and intervals take the weights as given.
    #[serde(flatten)]
    pub correlations: Correlations,
    /// That the correlations are of the very numbers that the weights were fitted to, so that they flatter.
    pub in_sample: bool,
    /// Whether chance reaches Pearson's correlation where the weights are fitted to it, too.
    pub permutation_test: PermutationReport,
    /// How a mixture does on models that it was not fitted to.
    pub leave_one_out: HeldOutCorrelations,
    /// The series that are mixed.
    pub series: Vec<SeriesReport>,
    /// What the mixture is to follow.
    pub target: SeriesReport,
    /// Models that some series lacks.
    pub unmatched: Vec<String>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// The target permuted over the models, and the weights fitted again to each permutation (the exact optimum).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PermutationReport {
    /// Share of the permutations, the observed order among them, whose best mixture correlates as much as this one or more; one-sided.
    pub p: f64,
    /// Number of random permutations.
    pub permutations: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl PermutationReport {
    /// About the smallest p that so many permutations of so few models can give: each of n models has n! orders, one of which is the
    /// observed one.
    #[must_use]
    pub fn smallest_p(&self, models: usize) -> f64 {
        let orders: f64 = (1..=models).map(real_len).product();
        (1.0 / (1.0 + f64::from(self.permutations))).max(1.0 / orders)
    }
}

/// The correlations of what each model's mixture, fitted to the others, says of it; or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HeldOutCorrelations {
    /// There are such mixtures.
    Found(Box<Correlations>),
    /// There are none.
    Undefined {
        /// Why.
        undefined: String,
    },
}

/// Where a step of the weights says to look: a step of 0.001 is a thousand steps, and 0 is the exact optimum. None for what
/// is no step.
#[must_use]
pub fn search(step: f64) -> Option<Search> {
    if step == 0.0 {
        return Some(Search::Exact);
    }
    let steps = (1.0 / step).round();
    // A step that does not divide 1 leaves no weight of 1: a third may be written as 0.333, and 0.3 is none.
    let divides = (steps * step - 1.0).abs() < 0.01;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to lie between 1 and a million"
    )]
    (divides && step > 0.0 && step <= 1.0 && steps <= 1e6).then_some(Search::Grid { steps: steps as u32 })
}

/// Finds the mixture of series that follows a target best, over the models that all of them have.
///
/// # Errors
/// [`SeriesError::Mixture`] where there is none, [`SeriesError::Subjects`] where they are of different things.
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
        let cell = pair(&fixed(values), &fixed(of_target), options.level);
        Correlations::new(&cell, options.level).with_exact_p(values, of_target)
    };
    let left_out = match leave_one_out(&mixed, of_target, search) {
        Ok(left) => HeldOutCorrelations::Found(Box::new(against(&left.predicted))),
        Err(error) => HeldOutCorrelations::Undefined { undefined: error.to_string() },
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

fn fixed(values: &[f64]) -> DataColumn {
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
