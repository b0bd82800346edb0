//! SVG charts of correlations: scatter plots, matrices, distributions and mixtures.

use std::ops::RangeInclusive;

use crate::chart::correlations::{self, CorrelationCell};
use crate::chart::scatter::{self, Dot};
use crate::chart::violin::{self, ViolinSample};
use crate::chart::{Frame, Setting, Topic};
use crate::domain::correlation::report::{
    CoefficientReport, Correlations, MixtureReport, PairPoint, PairReport, StudyOptions,
};
use crate::domain::correlation::{Series, SeriesError, align};
use crate::domain::language::Language;
use crate::domain::stats::Interval;
use crate::domain::stats::convex_mixture::mix;
use crate::domain::stats::correlation::Coefficient;
use crate::domain::stats::correlation_matrix::{matrix, replicate_correlations};

const FRAME: Frame = Frame { language: Language::English, setting: Setting::File };

/// Draws the scatter plot of two series.
#[must_use]
pub fn of_pair(report: &PairReport) -> String {
    let title = format!("{} and {}", report.x.title, report.y.title);
    let dots: Vec<Dot> = report.points.iter().map(dot).collect();
    scatter::draw(Topic { key: "scatter", title: &title }, [&report.x.title, &report.y.title], &dots, FRAME)
}

fn dot(point: &PairPoint) -> Dot {
    let ends = |lower: Option<f64>, upper: Option<f64>| Some(Interval { lower: lower?, upper: upper? });
    Dot {
        name: point.model.clone(),
        at: [point.x, point.y],
        intervals: [ends(point.x_lower, point.x_upper), ends(point.y_lower, point.y_upper)],
    }
}

/// Draws the scatter plot of a mixture and its target, over the models that all series have.
///
/// # Errors
/// [`SeriesError::Subjects`].
pub fn of_mixture(
    series: &[&Series],
    target: &Series,
    wanted: &[String],
    report: &MixtureReport,
) -> Result<String, SeriesError> {
    let all: Vec<&Series> = series.iter().copied().chain([target]).collect();
    let found = align(&all, wanted)?;
    let values = found.values();
    let (of_target, mixed) = values.split_last().expect("the target is among them");
    let mixed: Vec<&[f64]> = mixed.iter().map(Vec::as_slice).collect();
    let weights: Vec<f64> = report.series.iter().map(|series| report.weights[&series.series]).collect();
    let points = found.models.iter().zip(mix(&mixed, &weights)).zip(of_target);
    let dots: Vec<Dot> =
        points.map(|((name, x), &y)| Dot { name: name.clone(), at: [x, y], intervals: [None, None] }).collect();
    let title = format!("best mixture and {}", report.target.title);
    let across = format!("mixture of {} series", report.series.len());
    Ok(scatter::draw(Topic { key: "scatter", title: &title }, [&across, &report.target.title], &dots, FRAME))
}

/// Correlations of two series in every replicate, in the order of [`Coefficient::ALL`]; empty if both are fixed.
///
/// # Errors
/// [`SeriesError::Subjects`].
pub fn replicates(x: &Series, y: &Series, wanted: &[String]) -> Result<[Vec<f64>; 3], SeriesError> {
    let columns = align(&[x, y], wanted)?.columns();
    let found = replicate_correlations(&columns[0], &columns[1]);
    Ok([0, 1, 2].map(|place| found.iter().flatten().map(|three| three[place]).collect()))
}

/// Draws violin plots of resampled correlations by name. `None` if nothing was resampled.
#[must_use]
pub fn of_replicates(title: &str, samples: &[ViolinSample]) -> Option<String> {
    let values = samples.iter().flat_map(|sample| sample.scores.iter().copied());
    let range = range(values)?;
    Some(violin::draw(Topic { key: "resampled", title }, samples, &range, FRAME))
}

/// Range of the values rounded outwards to tenths, within −1 and 1.
fn range(values: impl Iterator<Item = f64>) -> Option<RangeInclusive<f64>> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), r| (low.min(r), high.max(r)));
    let (low, high) = ((10.0 * low).floor() / 10.0, (10.0 * high).ceil() / 10.0);
    let (low, high) = if high - low < 0.1 { (low - 0.1, high + 0.1) } else { (low, high) };
    (low <= high).then(|| low.max(-1.0)..=high.min(1.0))
}

/// Draws the violin plots of the three resampled correlations of two series; `None` if both are fixed.
///
/// # Errors
/// [`SeriesError::Subjects`].
pub fn of_resampled_pair(x: &Series, y: &Series, wanted: &[String]) -> Result<Option<String>, SeriesError> {
    let found = replicates(x, y, wanted)?;
    let named = Coefficient::ALL.iter().map(|coefficient| coefficient.as_str().to_owned());
    let samples: Vec<ViolinSample> = named.zip(found).map(|(name, scores)| ViolinSample { name, scores }).collect();
    Ok(of_replicates(&format!("{} and {}, resampled", x.title, y.title), &samples))
}

/// Draws the matrix of one coefficient of all pairs of series, over the models that all series have.
///
/// # Errors
/// [`SeriesError::Subjects`].
pub fn of_all(
    series: &[&Series],
    wanted: &[String],
    coefficient: Coefficient,
    options: StudyOptions,
) -> Result<String, SeriesError> {
    let found = align(series, wanted)?;
    let pairs = matrix(&found.columns(), options.level);
    let names: Vec<String> = series.iter().map(|series| series.name.to_string()).collect();
    let at = |row: usize, column: usize| {
        (row != column).then(|| {
            let pair = pairs.cell(row, column);
            cell(pair.n, &Correlations::new(&pair, options.level), coefficient)
        })
    };
    let cells: Vec<Vec<Option<CorrelationCell>>> =
        (0..names.len()).map(|row| (0..names.len()).map(|column| at(row, column)).collect()).collect();
    Ok(of_cells(&names, &cells, coefficient))
}

/// Draws the matrix of one coefficient from `cells[row][column]`.
#[must_use]
pub fn of_cells(names: &[String], cells: &[Vec<Option<CorrelationCell>>], coefficient: Coefficient) -> String {
    let title = match coefficient {
        Coefficient::Pearson => "Pearson's r of every two series",
        Coefficient::Spearman => "Spearman's ρ of every two series",
        Coefficient::Kendall => "Kendall's τ-b of every two series",
    };
    correlations::draw(Topic { key: "correlations", title }, names, cells, FRAME)
}

/// Cell of a pair in the matrix: with the bootstrap interval if something was resampled, otherwise Fisher's.
#[must_use]
pub fn cell(n: usize, found: &Correlations, coefficient: Coefficient) -> CorrelationCell {
    let found: &CoefficientReport = match coefficient {
        Coefficient::Pearson => &found.pearson,
        Coefficient::Spearman => &found.spearman,
        Coefficient::Kendall => &found.kendall,
    };
    let Some(r) = found.r else { return CorrelationCell::Undefined(found.undefined.clone().unwrap_or_default()) };
    let resampled =
        found.resampled.as_ref().map_or((found.lower, found.upper), |resampled| (resampled.lower, resampled.upper));
    let interval = resampled.0.zip(resampled.1).map(|(lower, upper)| Interval { lower, upper });
    CorrelationCell::Found { r, interval, n }
}
