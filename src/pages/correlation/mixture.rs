//! The mixture of series that best correlates with a target.

use super::{ShownNames, named};
use crate::domain::correlation::report::{CoefficientReport, Correlations, HeldOutCorrelations, MixtureReport};
use crate::domain::stats::correlation::Coefficient;
use crate::render::i18n::fill;

/// Mixture for display.
pub(super) struct MixtureView {
    pub(super) target: String,
    pub(super) models: String,
    pub(super) warning: Option<String>,
    /// Series with their weights, in order of selection.
    pub(super) weights: Vec<[String; 2]>,
    /// Correlations, by compared data.
    pub(super) rows: Vec<(&'static str, Vec<String>)>,
    /// Result of the permutation test, which refits the weights to permuted data.
    pub(super) permutation_test: String,
    pub(super) coefficients: [&'static str; 3],
}

impl MixtureView {
    pub(super) fn new(report: &MixtureReport, names: &ShownNames<'_>) -> Self {
        let words = names.words();
        let weight = |series: &crate::domain::correlation::report::SeriesReport| {
            let weight = report.weights.get(&series.series).copied().unwrap_or_default();
            [names.of_name(&series.series), format!("{weight:.4}")]
        };
        let models: Vec<String> = report.models.iter().map(|model| names.model(model)).collect();
        let left = match &report.leave_one_out {
            HeldOutCorrelations::Found(found) => coefficient_texts(found, words.none),
            HeldOutCorrelations::Undefined { undefined } => {
                vec![format!("{} ({})", words.none, (words.why_no_mixture)(*undefined))]
            }
        };
        Self {
            target: names.of_name(&report.target.series),
            models: format!("{}{}{}", models.len(), names.page.t().colon, models.join(", ")),
            warning: (report.n < crate::render::chart::correlations::MIN_SUBJECTS)
                .then(|| words.few.replace("{n}", &report.n.to_string())),
            weights: report.series.iter().map(weight).collect(),
            rows: vec![(words.in_sample, fitted_texts(&report.correlations, words.none)), (words.left_out, left)],
            permutation_test: fill(
                words.permutation_test,
                &[
                    ("p", &format!("{:.4}", report.permutation_test.p)),
                    ("permutations", &report.permutation_test.permutations.to_string()),
                ],
            ),
            coefficients: Coefficient::ALL.map(|coefficient| named(words, coefficient)),
        }
    }
}

/// Formats correlations with the fitted target, without intervals: these would take the weights as given.
fn fitted_texts(found: &Correlations, none: &str) -> Vec<String> {
    let one = |(_, coefficient): (&str, &CoefficientReport)| {
        coefficient.r.map_or_else(|| none.to_owned(), |r| format!("{r:.4}"))
    };
    found.named().into_iter().map(one).collect()
}

fn coefficient_texts(found: &Correlations, none: &str) -> Vec<String> {
    let one = |(_, coefficient): (&str, &CoefficientReport)| match (coefficient.r, coefficient.lower, coefficient.upper)
    {
        (Some(r), Some(lower), Some(upper)) => format!("{r:.4} ({lower:.2} … {upper:.2})"),
        (Some(r), ..) => format!("{r:.4}"),
        _ => none.to_owned(),
    };
    found.named().into_iter().map(one).collect()
}
