//! Writes the results of a study into one folder that a paper can cite.
//!
//! `results.json` has every number; tables, pictures and the report only show them. The output does not depend on the time, the machine
//! or paths, so the same database and seed give the same bytes.

mod methods;
mod pictures;
mod report;
mod tables;

use std::collections::BTreeMap;

use crate::domain::correlation::study::{Results, Study, StudyFile};
use crate::domain::correlation::{Series, SeriesError};

/// Error of writing the files of a study.
#[derive(Debug, thiserror::Error)]
pub enum StudyReportError {
    /// A picture needs a series that does not fit.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// A table could not be written.
    #[error("a table of the study could not be written: {0}")]
    Csv(#[from] csv::Error),
    /// The results could not be written as JSON.
    #[error("a file of the study could not be written: {0}")]
    Json(#[from] serde_json::Error),
    /// The study could not be written as TOML.
    #[error("the study could not be written again: {0}")]
    Toml(#[from] toml::ser::Error),
}

/// Path of a study's table within its folder.
pub const TABLE: &str = "data/table.csv";

/// Files of a study's folder by path.
pub type StudyFiles = BTreeMap<String, Vec<u8>>;

/// Builds all files of a study. `table` is the text of its table, if any; the written study reads it from the folder, so that the folder
/// alone suffices to repeat the study.
///
/// # Errors
/// [`StudyReportError`].
pub fn files(
    study: &Study,
    series: &[Series],
    results: &Results,
    table: Option<Vec<u8>>,
) -> Result<StudyFiles, StudyReportError> {
    let pictures = pictures::draw(study, series, results)?;
    let used = StudyFile { table: table.as_ref().map(|_| TABLE.to_owned()), ..study.file.clone() };
    let mut files = StudyFiles::from([
        ("study.toml".to_owned(), toml::to_string(&used)?.into_bytes()),
        ("results.json".to_owned(), (serde_json::to_string_pretty(results)? + "\n").into_bytes()),
        ("report.md".to_owned(), report::write(results, &pictures).into_bytes()),
        ("data/points.csv".to_owned(), tables::points(results)?),
        ("data/correlations.csv".to_owned(), tables::correlations(results)?),
        ("data/combinations.csv".to_owned(), tables::combinations(results)?),
        ("data/unmatched.csv".to_owned(), tables::unmatched(results)?),
        ("data/sources.csv".to_owned(), tables::sources(results)?),
    ]);
    files.extend(table.map(|table| (TABLE.to_owned(), table)));
    files.extend(pictures.into_iter().map(|picture| (format!("figures/{}", picture.name), picture.svg.into_bytes())));
    Ok(files)
}
