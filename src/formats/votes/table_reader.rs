//! Reads chosen columns of a table as texts, from every format of vote files: CSV, TSV, JSON lines, a JSON array and Parquet,
//! compressed or not.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use csv::ByteRecord;
use serde_json::{Map, Value};

use super::cell_value::Cell;
use super::delimited::{csv_reader, first_line, malformed, utf8_error};
use super::error::{FilePosition, HeaderError, RowError, VoteFileError};
use super::format_detection::{Text, VoteFile};
use super::limits::ReadLimits;
use super::text_table::{TextTable, chosen};
use super::{json, parquet};
use crate::domain::csv_injection::restored;
use crate::standard_input::open_input;

/// Maximum bytes of text; a table is held in memory.
const MAX_TEXT_BYTES: u64 = 1 << 30;

/// Reads the columns that have one of these names; `-` is the standard input. A row that lacks a value has an empty text there.
///
/// # Errors
/// [`VoteFileError`] for the first problem.
pub(crate) fn read_table(path: &Path, names: &[&str]) -> Result<TextTable, VoteFileError> {
    // Compressed text is bounded like plain text, by `read_limited`.
    let limits = ReadLimits { decompressed_bytes: MAX_TEXT_BYTES + 1, ..ReadLimits::default() };
    let unreadable = |source| VoteFileError::Unreadable { path: path.to_owned(), source };
    let row = |(place, reason)| VoteFileError::Row { path: path.to_owned(), place, reason };
    match open_input(path).and_then(|file| VoteFile::open(file, limits)).map_err(unreadable)? {
        VoteFile::Delimited(text, delimiter) => {
            let bytes = read_limited(text).map_err(unreadable)?;
            of_delimited(&bytes, delimiter, names).map_err(row)
        }
        VoteFile::Lines(text) => of_lines(&read_limited(text).map_err(unreadable)?, names).map_err(row),
        VoteFile::Array(text) => of_array(&read_limited(text).map_err(unreadable)?, names).map_err(row),
        VoteFile::Parquet(file) => parquet::read_table(file, path, names, limits),
    }
}

fn read_limited(text: Text) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    text.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        let reason = format!("it has more than {MAX_TEXT_BYTES} bytes of text: split it, or give it as Parquet");
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, reason));
    }
    Ok(bytes)
}

/// A row that cannot be read.
type BadRow = (FilePosition, RowError);

fn of_delimited(bytes: &[u8], delimiter: u8, names: &[&str]) -> Result<TextTable, BadRow> {
    let mut reader = csv_reader(bytes, delimiter);
    let mut record = ByteRecord::new();
    let header = FilePosition::Line(1);
    reader.read_byte_record(&mut record).map_err(|error| (header, malformed(&error)))?;
    let width = record.len();
    let head = record.iter().map(std::str::from_utf8).collect::<Result<Vec<_>, _>>();
    let head = head.map_err(|_| (header, utf8_error()))?;
    let kept: Vec<(usize, String)> = chosen(head.iter().map(|name| name.trim()), names);
    if let Some(name) = find_duplicate_column(&kept) {
        return Err((header, RowError::Malformed(HeaderError::Twice(name.to_owned()).to_string())));
    }
    let mut rows = Vec::new();
    loop {
        let next = FilePosition::Line(reader.position().line());
        let more = reader.read_byte_record(&mut record).map_err(|error| (next, malformed(&error)))?;
        if !more {
            break;
        }
        let place = record.position().map_or(next, |begin| FilePosition::Line(first_line(bytes, begin)));
        if record.len() != width {
            let reason =
                format!("{} fields where the header has {width}: quote fields that hold a comma", record.len());
            return Err((place, RowError::Malformed(reason)));
        }
        let text =
            |at: usize| std::str::from_utf8(record.get(at).unwrap_or_default()).map(|text| restored(text).to_owned());
        let cells = kept.iter().map(|(at, _)| text(*at)).collect::<Result<_, _>>();
        rows.push((place, cells.map_err(|_| (place, utf8_error()))?));
    }
    Ok(TextTable { columns: kept.into_iter().map(|(_, name)| name).collect(), rows })
}

/// Finds a duplicate column name, which is ambiguous.
fn find_duplicate_column(columns: &[(usize, String)]) -> Option<&str> {
    let mut seen = HashSet::new();
    columns.iter().map(|(_, name)| name.as_str()).find(|name| !seen.insert(*name))
}

fn of_lines(bytes: &[u8], names: &[&str]) -> Result<TextTable, BadRow> {
    let mut objects = Vec::new();
    for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if !text.trim_ascii().is_empty() {
            let place = FilePosition::Line(line);
            let object: Map<String, Value> =
                serde_json::from_slice(text).map_err(|error| (place, json::malformed("not a JSON object", &error)))?;
            objects.push((place, object));
        }
    }
    Ok(of_objects(&objects, names))
}

fn of_array(bytes: &[u8], names: &[&str]) -> Result<TextTable, BadRow> {
    let objects: Vec<Map<String, Value>> = serde_json::from_slice(bytes).map_err(|error| {
        let line = u64::try_from(error.line()).unwrap_or(u64::MAX);
        (FilePosition::Line(line), json::malformed("not an array of objects", &error))
    })?;
    let objects: Vec<_> = (1..).map(FilePosition::Row).zip(objects).collect();
    Ok(of_objects(&objects, names))
}

/// Builds a table of objects; its columns are those of all objects.
fn of_objects(objects: &[(FilePosition, Map<String, Value>)], names: &[&str]) -> TextTable {
    let used = |name: &&&str| objects.iter().any(|(_, object)| object.contains_key(**name));
    let columns: Vec<String> = names.iter().filter(used).map(|name| (*name).to_owned()).collect();
    let text = |value: Option<&Value>| match value {
        // A conversation; the reader of that column parses it.
        Some(Value::Array(items)) if items.iter().any(Value::is_object) => Value::Array(items.clone()).to_string(),
        value => value.and_then(|value| Cell::Json(value).text()).unwrap_or_default().into_owned(),
    };
    let cells = |object: &Map<String, Value>| columns.iter().map(|column| text(object.get(column))).collect();
    let rows = objects.iter().map(|(place, object)| (*place, cells(object))).collect();
    TextTable { columns, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_text_is_refused_by_what_it_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (bytes, reason) in [
            (&b"SQLite format 3\0\x10\0"[..], "it is an SQLite database"),
            (&b"\xff\xfew\0i\0n\0"[..], "it is UTF-16"),
            (&[0; 100][..], "it is binary data"),
        ] {
            std::fs::write(file.path(), bytes).unwrap();
            let told = read_table(file.path(), &["winner"]).unwrap_err().to_string();
            assert!(told.starts_with("cannot read ") && told.contains(reason), "{told}");
        }
    }

    #[test]
    fn what_is_no_json_is_named_with_its_line_and_what_to_do() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let good = r#"{"item":1,"score":5}"#;
        for (text, reason) in [
            (
                format!("{good}\n{{\"item\":2,\"score\":NaN}}\n"),
                " line 2: not a JSON object: expected value at column 19: JSON knows neither NaN nor Infinity; write a",
            ),
            (
                format!("{good}\n{{\"item\":2,"),
                " line 2: not a JSON object: EOF while parsing a value at column 10: if the file was cut off, fetch it",
            ),
            (format!("[{good},"), " line 1: not an array of objects: EOF while parsing a "),
        ] {
            std::fs::write(file.path(), text).unwrap();
            let told = read_table(file.path(), &["item", "score"]).unwrap_err().to_string();
            assert!(told.contains(reason), "{told}");
        }
    }

    #[test]
    fn a_wanted_column_that_is_there_twice_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "item,score, item,note,note\n1,5,2,x,y\n").unwrap();
        let told = read_table(file.path(), &["item", "score"]).unwrap_err().to_string();
        let expected = " line 1: two columns item: take one of them out, or give it another name";
        assert!(told.ends_with(expected), "{told}");
        assert_eq!(read_table(file.path(), &["score"]).unwrap().columns, ["score"]);
    }
}
