//! Table files in one of three formats.

mod column;
pub mod conversation_metadata;
pub mod export_columns;
pub mod export_rows;
mod parquet;

use crate::domain::csv_injection::escape_formula;
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

pub use column::{Column, ValueKind};
use parquet::ParquetTable;

/// File format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// One line per row, with a header; each nested value has a column named by its path.
    Csv,
    /// Columns, compressed.
    Parquet,
}

impl Format {
    /// Derives the format from a file name's extension, ignoring case.
    #[must_use]
    pub fn of_extension(path: &Path) -> Option<Self> {
        Self::from_str(path.extension()?.to_str()?, true).ok()
    }
}

/// Writer of a table.
pub struct TableWriter<W: Write + Send> {
    rows: u64,
    form: FileWriter<W>,
}

enum FileWriter<W: Write + Send> {
    Lines(BufWriter<W>),
    Delimited(BufWriter<W>, Vec<Column>),
    Columns(Box<ParquetTable<BufWriter<W>>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins the file.
    pub fn begin(format: Format, columns: Vec<Column>, out: W) -> io::Result<Self> {
        let form = match format {
            Format::Jsonl => FileWriter::Lines(BufWriter::new(out)),
            Format::Csv => {
                let mut out = BufWriter::new(out);
                write_line(&mut out, columns.iter().map(|column| Cow::Borrowed(column.path)))?;
                FileWriter::Delimited(out, columns)
            }
            Format::Parquet => FileWriter::Columns(Box::new(ParquetTable::begin(columns, BufWriter::new(out))?)),
        };
        Ok(Self { rows: 0, form })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, row: &impl Serialize) -> io::Result<()> {
        self.rows += 1;
        match &mut self.form {
            FileWriter::Lines(out) => {
                serde_json::to_writer(&mut *out, row)?;
                out.write_all(b"\n")
            }
            FileWriter::Delimited(out, columns) => {
                let row = serde_json::to_value(row)?;
                write_line(out, columns.iter().map(|column| cell(column.of(&row))))
            }
            FileWriter::Columns(table) => table.write(serde_json::to_value(row)?),
        }
    }

    /// Completes the file; returns the number of rows.
    pub fn finish(self) -> io::Result<u64> {
        match self.form {
            FileWriter::Lines(mut out) | FileWriter::Delimited(mut out, _) => out.flush()?,
            FileWriter::Columns(table) => table.finish()?,
        }
        Ok(self.rows)
    }
}

fn write_line<'c>(out: &mut impl Write, cells: impl Iterator<Item = Cow<'c, str>>) -> io::Result<()> {
    for (place, cell) in cells.enumerate() {
        out.write_all(if place > 0 { b"," } else { b"" })?;
        out.write_all(cell.as_bytes())?;
    }
    out.write_all(b"\n")
}

/// Formats a CSV cell. Every text is quoted, so that readers that detect the dialect from the first lines, as DuckDB does, find quotes
/// there, and so that an empty text differs from a missing one.
fn cell(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Owned(quoted(&escape_formula(text))),
        Value::Array(_) | Value::Object(_) => Cow::Owned(quoted(&value.to_string())),
        other => Cow::Owned(other.to_string()),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COLUMNS: [Column; 6] = [
        Column::needed("text", ValueKind::Text),
        Column::optional("none", ValueKind::Text),
        Column::needed("deep.number", ValueKind::Number),
        Column::needed("deep.real", ValueKind::Real),
        Column::needed("flag", ValueKind::Flag),
        Column::needed("list", ValueKind::Json),
    ];

    fn csv_of(text: &str) -> String {
        let mut out = Vec::new();
        let mut table = TableWriter::begin(Format::Csv, COLUMNS.to_vec(), &mut out).unwrap();
        let row = json!({"text": text, "deep": {"number": 7, "real": 0.5}, "flag": true, "list": [{"a": "b,c"}]});
        table.write(&row).unwrap();
        assert_eq!(table.finish().unwrap(), 1);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_of_a_csv_file_stand_in_quotes_and_nothing_else_does() {
        let rest = r#",,7,0.5,true,"[{""a"":""b,c""}]""#;
        for (text, cell) in [("x", r#""x""#), ("", r#""""#), ("a \"b\",\n通", "\"a \"\"b\"\",\n通\""), ("7", r#""7""#)]
        {
            assert_eq!(csv_of(text), format!("text,none,deep.number,deep.real,flag,list\n{cell}{rest}\n"), "{text:?}");
        }
    }

    #[test]
    fn a_text_that_a_spreadsheet_would_work_out_is_defused() {
        for text in ["=1+1", "+1", "-1", "@a", "\tx", "\rx"] {
            assert!(csv_of(text).contains(&format!("\n\"'{text}\"")), "{text:?}");
        }
        assert!(csv_of("1=1").contains("\n\"1=1\""));
    }
}
