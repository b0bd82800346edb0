//! A study as a file: what is to be compared, and one folder with all that came of it, which a paper can cite.
//!
//! [`Study::parse`] understands the file, [`reckon`](fn@reckon) compares, and [`Study::files`] writes down: `results.json` holds every
//! number, and tables, pictures and the report only show them. Nothing depends on the time of day, on the machine or on
//! where its files are, so the same database and seed make the same bytes.

mod error;
mod file;
mod methods;
mod pictures;
mod reckon;
mod report;
mod results;
mod tables;

use std::collections::BTreeMap;

pub use error::StudyError;
pub use file::{CombinationLine, PairLine, Study, StudyFile};
pub use reckon::reckon;
pub use results::{Data, Mixture, Results, StudiedCombination, StudiedPair, StudiedPoint, StudiedSeries};

use super::Series;

/// Where the table of a study is within its folder.
pub const TABLE: &str = "data/table.csv";

/// The files of a folder by their paths in it.
pub type Files = BTreeMap<String, Vec<u8>>;

impl Study {
    /// Everything that comes of the study. `table` is the text of its table, where it has one; the study that is written
    /// with the rest reads it from the folder, so that the folder is all that it takes to make the study again.
    ///
    /// # Errors
    /// [`StudyError`].
    pub fn files(&self, series: &[Series], results: &Results, table: Option<Vec<u8>>) -> Result<Files, StudyError> {
        let pictures = pictures::draw(self, series, results)?;
        let used = StudyFile { table: table.as_ref().map(|_| TABLE.to_owned()), ..self.file.clone() };
        let mut files = Files::from([
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
        files.extend(
            pictures.into_iter().map(|picture| (format!("figures/{}", picture.name), picture.svg.into_bytes())),
        );
        Ok(files)
    }
}
