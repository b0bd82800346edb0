//! Parsing of a suite's data file: errors, and shared code of the suites.

use std::collections::HashMap;

use serde::de::DeserializeOwned;

use super::item::Item;

/// Error of a data file, with its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct DataError {
    /// Line of the file, from 1.
    pub line: u64,
    /// Description of the problem and how to fix it.
    pub problem: DataProblem,
}

/// Problem of a data file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DataProblem {
    /// The text has a different encoding.
    #[error("the text is not UTF-8 (it may be {0}): convert the file, for example with iconv -t UTF-8")]
    Encoding(&'static str),
    /// A line is not a valid record.
    #[error("this is not a record of the suite: {0}")]
    Record(String),
    /// A field is empty.
    #[error("{0} is empty: give its text or remove the record")]
    Empty(&'static str),
    /// An id is not unique.
    #[error("the id {id:?} is already on line {first}: ids must be unique")]
    Duplicate {
        /// Repeated id.
        id: String,
        /// Line of the first occurrence.
        first: u64,
    },
    /// A value is unknown.
    #[error("the {field} {value:?} is unknown: expected one of {known}")]
    Unknown {
        /// Name of the field.
        field: &'static str,
        /// Unknown value.
        value: String,
        /// Known values.
        known: String,
    },
    /// The file has no items.
    #[error("the file has no items: give the suite's official data file")]
    NoItems,
}

impl DataProblem {
    /// Returns the error of this problem on a line.
    #[must_use]
    pub fn on(self, line: u64) -> DataError {
        DataError { line, problem: self }
    }

    /// Creates the problem of an unknown value.
    pub fn unknown<'k>(field: &'static str, value: &str, known: impl IntoIterator<Item = &'k str>) -> Self {
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        Self::Unknown { field, value: value.to_owned(), known }
    }
}

/// Decodes the text of a file: UTF-8, with or without a byte-order mark.
///
/// # Errors
/// [`DataProblem::Encoding`] with the line of the first byte that is not UTF-8.
pub fn text(bytes: &[u8]) -> Result<&str, DataError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(DataProblem::Encoding("UTF-16").on(1));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let lines = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        DataProblem::Encoding("GB 18030 or Latin 1").on(u64::try_from(lines).unwrap_or(u64::MAX))
    })
}

/// Parses JSON lines into records with their line numbers; empty lines are skipped.
///
/// # Errors
/// [`DataProblem::Record`] for the first invalid line, with the missing field.
pub fn json_lines<R: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<(u64, R)>, DataError> {
    let lines = (1..).zip(text(bytes)?.lines()).filter(|(_, line)| !line.trim().is_empty());
    let record = |(number, line): (u64, &str)| match serde_json::from_str(line) {
        Ok(record) => Ok((number, record)),
        Err(error) => Err(DataProblem::Record(with_field(line, &error)).on(number)),
    };
    lines.map(record).collect()
}

/// Parses the items of a data file of JSON lines, and validates them by [`checked`]; `item` converts a record.
///
/// # Errors
/// [`DataError`] for the first invalid line, or the first violated rule of [`checked`].
pub fn json_items<R: DeserializeOwned>(
    bytes: &[u8],
    item: impl Fn(R) -> Result<Item, DataProblem>,
) -> Result<Vec<Item>, DataError> {
    let lines = json_lines::<R>(bytes)?.into_iter();
    let items = lines.map(|(number, record)| Ok((number, item(record).map_err(|problem| problem.on(number))?)));
    checked(items.collect::<Result<_, _>>()?)
}

/// Formats a parser error with its field.
fn with_field(line: &str, error: &serde_json::Error) -> String {
    let what = without_place(error);
    match field_at(line, error.column()).filter(|field| !what.contains(&format!("`{field}`"))) {
        Some(field) if error.is_data() && !what.starts_with("missing field") => format!("in `{field}`: {what}"),
        _ => what,
    }
}

/// Returns the field of a line's record whose value is at a column, counted in bytes.
fn field_at(line: &str, column: usize) -> Option<String> {
    let (mut depth, mut begun, mut last, mut field) = (0_u32, None, None, None);
    let mut is_escaped = false;
    for (at, byte) in line.bytes().enumerate().take(column) {
        match (begun, byte) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(start), b'"') => (begun, last) = (None, line.get(start..=at)),
            (Some(_), _) => {}
            (None, b'"') => begun = Some(at),
            (None, b'{' | b'[') => depth += 1,
            (None, b'}' | b']') => depth = depth.saturating_sub(1),
            (None, b':') if depth == 1 => field = last,
            (None, _) => {}
        }
    }
    serde_json::from_str(field?).ok()
}

/// Formats a parser error without its "at line 1 column 5": the line is one of many.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => what.to_owned(),
        None => text,
    }
}

/// Finds the lines on which records of a CSV text begin, in order. With CRLF line ends the reader's own position is before the line end of
/// the previous record, and so one line too early.
pub struct RecordLines<'t> {
    text: &'t [u8],
    byte: usize,
    line: u64,
}

impl<'t> RecordLines<'t> {
    /// Starts at the beginning of the text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self { text: text.as_bytes(), byte: 0, line: 1 }
    }

    /// Returns the line of a record by the reader's position, from 1; positions must be in ascending order.
    pub fn at(&mut self, position: Option<&csv::Position>) -> u64 {
        let byte = position.and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(self.byte);
        let byte = byte.clamp(self.byte, self.text.len());
        let newlines = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        self.line += newlines(&self.text[self.byte..byte]);
        self.byte = byte;
        let line_ends = self.text[byte..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line + newlines(&self.text[byte..byte + line_ends])
    }
}

/// Validates items with their lines: there is at least one, their ids are unique, and their turns have text.
///
/// # Errors
/// [`DataError`] for the first violation.
pub fn checked(items: Vec<(u64, Item)>) -> Result<Vec<Item>, DataError> {
    let mut lines: HashMap<String, u64> = HashMap::new();
    for (line, item) in &items {
        if item.id.trim().is_empty() {
            return Err(DataProblem::Empty("the id").on(*line));
        }
        if item.turns.is_empty() || item.turns.iter().any(|turn| turn.question.trim().is_empty()) {
            return Err(DataProblem::Empty("a question").on(*line));
        }
        if let Some(first) = lines.insert(item.id.clone(), *line) {
            return Err(DataProblem::Duplicate { id: item.id.clone(), first }.on(*line));
        }
    }
    if items.is_empty() {
        return Err(DataProblem::NoItems.on(1));
    }
    Ok(items.into_iter().map(|(_, item)| item).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct TestRecord {
        id: u32,
        #[serde(default)]
        texts: Vec<String>,
    }

    #[track_caller]
    fn refused(bytes: &[u8], expected: &str) {
        let error = json_lines::<TestRecord>(bytes).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_mark_line_ends_of_windows_and_empty_lines_do_no_harm() {
        let records = json_lines::<TestRecord>(b"\xef\xbb\xbf{\"id\": 1}\r\n\r\n{\"id\": 2}\r\n").unwrap();
        assert_eq!(records.iter().map(|(line, record)| (*line, record.id)).collect::<Vec<_>>(), [(1, 1), (3, 2)]);
    }

    #[test]
    fn a_bad_field_is_named() {
        let bad = |line: &str| json_lines::<TestRecord>(line.as_bytes()).unwrap_err().problem.to_string();
        for (line, field) in [
            (r#"{"other": {"id": "a\\\": {"}, "id": "one"}"#, "in `id`: invalid type: string \"one\""),
            (r#"{"id": 1, "texts": ["a", 2]}"#, "in `texts`: invalid type: integer `2`"),
            (r#"{"id": -1}"#, "in `id`: invalid value: integer `-1`"),
            (r#"{"texts": []}"#, "suite: missing field `id`"),
        ] {
            assert!(bad(line).contains(field), "{line}: {}", bad(line));
        }
        let good = json_lines::<TestRecord>(br#"{"id": 1, "texts": ["a"]}"#).unwrap();
        assert_eq!((good[0].1.id, good[0].1.texts.len()), (1, 1));
    }

    #[test]
    fn a_bad_line_is_named_with_its_reason() {
        refused(b"{\"id\": 1}\n{\"name\": 2}", "line 2: this is not a record of the suite: missing field `id`");
        refused(
            b"{\"id\": 1}\n{\"id\": \"\xcf\xeb\"}",
            "line 2: the text is not UTF-8 (it may be GB 18030 or Latin 1): convert the file, for example with iconv -t UTF-8",
        );
        refused(
            b"\xff\xfe{\x00",
            "line 1: the text is not UTF-8 (it may be UTF-16): convert the file, for example with iconv -t UTF-8",
        );
    }
}
