//! `langya correlate --charts DIR`: draws the comparison as SVG files.

use std::path::Path;

use crate::charts::write_all;
use crate::domain::correlation::Series;
use crate::domain::correlation::report::{MixtureReport, PairReport, StudyOptions};
use crate::domain::stats::correlation::Coefficient;
use crate::error::CommandResult;
use crate::render::report::correlation as figures;

/// Draws two series: `scatter.svg`, and `resampled.svg` where something was resampled.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn of_pair(
    folder: &Path,
    x: &Series,
    y: &Series,
    wanted: &[String],
    report: &PairReport,
) -> CommandResult<()> {
    let mut charts = vec![("scatter.svg", figures::of_pair(report))];
    charts.extend(figures::of_resampled_pair(x, y, wanted)?.map(|svg| ("resampled.svg", svg)));
    Ok(write_all(folder, charts)?)
}

/// Draws a mixture against its target, `scatter.svg`, and Pearson's correlation of every two of all series, `matrix.svg`.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn of_mixture(
    folder: &Path,
    series: &[&Series],
    target: &Series,
    wanted: &[String],
    report: &MixtureReport,
    options: StudyOptions,
) -> CommandResult<()> {
    let all: Vec<&Series> = series.iter().copied().chain([target]).collect();
    let charts = vec![
        ("scatter.svg", figures::of_mixture(series, target, wanted, report)?),
        ("matrix.svg", figures::of_all(&all, wanted, Coefficient::Pearson, options)?),
    ];
    Ok(write_all(folder, charts)?)
}
