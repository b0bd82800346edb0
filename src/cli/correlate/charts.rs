//! `langya correlate --charts DIR`: draws the comparison as SVG files.

use crate::domain::correlation::Series;
use crate::domain::correlation::report::{MixtureReport, PairReport, StudyOptions};
use crate::domain::stats::correlation::Coefficient;
use crate::error::CommandResult;
use crate::output::charts::Charts;
use crate::render::report::correlation as figures;

/// Draws two series: `scatter.svg`, and `resampled.svg` if there is a bootstrap.
///
/// # Errors
/// Series that cannot be compared.
pub(super) fn of_pair(x: &Series, y: &Series, wanted: &[String], report: &PairReport) -> CommandResult<Charts> {
    let mut charts = vec![("scatter.svg", figures::of_pair(report))];
    charts.extend(figures::of_resampled_pair(x, y, wanted)?.map(|svg| ("resampled.svg", svg)));
    Ok(charts)
}

/// Draws a mixture against its target, `scatter.svg`, and the matrix of Pearson correlations of all series, `matrix.svg`.
///
/// # Errors
/// Series that cannot be compared.
pub(super) fn of_mixture(
    series: &[&Series],
    target: &Series,
    wanted: &[String],
    report: &MixtureReport,
    options: StudyOptions,
) -> CommandResult<Charts> {
    let all: Vec<&Series> = series.iter().copied().chain([target]).collect();
    Ok(vec![
        ("scatter.svg", figures::of_mixture(series, target, wanted, report)?),
        ("matrix.svg", figures::of_all(&all, wanted, Coefficient::Pearson, options)?),
    ])
}
