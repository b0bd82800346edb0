//! Rows as a file of one of three formats.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::Value;

use super::parquet::ParquetTable;

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// One line a row, with a header; nested values have a column each, named by their path.
    Csv,
    /// Columns, compressed.
    Parquet,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Real,
    Flag,
    /// A list of objects, as JSON text.
    Json,
}

/// A column: the path of a value in the row's object, its kind, and whether a row may lack it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    pub(super) optional: bool,
}

impl Column {
    pub(super) const fn needed(path: &'static str, kind: Kind) -> Self {
        Self { path, kind, optional: false }
    }

    pub(super) const fn optional(path: &'static str, kind: Kind) -> Self {
        Self { path, kind, optional: true }
    }

    /// Its value in a row.
    pub(super) fn of<'r>(&self, row: &'r Value) -> &'r Value {
        self.path.split('.').try_fold(row, |value, name| value.get(name)).unwrap_or(&Value::Null)
    }
}

/// A file that takes rows.
pub(super) struct Table<W: Write + Send> {
    rows: u64,
    form: Form<W>,
}

enum Form<W: Write + Send> {
    Lines(BufWriter<W>),
    Delimited(csv::Writer<W>, Vec<Column>),
    Columns(ParquetTable<BufWriter<W>>),
}

impl<W: Write + Send> Table<W> {
    /// Writes what stands before the first row.
    pub(super) fn begin(format: Format, columns: Vec<Column>, out: W) -> io::Result<Self> {
        let form = match format {
            Format::Jsonl => Form::Lines(BufWriter::new(out)),
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(out);
                writer.write_record(columns.iter().map(|column| column.path))?;
                Form::Delimited(writer, columns)
            }
            Format::Parquet => Form::Columns(ParquetTable::begin(columns, BufWriter::new(out))?),
        };
        Ok(Self { rows: 0, form })
    }

    pub(super) fn write(&mut self, row: &impl Serialize) -> io::Result<()> {
        self.rows += 1;
        match &mut self.form {
            Form::Lines(out) => {
                serde_json::to_writer(&mut *out, row)?;
                out.write_all(b"\n")
            }
            Form::Delimited(writer, columns) => {
                let row = serde_json::to_value(row)?;
                let cells = columns.iter().map(|column| cell(column.of(&row)).into_owned());
                Ok(writer.write_record(cells)?)
            }
            Form::Columns(table) => table.write(serde_json::to_value(row)?),
        }
    }

    /// Writes what stands behind the last row; returns how many there were.
    pub(super) fn finish(self) -> io::Result<u64> {
        match self.form {
            Form::Lines(mut out) => out.flush()?,
            Form::Delimited(mut writer, _) => writer.flush()?,
            Form::Columns(table) => table.finish()?,
        }
        Ok(self.rows)
    }
}

fn cell(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => defused(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// A text as a spreadsheet shows it: one that begins like a formula would be worked out there, and gets an apostrophe.
#[must_use]
pub fn defused(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}").into() } else { text.into() }
}
