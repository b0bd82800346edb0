//! `langya correlate --charts DIR`.

use std::path::Path;

use crate::cli::charts::ChartsError;
use crate::services::correlation::Series;
use crate::services::correlation::report::{MixtureReport, PairReport};

/// Draws two series.
pub(super) fn of_pair(_folder: &Path, _x: &Series, _y: &Series, _report: &PairReport) -> Result<(), ChartsError> {
    Ok(())
}

/// Draws a mixture and its target.
pub(super) fn of_mixture(
    _folder: &Path,
    _series: &[&Series],
    _target: &Series,
    _report: &MixtureReport,
) -> Result<(), ChartsError> {
    Ok(())
}
