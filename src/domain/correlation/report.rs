//! Report on the correlation of series, as printed by the command line, returned by the API and shown on pages.

mod mixture;

use schemars::JsonSchema;
use serde::Serialize;

pub use mixture::{HeldOutCorrelations, MixtureReport, PermutationReport, mixture, search};

use crate::confusable_names::confusable_names;
use crate::correlation::{AlignedSeries, Point, Series, SeriesError, align};
use crate::rating::intervals::bootstrap::ResamplingUnit;
use crate::stats::agreement::leaderboards::{Estimate, brier, confident_agreement, separability};
use crate::stats::confidence::ConfidenceLevel;
use crate::stats::correlation::{Coefficient, Correlation, PMethod, exact_p};
use crate::stats::correlation_matrix::{ColumnCorrelations, pair};
use crate::stats::distribution::{Summary, mean};
use crate::stats::resample::BootstrapOptions;
use crate::stats::resample::Resampled;
use crate::stats::{Interval, Share, Undefined};

/// Number of models below which a report warns that they are few.
pub const FEW_MODELS: usize = 8;
const ALIKE_NAMES: &str = "these names look alike, and are treated as different models; if two of them are one model, list them under \
    [aliases] in the settings or with --aliases";
const NOISE_TWICE: &str = "resampling adds the noise of votes and items a second time, so where a correlation is strong, its resampled \
    interval lies too close to 0 and may not contain r: it says how far r moves with other votes and items, and contains a true \
    correlation such as 0.8 less often than its confidence says";

/// Options of a study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudyOptions {
    /// Confidence level of all intervals.
    pub level: ConfidenceLevel,
    /// Bootstrap of battles and items.
    pub bootstrap: BootstrapOptions,
}

/// Correlation of two series.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairReport {
    /// Number of models.
    pub n: usize,
    /// Models that both series have.
    pub models: Vec<String>,
    /// Confidence level of all intervals.
    pub confidence: f64,
    /// Correlation coefficients.
    #[serde(flatten)]
    pub correlations: Correlations,
    /// First series.
    pub x: SeriesReport,
    /// Second series.
    pub y: SeriesReport,
    /// Values of each model.
    pub points: Vec<PairPoint>,
    /// Prediction of the order of the second series by the first, with their intervals; none unless every value of both has an interval.
    pub leaderboards: Option<LeaderboardsReport>,
    /// Models that only one series has.
    pub unmatched: Vec<String>,
    /// Bootstrap of battles and items; none where both series are held fixed.
    pub bootstrap: Option<ResamplingReport>,
    /// Caveats for readers.
    pub notes: Vec<String>,
}

/// Pearson's, Spearman's and Kendall's correlation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Correlations {
    /// Pearson's r.
    pub pearson: CoefficientReport,
    /// Spearman's ρ.
    pub spearman: CoefficientReport,
    /// Kendall's τ-b.
    pub kendall: CoefficientReport,
}

/// One correlation. An undefined value is none, with the reason beside it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct CoefficientReport {
    /// Coefficient between −1 and 1.
    pub r: Option<f64>,
    /// Two-sided p-value.
    pub p: Option<f64>,
    /// Lower end of the interval by Fisher's z.
    pub lower: Option<f64>,
    /// Upper end of the interval by Fisher's z.
    pub upper: Option<f64>,
    /// Method of `p`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_method: Option<PMethod>,
    /// Exact two-sided p-value by all permutations of one series: for at most eight values with ties, where `p` is an approximation. The
    /// matrix of many series and `langya agree` leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_p: Option<f64>,
    /// Reason why the correlation is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Reason why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
    /// Interval over resampled battles and judged items; none where both series are held fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resampled: Option<ResampledReport>,
}

/// Percentile interval of the replicates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ResampledReport {
    /// Lower end.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
    /// Median of the replicates.
    pub median: Option<f64>,
    /// Number of replicates without a defined correlation.
    pub without: u32,
    /// Reason why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
}

/// Series in a report.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeriesReport {
    /// Name of the series.
    pub series: String,
    /// Title for readers.
    pub title: String,
    /// Mean over the compared models.
    pub mean: Option<f64>,
    /// Sample standard deviation over the compared models.
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
    /// Coefficient of variation: standard deviation over mean; none for ratings, which have no zero point, and where the mean is not
    /// positive.
    #[serde(rename = "variation")]
    pub coefficient_of_variation: Option<f64>,
    /// Models that only this series has.
    pub only_here: Vec<String>,
    /// Resampled unit of people's votes: `voters` with all of their votes, or `votes` one by one where several voters are not known; none
    /// for other series, and where voters are not read because the settings take votes as independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resampled: Option<ResamplingUnit>,
}

/// Values of one model in both series.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairPoint {
    /// Model id.
    pub model: String,
    /// Value in the first series.
    pub x: f64,
    /// Lower end of the interval of `x`.
    pub x_lower: Option<f64>,
    /// Upper end of the interval of `x`.
    pub x_upper: Option<f64>,
    /// Value in the second series.
    pub y: f64,
    /// Lower end of the interval of `y`.
    pub y_lower: Option<f64>,
    /// Upper end of the interval of `y`.
    pub y_upper: Option<f64>,
}

/// Prediction of the second series by the first, as leaderboards (Li et al. 2024, Arena-Hard).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LeaderboardsReport {
    /// Share of pairs of models whose intervals do not overlap in the first series.
    pub separability_x: Share,
    /// Share of pairs of models whose intervals do not overlap in the second series.
    pub separability_y: Share,
    /// Mean over all pairs, from −1 to 1: 1 for a pair that both separate in the same order, −1 for one in opposite orders, 0 for one that
    /// either does not separate.
    pub agreement_with_confidence: Option<f64>,
    /// Brier score: mean squared error of the first series' probabilities of the order of pairs in the second; a coin has 0.25.
    pub brier: Option<f64>,
}

/// Bootstrap of battles and items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResamplingReport {
    /// Number of replicates.
    pub replicates: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Compares two series over their common models, restricted to `wanted` unless it is empty.
///
/// # Errors
/// [`SeriesError::Subjects`] where their subjects differ.
pub fn compare(x: &Series, y: &Series, wanted: &[String], options: StudyOptions) -> Result<PairReport, SeriesError> {
    let found = align(&[x, y], wanted)?;
    let columns = found.columns();
    let cell = pair(&columns[0], &columns[1], options.level);
    let drawn = cell.resampled.is_some();
    let (first, second) = (&found.points[0], &found.points[1]);
    let values = found.values();
    let point = |(model, (x, y)): (&String, (&Point, &Point))| PairPoint {
        model: model.clone(),
        x: x.value,
        x_lower: x.interval.map(|interval| interval.lower),
        x_upper: x.interval.map(|interval| interval.upper),
        y: y.value,
        y_lower: y.interval.map(|interval| interval.lower),
        y_upper: y.interval.map(|interval| interval.upper),
    };
    Ok(PairReport {
        n: found.models.len(),
        confidence: options.level.share(),
        correlations: Correlations::new(&cell, options.level).with_exact_p(&values[0], &values[1]),
        x: SeriesReport::new(x, 0, &found),
        y: SeriesReport::new(y, 1, &found),
        points: found.models.iter().zip(first.iter().zip(second)).map(point).collect(),
        leaderboards: leaderboards(first, second, options.level),
        bootstrap: drawn.then_some(options.bootstrap.into()),
        notes: notes(&[x, y], &found).into_iter().chain(drawn.then(|| NOISE_TWICE.to_owned())).collect(),
        models: found.models,
        unmatched: found.unmatched,
    })
}

impl From<BootstrapOptions> for ResamplingReport {
    fn from(BootstrapOptions { replicates, seed }: BootstrapOptions) -> Self {
        Self { replicates, seed }
    }
}

impl Correlations {
    /// Builds the reports of the coefficients of two columns.
    #[must_use]
    pub fn new(cell: &ColumnCorrelations, level: ConfidenceLevel) -> Self {
        let at = |place: usize| {
            let resampled = cell.resampled.map(|resampled| ResampledReport::new(resampled[place]));
            CoefficientReport { resampled, ..CoefficientReport::new(cell.found[place], level) }
        };
        Self { pearson: at(0), spearman: at(1), kendall: at(2) }
    }

    /// Adds [`exact_p`] of the values.
    fn with_exact_p(mut self, x: &[f64], y: &[f64]) -> Self {
        self.spearman.exact_p = exact_p(Coefficient::Spearman, x, y);
        self.kendall.exact_p = exact_p(Coefficient::Kendall, x, y);
        self
    }

    /// Returns the three coefficients with their names.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &CoefficientReport); 3] {
        [("pearson", &self.pearson), ("spearman", &self.spearman), ("kendall", &self.kendall)]
    }
}

impl CoefficientReport {
    /// Builds the report with the interval at this level.
    #[must_use]
    pub fn new(found: Result<Correlation, Undefined>, level: ConfidenceLevel) -> Self {
        let found = match found {
            Ok(found) => found,
            Err(why) => return Self { undefined: Some(why.to_string()), ..Self::default() },
        };
        let (interval, no_interval) = match found.interval(level) {
            Ok(interval) => (Some(interval), None),
            Err(why) => (None, Some(why.to_string())),
        };
        Self {
            r: Some(found.r),
            p: Some(found.p),
            lower: interval.map(|interval| interval.lower),
            upper: interval.map(|interval| interval.upper),
            p_method: Some(found.p_method),
            no_interval,
            ..Self::default()
        }
    }
}

impl ResampledReport {
    fn new(found: Result<Resampled, Undefined>) -> Self {
        match found {
            Ok(Resampled { interval: Interval { lower, upper }, median, undefined }) => Self {
                lower: Some(lower),
                upper: Some(upper),
                median: Some(median),
                without: undefined,
                undefined: None,
            },
            Err(why) => Self { undefined: Some(why.to_string()), ..Self::default() },
        }
    }
}

impl SeriesReport {
    fn new(series: &Series, place: usize, found: &AlignedSeries) -> Self {
        let values: Vec<f64> = found.points[place].iter().map(|point| point.value).collect();
        let summary = Summary::new(&values).ok();
        let ratios = summary.filter(|_| series.name.has_zero_point());
        Self {
            series: series.name.to_string(),
            title: series.title.clone(),
            mean: mean(&values).ok(),
            std_dev: summary.map(|summary| summary.std_dev),
            coefficient_of_variation: ratios.and_then(|summary| summary.coefficient_of_variation().ok()),
            only_here: found.only_in[place].clone(),
            resampled: series.resampled,
        }
    }
}

fn leaderboards(x: &[Point], y: &[Point], level: ConfidenceLevel) -> Option<LeaderboardsReport> {
    let intervals = |points: &[Point]| {
        let all = points.iter().map(|point| point.interval).collect::<Option<Vec<Interval>>>();
        // Without pairs of models, there is nothing to report.
        all.filter(|intervals| intervals.len() > 1)
    };
    let (first, second) = (intervals(x)?, intervals(y)?);
    let estimate = |(point, interval): (&Point, &Interval)| Estimate {
        value: point.value,
        error: point.error.unwrap_or((interval.upper - interval.lower) / (2.0 * level.z())),
    };
    let estimates: Vec<Estimate> = x.iter().zip(&first).map(estimate).collect();
    let reference: Vec<f64> = y.iter().map(|point| point.value).collect();
    Some(LeaderboardsReport {
        separability_x: separability(&first),
        separability_y: separability(&second),
        agreement_with_confidence: confident_agreement(&first, &second).and_then(|found| found.score()).ok(),
        brier: brier(&estimates, &reference).ok(),
    })
}

/// Collects the notes of the series, and a note if they share few models.
fn notes(series: &[&Series], found: &AlignedSeries) -> Vec<String> {
    let of_series = |series: &&Series| {
        let name = series.name.to_string();
        series.notes.iter().map(move |note| format!("{name}: {note}")).collect::<Vec<_>>()
    };
    let mut notes: Vec<String> = series.iter().flat_map(of_series).collect();
    notes.extend(found.unknown.iter().map(|model| format!("no series has {model:?}")));
    let alike = confusable_names(found.models.iter().chain(&found.unmatched).map(String::as_str));
    if !alike.is_empty() {
        let alike: Vec<String> = alike.iter().map(|name| format!("{name:?}")).collect();
        notes.push(format!("{ALIKE_NAMES}: {}", alike.join(", ")));
    }
    if found.models.len() < FEW_MODELS {
        let count = found.models.len();
        let are = if count == 1 { "1 model is".to_owned() } else { format!("{count} models are") };
        notes.push(format!("only {are} in all series: a correlation of fewer than {FEW_MODELS} says little"));
    }
    notes
}
