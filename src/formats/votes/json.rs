//! Votes from JSON: one object a line, or one array of objects.
//!
//! Each object names its own columns and may leave some out, so only after all of them were read is known whether votes have times and
//! whether a column given by a flag exists.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::io::BufReader;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde_json::error::Category;

use super::batch::VoteBatch;
use super::cell_value::Cell;
use super::column_names::{Field, Header};
use super::error::{FilePosition, RowError, VoteFileError};
use super::format_detection::Text;
use super::json_fields::{FieldPositions, GivenColumns, JsonFields};
use super::limits::{Allowance, Bounded};
use super::lines::{Blocks, ParsedBlock, Stopped, count_lines, handle_row_result, read_blocks};
use super::{FileVotes, ReadJob, open_webui};

/// Reads a file with one object a line.
pub(super) fn read_lines(job: &ReadJob<'_>, text: Text) -> Result<FileVotes, VoteFileError> {
    let mut blocks = Blocks::new(text, None, job.options.limits);
    let layout = JsonLayout::new(job);
    let mut votes = layout.no_votes();
    let read = read_blocks(&mut blocks, &mut votes, |block| layout.parse_lines(block));
    read.map_err(|stopped| match stopped {
        Stopped::Row(place, reason) => layout.row_error(&votes.given, place, reason),
        unreadable => job.stopped(unreadable),
    })?;
    layout.finish(votes, |line| FilePosition::Line(line + 1))
}

/// Reads a file that is one array.
pub(super) fn read_array(job: &ReadJob<'_>, text: Text) -> Result<FileVotes, VoteFileError> {
    let (text, allowance) = Bounded::by_record(text, job.options.limits);
    let layout = JsonLayout::new(job);
    let given = RefCell::new(layout.no_columns());
    let mut rows = JsonRows { layout: &layout, votes: layout.no_votes(), given, bad: None, allowance };
    let mut reader = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 20, text));
    let read = (&mut rows).deserialize(&mut reader).and_then(|()| reader.end());
    let JsonRows { mut votes, given, bad, .. } = rows;
    votes.given = given.into_inner();
    if let Some(reason) = bad {
        return Err(layout.row_error(&votes.given, FilePosition::Row(votes.current_row), reason));
    }
    if let Err(error) = read {
        let line = u64::try_from(error.line()).unwrap_or(u64::MAX);
        return Err(match error.classify() {
            Category::Io => job.unreadable(error.into()),
            Category::Data => job.row(FilePosition::Line(line), malformed("not an array of objects", &error)),
            _ => job.row(FilePosition::Line(line), malformed("not JSON", &error)),
        });
    }
    layout.finish(votes, FilePosition::Row)
}

/// Error message without serde's line number, which counts within a block; with the remedy.
pub(super) fn malformed(what: &str, error: &serde_json::Error) -> RowError {
    let reason = error.to_string();
    let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
    let is_no_value = ["expected value", "expected ident", "invalid number"].contains(&reason);
    let advice = match error.classify() {
        Category::Eof => ": if the file was cut off, fetch it again",
        Category::Syntax if is_no_value => {
            ": JSON knows neither NaN nor Infinity; write a number, null or a text in quotes"
        }
        _ => "",
    };
    RowError::Malformed(format!("{what}: {reason} at column {}{advice}", error.column()))
}

/// Reader of one file's objects.
struct JsonLayout<'f> {
    job: &'f ReadJob<'f>,
    header: Header,
    positions: HashMap<String, usize>,
}

impl<'f> JsonLayout<'f> {
    fn new(job: &'f ReadJob<'f>) -> Self {
        let (header, positions) = Header::of_any(&job.options.columns);
        Self { job, header, positions }
    }

    /// Creates an empty batch that keeps times, since a later object may have one.
    fn no_votes(&self) -> VoteBatch {
        VoteBatch { given: self.no_columns(), ..VoteBatch::new(self.job.wanted, true) }
    }

    fn no_columns(&self) -> GivenColumns {
        GivenColumns::new(&self.job.options.columns)
    }

    fn fields<'p>(&'p self, given: &'p RefCell<GivenColumns>) -> FieldPositions<'p> {
        FieldPositions { positions: &self.positions, given }
    }

    fn parse_lines(&self, block: &[u8]) -> ParsedBlock {
        let (mut batch, given) = (self.no_votes(), RefCell::new(self.no_columns()));
        let lines = (0..).zip(block.split(|&byte| byte == b'\n'));
        let done = lines.filter(|(_, line)| !line.trim_ascii().is_empty()).try_for_each(|(at, line)| {
            batch.current_row = at;
            let done = self.object(line, &given).and_then(|object| self.add(&mut batch, &object));
            handle_row_result(&mut batch, self.job.options, done, at)
        });
        batch.rows = count_lines(block);
        batch.given = given.into_inner();
        (batch, done)
    }

    fn object(&self, line: &[u8], given: &RefCell<GivenColumns>) -> Result<JsonFields, RowError> {
        let mut reader = serde_json::Deserializer::from_slice(line);
        let fields = self.fields(given).deserialize(&mut reader).and_then(|fields| reader.end().map(|()| fields));
        fields.map_err(|error| malformed("not a JSON object", &error))
    }

    fn add(&self, batch: &mut VoteBatch, object: &JsonFields) -> Result<(), RowError> {
        match open_webui::Feedback::new(object, &self.header) {
            Some(feedback) => feedback.add(batch),
            None => batch.add(object, &self.header),
        }
    }

    /// Error of a bad row; the flag's error if the row lacks a column given by a flag that no row so far has. `given` covers the rows up to
    /// it.
    fn row_error(&self, given: &GivenColumns, place: FilePosition, reason: RowError) -> VoteFileError {
        let lacking = match &reason {
            RowError::NoModel(column) => Some(column.as_str()),
            RowError::Winner(text) if text.is_empty() => self.column(&[Field::Winner]),
            _ => None,
        };
        let missing = lacking.and_then(|lacking| given.missing(|name| name == lacking));
        missing.map_or_else(|| self.job.row(place, reason), |missing| self.job.columns(missing))
    }

    /// Preferred name of the first of these fields that has one.
    fn column(&self, fields: &[Field]) -> Option<&str> {
        fields.iter().find_map(|&field| self.header.one(field)).map(|column| column.name.as_str())
    }

    /// Completes the votes of all rows. If one vote has a time, every vote must have one.
    fn finish(&self, mut votes: VoteBatch, place: impl Fn(u64) -> FilePosition) -> Result<FileVotes, VoteFileError> {
        if let Some(missing) = votes.given.missing(|_| true) {
            return Err(self.job.columns(missing));
        }
        let timed = votes.timed;
        if let Some(row) = votes.first_untimed.filter(|_| timed) {
            let reason = Cell::Empty.no_time(self.column(&[Field::Time, Field::Millis]).unwrap_or_default());
            if !self.job.options.skip_bad {
                return Err(self.job.row(place(row), reason));
            }
            votes.exclude_untimed(reason.kind());
        }
        Ok(FileVotes { votes, timed })
    }
}

/// Parser of an array's votes, object by object.
struct JsonRows<'f> {
    layout: &'f JsonLayout<'f>,
    votes: VoteBatch,
    given: RefCell<GivenColumns>,
    bad: Option<RowError>,
    /// Maximum bytes of the next object.
    allowance: Allowance,
}

impl<'de> DeserializeSeed<'de> for &mut JsonRows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &mut JsonRows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of votes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while let Some(object) = rows.next_element_seed(self.layout.fields(&self.given))? {
            self.votes.rows += 1;
            self.votes.current_row = self.votes.rows;
            self.allowance.renew(self.layout.job.options.limits.line_bytes);
            if let Err(reason) = self.add(&object) {
                self.bad = Some(reason);
                return Err(Error::custom("a row that is not a vote"));
            }
        }
        Ok(())
    }
}

impl JsonRows<'_> {
    fn add(&mut self, object: &JsonFields) -> Result<(), RowError> {
        let done = self.layout.add(&mut self.votes, object);
        handle_row_result(&mut self.votes, self.layout.job.options, done, 0).map_err(|(_, reason)| reason)
    }
}
