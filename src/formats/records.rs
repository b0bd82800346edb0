//! Files of external records, as JSON lines or as CSV with a header: each record with the line on which it begins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::read_file;
use super::votes::delimiter_of;
use crate::domain::benchmark::suite_data_file::{DataError, RecordLines, text};
use crate::domain::csv_injection::restored;

/// Columns of long texts, in which an apostrophe before a formula may be part of the text.
const TEXT_COLUMNS: [&str; 5] = ["answer", "text", "raw_text", "judgment", "judgement"];

/// Error of reading or writing a file of records; no record of the file is used.
#[derive(Debug, thiserror::Error)]
pub enum BenchFileError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}; choose another file with --out", .path.display())]
    Unwritable {
        /// Its path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The data is invalid.
    #[error("{} {error}", .path.display())]
    Data {
        /// Its path.
        path: PathBuf,
        /// The error, with its line.
        error: DataError,
    },
    /// A record cannot be used.
    #[error("{} line {line}: {reason}", .path.display())]
    Record {
        /// Its path.
        path: PathBuf,
        /// The line on which it begins, from 1.
        line: u64,
        /// The reason and the remedy.
        reason: String,
    },
}

/// Reads a whole file.
///
/// # Errors
/// [`BenchFileError::Unreadable`].
pub fn read(path: &Path) -> Result<Vec<u8>, BenchFileError> {
    read_file(path).map_err(|source| BenchFileError::Unreadable { path: path.to_owned(), source })
}

/// Record of a file.
#[derive(Debug, Clone)]
pub struct Record {
    /// The line on which it begins, from 1.
    pub line: u64,
    fields: Map<String, Value>,
    /// Names of the empty columns of a CSV file.
    blank: Vec<String>,
}

/// Reads the records of a file.
///
/// # Errors
/// [`BenchFileError`].
pub fn records(path: &Path) -> Result<Vec<Record>, BenchFileError> {
    let bytes = read(path)?;
    let data = |error| BenchFileError::Data { path: path.to_owned(), error };
    let text = text(&bytes).map_err(data)?;
    let records = if text.trim_start().starts_with('{') { json_lines(text) } else { delimited(text) };
    let records = records.map_err(|(line, reason)| BenchFileError::Record { path: path.to_owned(), line, reason })?;
    if records.is_empty() {
        let reason = "the file has no records: give a JSON object a line, or CSV with a header".to_owned();
        return Err(BenchFileError::Record { path: path.to_owned(), line: 1, reason });
    }
    Ok(records)
}

fn json_lines(text: &str) -> Result<Vec<Record>, (u64, String)> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let record = |(line, text): (u64, &str)| match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(Record { line, fields, blank: Vec::new() }),
        Err(_) if has_non_finite_literal(text) => {
            let known = "the line is not JSON, which knows neither NaN nor Infinity";
            Err((line, format!("{known}: write a number, or null or no record where there is none")))
        }
        _ => Err((line, "the line is not a JSON object: write one object per line".to_owned())),
    };
    lines.map(record).collect()
}

/// Whether a line has, outside of quotes, what some programs write for numbers that are none.
fn has_non_finite_literal(line: &str) -> bool {
    line.split('"').step_by(2).any(|outside| ["NaN", "Infinity"].iter().any(|name| outside.contains(name)))
}

fn delimited(text: &str) -> Result<Vec<Record>, (u64, String)> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter_of(text.as_bytes())).from_reader(text.as_bytes());
    let heads = reader.headers().map_err(|error| (1, error.to_string()))?.clone();
    let (mut records, mut lines) = (Vec::new(), RecordLines::new(text));
    for row in reader.records() {
        let unequal = "it has another number of fields than the header".to_owned();
        let row = row.map_err(|error| (lines.at(error.position()), unequal))?;
        let line = lines.at(row.position());
        let cells = heads.iter().zip(&row).map(|(head, cell)| (head.trim().to_owned(), cell));
        let (blank, filled): (Vec<_>, Vec<_>) = cells.partition(|(_, cell)| cell.is_empty());
        let field = |(head, cell): (String, &str)| {
            let text = if TEXT_COLUMNS.contains(&head.as_str()) { cell } else { restored(cell) };
            (head, Value::String(text.to_owned()))
        };
        let fields = filled.into_iter().map(field).collect();
        records.push(Record { line, fields, blank: blank.into_iter().map(|(head, _)| head).collect() });
    }
    Ok(records)
}

impl Record {
    /// Creates the error of this record.
    pub fn refuse(&self, path: &Path, reason: impl Into<String>) -> BenchFileError {
        BenchFileError::Record { path: path.to_owned(), line: self.line, reason: reason.into() }
    }

    /// The value under the first of these names that has one: null is none, as an empty cell.
    pub fn value(&self, names: &[&str]) -> Option<&Value> {
        names.iter().filter_map(|name| self.fields.get(*name)).find(|value| !value.is_null())
    }

    /// A text, or a number as text.
    pub fn text(&self, names: &[&str]) -> Option<String> {
        match self.value(names)? {
            Value::String(text) => Some(text.replace('\0', "")),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Whether the field is an empty cell or null.
    pub fn is_blank(&self, name: &str) -> bool {
        self.blank.iter().any(|blank| blank == name) || self.fields.get(name).is_some_and(Value::is_null)
    }

    /// A text that may be empty, also from an empty cell.
    pub fn text_or_blank(&self, names: &[&str]) -> Option<String> {
        let is_blank = names.iter().any(|name| self.blank.iter().any(|blank| blank == name));
        self.text(names).or_else(|| is_blank.then(String::new))
    }

    /// The numbers of an object, by name; empty without such a field. A cell of a CSV file holds the object as JSON.
    pub fn numbers(&self, path: &Path, names: &[&str]) -> Result<BTreeMap<String, f64>, BenchFileError> {
        let read = match self.value(names) {
            None => return Ok(BTreeMap::new()),
            Some(Value::String(text)) => serde_json::from_str(text),
            Some(value) => serde_json::from_value(value.clone()),
        };
        read.map_err(|_| self.refuse(path, format!("{} must be an object with one number per name", names[0])))
    }

    /// A required text.
    pub fn needed(&self, path: &Path, names: &[&str]) -> Result<String, BenchFileError> {
        let text = self.text(names).filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| self.refuse(path, format!("it has no {}: every record needs one", names.join(" or "))))
    }

    /// An optional positive whole number.
    pub fn number(&self, path: &Path, name: &str) -> Result<Option<u32>, BenchFileError> {
        let Some(text) = self.text(&[name]) else { return Ok(None) };
        let number = text.trim().parse().ok().filter(|number| *number > 0);
        number.map(Some).ok_or_else(|| self.refuse(path, format!("{name} is {text:?}: write a number from 1")))
    }

    /// An optional decimal number.
    pub fn real(&self, path: &Path, name: &str) -> Result<Option<f64>, BenchFileError> {
        let Some(text) = self.text(&[name]) else { return Ok(None) };
        let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Some).ok_or_else(|| {
            self.refuse(
                path,
                format!("{name} is {text:?}: write a number, or leave the record out where there is none"),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Record>, BenchFileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, text).unwrap();
        records(&path)
    }

    #[test]
    fn lines_of_json_and_csv_are_the_same_records() {
        let csv = "\u{feff}item,turn,answer\r\n7,1,\"two\r\nlines, {braces}\"\r\n8,2,x\r\n";
        let json = "{\"item\": 7, \"turn\": 1, \"answer\": \"two\\r\\nlines, {braces}\"}\n\n{\"item\":\"8\",\"turn\":\"2\",\"answer\":\"x\"}";
        for (text, second_line) in [(csv, 4), (json, 3)] {
            let records = read_text(text).unwrap();
            let path = Path::new("f");
            assert_eq!(records[0].text(&["id", "item"]).as_deref(), Some("7"));
            assert_eq!(records[0].needed(path, &["answer"]).unwrap(), "two\r\nlines, {braces}");
            assert_eq!((records[1].line, records[1].number(path, "turn").unwrap()), (second_line, Some(2)));
        }
    }

    #[test]
    fn semicolons_separate_fields_and_a_name_loses_the_apostrophe_that_an_export_gave_it() {
        let records = read_text("model;answer;note\n'=1+2;'=3 holds;\n").unwrap();
        let text = |name| records[0].text(&[name]);
        assert_eq!((text("model").as_deref(), text("answer").as_deref()), (Some("=1+2"), Some("'=3 holds")));
        assert_eq!((records[0].is_blank("note"), records[0].is_blank("model")), (true, false));
    }

    #[test]
    fn another_name_of_a_field_is_read_where_the_first_is_null_or_an_empty_cell() {
        for text in ["{\"answer\": null, \"text\": \"x\"}\n", "answer,text\n,x\n"] {
            let records = read_text(text).unwrap();
            assert_eq!(records[0].text(&["answer", "text"]).as_deref(), Some("x"), "{text}");
        }
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let error = read_text(text).and_then(|records| {
            records.iter().try_for_each(|record| {
                record.needed(Path::new("file"), &["answer", "text"])?;
                record.number(Path::new("file"), "turn").map(drop)
            })
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn what_cannot_be_used_is_reported_with_its_line() {
        refused("{\"answer\": \"x\"}\n[1]", "line 2: the line is not a JSON object");
        refused("{\"answer\": \"x\"}\n{\"answer\": \" \"}", "line 2: it has no answer or text");
        refused("answer,turn\nx,1\nx,0\n", "line 3: turn is \"0\": write a number from 1");
        refused("answer,turn\nx\n", "line 2: it has another number of fields");
        let without_number =
            "line 1: the line is not JSON, which knows neither NaN nor Infinity: write a number, or null";
        for value in ["NaN", " -Infinity"] {
            refused(&format!("{{\"answer\": \"x\", \"score\":{value}}}"), without_number);
        }
        refused("{\"answer\": \"a: NaN\"", "line 1: the line is not a JSON object");
        refused("", "line 1: the file has no records");
    }
}
