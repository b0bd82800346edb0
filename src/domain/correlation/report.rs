//! How series go together, as the command line prints it, the API returns it and a page shows it.

mod mixture;

use schemars::JsonSchema;
use serde::Serialize;

pub use mixture::{HeldOutCorrelations, MixtureReport, PermutationReport, mixture, search};

use crate::alike_names::alike_names;
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

/// Fewer models than this say little.
pub const FEW: usize = 8;
const ALIKE_NAMES: &str = "these names look alike, and are taken for different ones; where two of them are one model, say so under \
    [aliases] in the settings or with --aliases";
const NOISE_TWICE: &str = "resampling adds the noise of votes and items a second time, so where a correlation is strong, its resampled \
    interval lies too close to 0 and may not contain r: it says how far r moves with other votes and items, and contains a true \
    correlation such as 0.8 less often than its confidence says";

/// How a study is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudyOptions {
    /// The level of all intervals.
    pub level: ConfidenceLevel,
    /// How battles and items were resampled.
    pub bootstrap: BootstrapOptions,
}

/// How two series go together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairReport {
    /// The number of models.
    pub n: usize,
    /// The models that both have.
    pub models: Vec<String>,
    /// Confidence level of all intervals.
    pub confidence: f64,
    /// The three correlations.
    #[serde(flatten)]
    pub correlations: Correlations,
    /// The first series.
    pub x: SeriesReport,
    /// The second.
    pub y: SeriesReport,
    /// The numbers of each model.
    pub points: Vec<PairPoint>,
    /// Whether the first predicts the order of the second, allowing for what each leaves open; none unless every number
    /// of both has an interval.
    pub leaderboards: Option<LeaderboardsReport>,
    /// Models that one of them lacks.
    pub unmatched: Vec<String>,
    /// How battles and items were resampled; none where both series are held fixed.
    pub bootstrap: Option<ResamplingReport>,
    /// What a reader must know.
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

/// One correlation. What does not exist is none, with the reason beside it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct CoefficientReport {
    /// Between −1 and 1.
    pub r: Option<f64>,
    /// Two-sided.
    pub p: Option<f64>,
    /// The lower end of the interval by Fisher's z.
    pub lower: Option<f64>,
    /// Its upper end.
    pub upper: Option<f64>,
    /// How `p` was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_method: Option<PMethod>,
    /// Two-sided, by all permutations of one series: for at most eight values of which some are tied, where `p` is an approximation. The
    /// matrix of many series and `langya agree` leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_p: Option<f64>,
    /// Why there is no correlation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
    /// The interval when battles and judged items are resampled; none where both series are held fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resampled: Option<ResampledReport>,
}

/// Between which percentiles the replicates lie.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ResampledReport {
    /// The lower one.
    pub lower: Option<f64>,
    /// The upper one.
    pub upper: Option<f64>,
    /// Their median.
    pub median: Option<f64>,
    /// Replicates in which there is no correlation.
    pub without: u32,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
}

/// A series as it takes part.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeriesReport {
    /// Name of the series.
    pub series: String,
    /// What it is.
    pub title: String,
    /// The mean over the models that take part.
    pub mean: Option<f64>,
    /// Their sample standard deviation.
    #[serde(rename = "deviation")]
    pub std_dev: Option<f64>,
    /// The coefficient of variation: deviation over mean; none for ratings, which have no zero point, and where the mean is not positive.
    #[serde(rename = "variation")]
    pub coefficient_of_variation: Option<f64>,
    /// Models that only this one has.
    pub only_here: Vec<String>,
    /// What was resampled of people's votes: `voters` with all of their votes, or `votes` one by one where several voters are not known;
    /// none for other series, and where voters are not read because the settings take votes as independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resampled: Option<ResamplingUnit>,
}

/// The numbers of a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairPoint {
    /// The model.
    pub model: String,
    /// In the first series.
    pub x: f64,
    /// The lower end of its interval.
    pub x_lower: Option<f64>,
    /// The upper end.
    pub x_upper: Option<f64>,
    /// In the second series.
    pub y: f64,
    /// The lower end of its interval.
    pub y_lower: Option<f64>,
    /// The upper end.
    pub y_upper: Option<f64>,
}

/// How the first series, as a leaderboard, foretells the second (Li et al. 2024, Arena-Hard).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LeaderboardsReport {
    /// Pairs of models whose intervals do not overlap in the first.
    pub separability_x: Share,
    /// The same in the second.
    pub separability_y: Share,
    /// From −1 to 1, the mean over all pairs: 1 for a pair that both separate in the same order, −1 for one in opposite
    /// orders, 0 for one that either does not separate.
    pub agreement_with_confidence: Option<f64>,
    /// The mean square of what the first gets wrong of the order of pairs in the second; a coin gets 0.25.
    pub brier: Option<f64>,
}

/// How battles and items were resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResamplingReport {
    /// How often.
    pub replicates: u32,
    /// The seed of the random numbers.
    pub seed: u64,
}

/// Compares two series over the models that both have; of `wanted` only, where any are named.
///
/// # Errors
/// [`SeriesError::Subjects`] where they are of different things.
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
    /// Those of two columns.
    #[must_use]
    pub fn new(cell: &ColumnCorrelations, level: ConfidenceLevel) -> Self {
        let at = |place: usize| {
            let resampled = cell.resampled.map(|resampled| ResampledReport::new(resampled[place]));
            CoefficientReport { resampled, ..CoefficientReport::new(cell.found[place], level) }
        };
        Self { pearson: at(0), spearman: at(1), kendall: at(2) }
    }

    /// The same with [`exact_p`] of the values.
    fn with_exact_p(mut self, x: &[f64], y: &[f64]) -> Self {
        self.spearman.exact_p = exact_p(Coefficient::Spearman, x, y);
        self.kendall.exact_p = exact_p(Coefficient::Kendall, x, y);
        self
    }

    /// All three by name.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &CoefficientReport); 3] {
        [("pearson", &self.pearson), ("spearman", &self.spearman), ("kendall", &self.kendall)]
    }
}

impl CoefficientReport {
    /// With the interval at this level.
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
        // No pairs of models, nothing to say.
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

/// What the series say of themselves, and how few models they share.
fn notes(series: &[&Series], found: &AlignedSeries) -> Vec<String> {
    let of_series = |series: &&Series| {
        let name = series.name.to_string();
        series.notes.iter().map(move |note| format!("{name}: {note}")).collect::<Vec<_>>()
    };
    let mut notes: Vec<String> = series.iter().flat_map(of_series).collect();
    notes.extend(found.unknown.iter().map(|model| format!("no series has {model:?}")));
    let alike = alike_names(found.models.iter().chain(&found.unmatched).map(String::as_str));
    if !alike.is_empty() {
        let alike: Vec<String> = alike.iter().map(|name| format!("{name:?}")).collect();
        notes.push(format!("{ALIKE_NAMES}: {}", alike.join(", ")));
    }
    if found.models.len() < FEW {
        let count = found.models.len();
        let are = if count == 1 { "1 model is".to_owned() } else { format!("{count} models are") };
        notes.push(format!("only {are} in all series: a correlation of fewer than {FEW} says little"));
    }
    notes
}
