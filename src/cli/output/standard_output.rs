//! Prints results on standard output, as text and as CSV.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Write};

use anyhow::Context as _;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::domain::csv_injection::escape_formula;
use crate::error::CommandResult;

/// Prints the result of a command. A pipe closed early by its reader, as by `head`, is no error.
///
/// # Errors
/// A write failure, such as a full disk.
pub fn print(text: &str) -> CommandResult<()> {
    print_to(std::io::stdout().lock(), text)
}

/// Prints a result incrementally, as [`print()`] does.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> CommandResult<()> {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    // Discards the buffered rest after a failed write.
    let (_lock, _rest) = out.into_parts();
    ignore_closed_pipe(written)
}

fn print_to(mut out: impl Write, text: &str) -> CommandResult<()> {
    ignore_closed_pipe(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

fn ignore_closed_pipe(written: io::Result<()>) -> CommandResult<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done.context("cannot write to the standard output")?),
    }
}

/// Formats rows as CSV with a header line. Texts that a spreadsheet would evaluate get an apostrophe.
///
/// # Errors
/// Rows without columns.
pub(crate) fn lines_of_csv<R: Serialize>(rows: &[R]) -> CommandResult<String> {
    let mut lines = csv::Writer::from_writer(Vec::new());
    for (at, row) in rows.iter().enumerate() {
        let CsvRow(fields) = serde_json::from_str(&serde_json::to_string(row)?)?;
        if at == 0 {
            lines.write_record(fields.iter().map(|(name, _)| name))?;
        }
        let cell = |text: String| if text.parse::<f64>().is_ok() { text } else { escape_formula(&text).into_owned() };
        lines.write_record(fields.into_iter().map(|(_, value)| cell(csv_text(value))))?;
    }
    Ok(String::from_utf8(lines.into_inner()?)?)
}

/// Formats a value as a CSV cell; the values of a list are joined by `+`.
fn csv_text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        Value::Array(values) => values.into_iter().map(csv_text).collect::<Vec<_>>().join("+"),
        number_or_flag => number_or_flag.to_string(),
    }
}

/// Fields of a JSON object in serialisation order, which `serde_json::Map` does not keep.
struct CsvRow(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for CsvRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;

        impl<'de> Visitor<'de> for RowVisitor {
            type Value = CsvRow;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row with named columns")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<CsvRow, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = object.next_entry()? {
                    fields.push(field);
                }
                Ok(CsvRow(fields))
            }
        }

        deserializer.deserialize_map(RowVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_csv_row_keeps_its_order_and_writes_a_list_into_one_cell() {
        #[derive(Serialize)]
        struct Run {
            suite: &'static str,
            models: Vec<&'static str>,
            cost: f64,
            expected: Option<f64>,
            note: &'static str,
        }
        let run = |models: &[&'static str], note| Run {
            suite: "urs",
            models: models.to_vec(),
            cost: 0.5,
            expected: None,
            note,
        };
        let text = lines_of_csv(&[run(&["a", "b,c"], "=1+1"), run(&[], "-5")]).unwrap();
        assert_eq!(text, "suite,models,cost,expected,note\nurs,\"a+b,c\",0.5,,'=1+1\nurs,,0.5,,-5\n");
        assert_eq!(lines_of_csv::<Run>(&[]).unwrap(), "");
    }

    #[test]
    fn only_a_reader_who_went_away_is_no_failure() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        print_to(writer, "text").unwrap();
        let told = print_to(&mut [0_u8; 2][..], "text").unwrap_err();
        assert!(told.message().starts_with("cannot write to the standard output: "), "{}", told.message());
    }
}
