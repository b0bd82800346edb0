//! A CSV file with one row per model; its fields may be separated by commas, semicolons or tabs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::domain::csv_injection::restored;
use crate::read_file_or_pipe;
use crate::votes::delimiter_of;

/// Error of reading a table or one of its columns.
#[derive(Debug, thiserror::Error)]
pub enum ModelTableError {
    /// The file cannot be read.
    #[error("{}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A cell is not a number.
    #[error(
        "{}: model {model:?} has {text:?} in column {column:?}: write a number such as 3.5, or leave the cell empty where there is none",
        file.display()
    )]
    Cell {
        /// The file.
        file: PathBuf,
        /// The model of the row.
        model: String,
        /// The column.
        column: String,
        /// Text of the cell.
        text: String,
    },
    /// Two columns have the requested name.
    #[error("the table has two columns {0:?}: give one of them another name")]
    Twice(String),
    /// The table has no such column.
    #[error("the table has no column {name:?}: its columns are {known}")]
    Column {
        /// The requested column.
        name: String,
        /// The columns of the table.
        known: String,
    },
}

/// Texts of a missing number, in any letter case.
const MISSING_NUMBER_TEXTS: [&str; 8] = ["", "-", "–", "—", "n/a", "na", "nan", "null"];

/// Description of the expected file, for errors.
const EXPECTED_FORMAT: &str = "a table is a CSV file with a header line and one line for each model";

/// A table of numbers with one row per model.
#[derive(Debug, Clone, Default)]
pub struct ModelTable {
    file: PathBuf,
    columns: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

impl ModelTable {
    /// Reads a table whose column `key` has the models.
    ///
    /// # Errors
    /// [`ModelTableError::File`], [`ModelTableError::Column`].
    pub fn read(file: &Path, key: &str) -> Result<Self, ModelTableError> {
        let bad = |reason: String| ModelTableError::File { file: file.to_owned(), reason };
        let text = read_file_or_pipe(file).map_err(|error| bad(format!("{error}; {EXPECTED_FORMAT}")))?;
        let unreadable = |error: &csv::Error| bad(in_words(error, &text));
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter_of(&text)).from_reader(text.as_slice());
        let header = reader.headers().map_err(|error| unreadable(&error))?;
        let columns: Vec<String> =
            header.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_owned()).collect();
        if columns.is_empty() {
            return Err(bad("the file is empty: write a header line, and a line for each model".to_owned()));
        }
        let place = place(&columns, key)?;
        let mut rows = Vec::new();
        let mut known = BTreeSet::new();
        for row in reader.records() {
            let row = row.map_err(|error| unreadable(&error))?;
            let model = restored(row[place].trim()).to_owned();
            if model.is_empty() {
                let line = row.position().map_or(0, csv::Position::line);
                return Err(bad(format!("line {line} names no model in column {key:?}: name one, or remove the line")));
            }
            if !known.insert(model.clone()) {
                return Err(bad(format!("model {model:?} has two rows: keep one of them")));
            }
            rows.push((model, row.iter().map(|cell| restored(cell.trim()).to_owned()).collect()));
        }
        Ok(Self { file: file.to_owned(), columns, rows })
    }

    /// The columns that have a number in at least one row.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let has_number = |at: usize| self.rows.iter().any(|(_, cells)| number(&cells[at]).is_some());
        let columns = self.columns.iter().enumerate();
        columns.filter(|(at, _)| has_number(*at)).map(|(_, name)| name.as_str()).collect()
    }

    /// The numbers of a column by model; models with a missing number are left out.
    ///
    /// # Errors
    /// [`ModelTableError::Column`], [`ModelTableError::Twice`], [`ModelTableError::Cell`].
    pub fn column(&self, name: &str) -> Result<BTreeMap<String, f64>, ModelTableError> {
        let place = place(&self.columns, name)?;
        let value = |(model, cells): &(String, Vec<String>)| {
            let text = &cells[place];
            if MISSING_NUMBER_TEXTS.contains(&text.to_lowercase().as_str()) {
                return None;
            }
            let refused = || ModelTableError::Cell {
                file: self.file.clone(),
                model: model.clone(),
                column: name.to_owned(),
                text: text.chars().take(40).collect(),
            };
            Some(number(text).map(|number| (model.clone(), number)).ok_or_else(refused))
        };
        self.rows.iter().filter_map(value).collect()
    }
}

/// Error message of the CSV parser, with the line and a remedy.
fn in_words(error: &csv::Error, text: &[u8]) -> String {
    let begin = error.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(text.len()));
    // The position of a record includes the line ends before it.
    let before = text.iter().skip(begin).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let line = 1 + text.iter().take(begin + before).filter(|byte| **byte == b'\n').count();
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => {
            format!("line {line} is not UTF-8: convert the file, for example with iconv -t UTF-8")
        }
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!(
                "line {line} has {len} fields where the header has {expected_len}: put fields with commas in quotes"
            )
        }
        _ => format!("{error}; {EXPECTED_FORMAT}"),
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn place(columns: &[String], name: &str) -> Result<usize, ModelTableError> {
    if columns.iter().filter(|column| *column == name).count() > 1 {
        return Err(ModelTableError::Twice(name.to_owned()));
    }
    columns
        .iter()
        .position(|column| column == name)
        .ok_or_else(|| ModelTableError::Column { name: name.to_owned(), known: columns.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> (tempfile::TempDir, ModelTable) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("table.csv");
        std::fs::write(&file, text).unwrap();
        let table = ModelTable::read(&file, "model").unwrap();
        (folder, table)
    }

    #[test]
    fn an_empty_file_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let told = ModelTable::read(file.path(), "model").unwrap_err().to_string();
        let expected = format!("{}: the file is empty: write a header line", file.path().display());
        assert!(told.starts_with(&expected), "{told}");
    }

    #[test]
    fn a_file_that_is_no_table_is_refused_with_what_is_expected() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let told = |bytes: &[u8]| {
            std::fs::write(file.path(), bytes).unwrap();
            ModelTable::read(file.path(), "model").unwrap_err().to_string()
        };
        let image = told(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
        assert!(image.contains(": it is binary data") && image.ends_with("one line for each model"), "{image}");
        let latin = told(b"model,x\r\na,1\r\ncaf\xe9,2\r\n");
        assert!(latin.contains(": line 3 is not UTF-8: convert the file"), "{latin}");
        let ragged = told(b"model,x\n\na,1,2\n");
        assert!(ragged.contains(": line 3 has 3 fields where the header has 2: put fields"), "{ragged}");
    }

    #[test]
    fn a_cell_that_is_no_number_is_named_and_an_empty_one_is_left_out() {
        let (_folder, table) = table("model,x,y,maker\na,1,-,One\nb,\"3,5\",N/A,Two\n'=c,9%,2,360\n");
        assert_eq!(table.column("y").unwrap(), BTreeMap::from([("=c".to_owned(), 2.0)]));
        let refused = table.column("x").unwrap_err().to_string();
        assert!(refused.contains("model \"b\" has \"3,5\" in column \"x\""), "{refused}");
        assert_eq!(table.columns(), ["x", "y", "maker"]);
    }

    #[test]
    fn semicolons_and_tabs_separate_fields_too() {
        for text in ["\u{feff}model;x;y\na;1;2\n'=b,c;3;\n", "model\tx\ty\na\t1\t2\n'=b,c\t3\t\n"] {
            let (_folder, table) = table(text);
            assert_eq!(table.column("x").unwrap(), BTreeMap::from([("=b,c".to_owned(), 3.0), ("a".to_owned(), 1.0)]));
            assert_eq!(table.column("y").unwrap(), BTreeMap::from([("a".to_owned(), 2.0)]));
        }
    }

    #[test]
    fn a_row_without_a_model_is_refused_by_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "model,x\na,1\n ,2\n").unwrap();
        let told = ModelTable::read(file.path(), "model").unwrap_err().to_string();
        assert!(told.ends_with(": line 3 names no model in column \"model\": name one, or remove the line"), "{told}");
    }

    #[test]
    fn of_two_columns_of_one_name_none_is_read() {
        let (_folder, table) = table("model,x,x,y\na,1,2,3\n");
        assert_eq!(
            table.column("x").unwrap_err().to_string(),
            "the table has two columns \"x\": give one of them another name"
        );
        assert_eq!(table.column("y").unwrap().len(), 1);
    }
}
