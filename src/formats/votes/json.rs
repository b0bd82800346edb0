//! Votes from JSON: one object a line, or one array of objects.

use super::json_fields::{FieldPositions, JsonFields};
use std::collections::HashMap;
use std::fmt;
use std::io::BufReader;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use super::batch::VoteBatch;
use super::cell::FileRow;
use super::column_names::{Field, Header};
use super::error::{FilePosition, RowError, VoteFileError};
use super::limits::{Allowance, Bounded};
use super::lines::{Blocks, Stopped, count_lines, read_blocks, settle};
use super::source::Text;
use super::{FileVotes, ReadJob, open_webui};

/// Reads a file with one object a line.
pub(super) fn read_lines(job: &ReadJob<'_>, text: Text) -> Result<FileVotes, VoteFileError> {
    let mut blocks = Blocks::new(text, None, job.options.limits);
    let first = blocks.next().map_err(|source| job.unreadable(source))?.unwrap_or_default();
    let form = JsonLayout::of_first(job, &first);
    let mut votes = VoteBatch::new(job.wanted, form.header.timed);
    let parse = |block: &[u8]| form.parse_lines(block);
    let begun = parse(&first).map_err(|(line, reason)| Stopped::Row(FilePosition::Line(line + 1), reason));
    let all = begun.and_then(|batch| {
        votes.append(&batch);
        read_blocks(&mut blocks, &mut votes, parse)
    });
    all.map_err(|stopped| job.stopped(stopped))?;
    Ok(FileVotes { votes, timed: form.header.timed })
}

/// Reads a file that is one array.
pub(super) fn read_array(job: &ReadJob<'_>, text: Text) -> Result<FileVotes, VoteFileError> {
    let (text, allowance) = Bounded::by_record(text, job.options.limits);
    let mut rows = JsonRows { job, form: None, votes: VoteBatch::new(job.wanted, false), bad: None, allowance };
    let mut reader = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 20, text));
    let read = (&mut rows).deserialize(&mut reader).and_then(|()| reader.end());
    if let Some(reason) = rows.bad {
        return Err(job.row(FilePosition::Row(rows.votes.rows), reason));
    }
    if let Err(error) = read {
        let line = u64::try_from(error.line()).unwrap_or(u64::MAX);
        return Err(match error.classify() {
            serde_json::error::Category::Io => job.unreadable(error.into()),
            serde_json::error::Category::Data => {
                job.row(FilePosition::Line(line), malformed("not an array of objects", &error))
            }
            _ => job.row(FilePosition::Line(line), malformed("not JSON", &error)),
        });
    }
    let timed = rows.form.is_some_and(|form| form.header.timed);
    Ok(FileVotes { votes: rows.votes, timed })
}

/// The reason without its line, which stands before it and is another one within a block.
fn malformed(what: &str, error: &serde_json::Error) -> RowError {
    let reason = error.to_string();
    let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
    RowError::Malformed(format!("{what}: {reason} at column {}", error.column()))
}

/// How the objects of one file are read.
struct JsonLayout<'f> {
    job: &'f ReadJob<'f>,
    header: Header,
    positions: HashMap<String, usize>,
}

impl<'f> JsonLayout<'f> {
    /// Whether votes have times is as the first object has it.
    fn of_first(job: &'f ReadJob<'f>, block: &[u8]) -> Self {
        let mut form = Self::new(job, false);
        let first = block.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        form.header.timed = first.and_then(|line| form.object(line).ok()).is_some_and(|object| form.has_time(&object));
        form
    }

    fn new(job: &'f ReadJob<'f>, timed: bool) -> Self {
        let (header, positions) = Header::of_any(&job.options.columns, timed);
        Self { job, header, positions }
    }

    fn has_time(&self, object: &JsonFields) -> bool {
        let mut columns = self.header.all(Field::Time).iter().chain(self.header.all(Field::Millis));
        columns.any(|column| !object.cell(column.at).is_empty())
    }

    fn parse_lines(&self, block: &[u8]) -> Result<VoteBatch, (u64, RowError)> {
        let mut batch = VoteBatch::new(self.job.wanted, self.header.timed);
        for (at, line) in (0..).zip(block.split(|&byte| byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let done = self.object(line).and_then(|object| self.add(&mut batch, &object));
            settle(&mut batch, self.job.options, done, at)?;
        }
        batch.rows = count_lines(block);
        Ok(batch)
    }

    fn object(&self, line: &[u8]) -> Result<JsonFields, RowError> {
        let mut reader = serde_json::Deserializer::from_slice(line);
        let fields =
            FieldPositions(&self.positions).deserialize(&mut reader).and_then(|fields| reader.end().map(|()| fields));
        fields.map_err(|error| malformed("not a JSON object", &error))
    }

    fn add(&self, batch: &mut VoteBatch, object: &JsonFields) -> Result<(), RowError> {
        match open_webui::Feedback::new(object, &self.header) {
            Some(feedback) => feedback.add(batch),
            None => batch.add(object, &self.header),
        }
    }
}

/// The votes of an array, one object after the other.
struct JsonRows<'f> {
    job: &'f ReadJob<'f>,
    form: Option<JsonLayout<'f>>,
    votes: VoteBatch,
    bad: Option<RowError>,
    /// Bytes of the file that the next object may take.
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
        let positions = Header::of_any(&self.job.options.columns, false).1;
        while let Some(object) = rows.next_element_seed(FieldPositions(&positions))? {
            self.votes.rows += 1;
            self.allowance.renew(self.job.options.limits.line_bytes);
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
        let Self { job, form, votes, .. } = self;
        let form = form.get_or_insert_with(|| {
            let mut form = JsonLayout::new(job, false);
            form.header.timed = form.has_time(object);
            let rows = votes.rows;
            *votes = VoteBatch::new(job.wanted, form.header.timed);
            votes.rows = rows;
            form
        });
        let done = form.add(votes, object);
        settle(votes, job.options, done, 0).map_err(|(_, reason)| reason)
    }
}
