//! CSV files written by hand: columns by name, rows with line numbers.

use std::io::Read;

use csv::StringRecord;

/// Rows of a CSV file, each with the line on which it begins.
pub(super) struct LabelTable {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<(u64, StringRecord)>,
}

/// CSV syntax error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Syntax(String);

impl LabelTable {
    /// Reads a UTF-8 file with a header, with or without a byte-order mark; fails with the line of the error.
    pub(super) fn read(mut file: impl Read) -> Result<Self, (u64, Syntax)> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| (1, Syntax(error.to_string())))?;
        let mut lines = Lines { bytes: &bytes, at: 0, line: 1 };
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let header = reader.headers().map_err(|error| (1, Syntax(in_words(&error))))?;
        let header = header.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_lowercase()).collect();
        let mut rows = Vec::new();
        for row in reader.records() {
            let position = |position: Option<&csv::Position>| position.map_or(0, csv::Position::byte);
            match row {
                Ok(row) => rows.push((lines.of(position(row.position())), row)),
                Err(error) => return Err((lines.of(position(error.position())), Syntax(in_words(&error)))),
            }
        }
        Ok(Self { header, rows })
    }
}

/// Line counter of a file. With Windows line ends the parser has a row begin at the line feed before it, and counts lines accordingly.
struct Lines<'b> {
    bytes: &'b [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// Returns the line of the text at this byte or, where line ends stand there, of the text after them.
    fn of(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX);
        while let Some(next) = self.bytes.get(self.at).filter(|next| self.at < byte || matches!(next, b'\r' | b'\n')) {
            self.line += u64::from(*next == b'\n');
            self.at += 1;
        }
        self.line
    }
}

fn in_words(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => {
            "the text is not UTF-8: convert the file, for example with iconv -t UTF-8".into()
        }
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} fields instead of {expected_len}: put texts with commas in quotes")
        }
        _ => error.to_string(),
    }
}
