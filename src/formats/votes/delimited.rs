//! Votes from CSV and TSV.

use csv::ByteRecord;

use super::batch::VoteBatch;
use super::cell_value::{Cell, FileRow};
use super::column_names::Header;
use super::error::{FilePosition, RowError, VoteFileError};
use super::format_detection::Text;
use super::lines::{Blocks, ParsedBlock, Stopped, count_lines, handle_row_result, read_blocks};
use super::{FileVotes, ReadJob};
use crate::domain::csv_injection::restored;

/// Reads all votes of a file whose first line names its columns.
pub(super) fn read(job: &ReadJob<'_>, text: Text, delimiter: u8) -> Result<FileVotes, VoteFileError> {
    let mut blocks = Blocks::new(text, Some(delimiter), job.options.limits);
    let first = blocks.next().map_err(|source| job.unreadable(source))?.unwrap_or_default();
    let mut reader = csv_reader(&first, delimiter);
    let mut names = ByteRecord::new();
    reader.read_byte_record(&mut names).map_err(|error| job.row(FilePosition::Line(1), malformed(&error)))?;
    let header =
        Header::find(&header_names(job, &names)?, &job.options.columns).map_err(|reason| job.columns(reason))?;
    let begin = usize::try_from(reader.position().byte()).unwrap_or(first.len()).min(first.len());
    let form = DelimitedLayout { job, header: &header, width: names.len(), delimiter };
    let mut votes = VoteBatch::new(job.wanted, header.timed);
    votes.rows = count_lines(&first[..begin]);
    let line_error = |(line, reason)| Stopped::Row(FilePosition::Line(count_lines(&first[..begin]) + line + 1), reason);
    let (batch, done) = form.parse(&first[begin..]);
    votes.append(&batch);
    let all = done.map_err(line_error).and_then(|()| read_blocks(&mut blocks, &mut votes, |block| form.parse(block)));
    all.map_err(|stopped| job.stopped(stopped))?;
    Ok(FileVotes { votes, timed: header.timed })
}

/// Reader of one file's lines.
struct DelimitedLayout<'f> {
    job: &'f ReadJob<'f>,
    header: &'f Header,
    width: usize,
    delimiter: u8,
}

impl DelimitedLayout<'_> {
    fn parse(&self, block: &[u8]) -> ParsedBlock {
        let mut batch = VoteBatch::new(self.job.wanted, self.header.timed);
        let done = self.parse_into(&mut batch, block);
        batch.rows = count_lines(block);
        (batch, done)
    }

    fn parse_into(&self, batch: &mut VoteBatch, block: &[u8]) -> Result<(), (u64, RowError)> {
        let mut reader = csv_reader(block, self.delimiter);
        let mut record = ByteRecord::new();
        loop {
            let next_line = reader.position().line();
            let more = reader.read_byte_record(&mut record).map_err(|error| (next_line - 1, malformed(&error)))?;
            if !more {
                return Ok(());
            }
            let line = record.position().map_or(next_line, |begin| first_line(block, begin)) - 1;
            let done = self.add(batch, &record);
            handle_row_result(batch, self.job.options, done, line)?;
        }
    }

    fn add(&self, batch: &mut VoteBatch, record: &ByteRecord) -> Result<(), RowError> {
        let (fields, columns) = (record.len(), self.width);
        if fields > columns {
            let reason = format!("{fields} fields where the header has {columns}: quote fields that hold a comma");
            return Err(RowError::Malformed(reason));
        }
        if fields < columns && !self.job.options.pad {
            let reason = format!(
                "{fields} fields where the header has {columns}: complete the row, or treat missing fields at the end as \
                 empty with --pad"
            );
            return Err(RowError::Malformed(reason));
        }
        if std::str::from_utf8(record.as_slice()).is_err() {
            return Err(utf8_error());
        }
        batch.add(&LineFields(record), self.header)
    }
}

/// Error of bytes that are not UTF-8.
pub(super) fn utf8_error() -> RowError {
    RowError::Malformed("not UTF-8: save the file as UTF-8".into())
}

/// The fields of one line, which are UTF-8.
struct LineFields<'r>(&'r ByteRecord);

impl FileRow for LineFields<'_> {
    fn cell(&self, at: usize) -> Cell<'_> {
        let text = self.0.get(at).and_then(|field| std::str::from_utf8(field).ok());
        text.map_or(Cell::Empty, |text| Cell::Text(restored(text)))
    }
}

pub(super) fn csv_reader(block: &[u8], delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(block)
}

/// The line of a record's first field. The reader's position is that of the blank lines before it.
pub(super) fn first_line(block: &[u8], begin: &csv::Position) -> u64 {
    let before = usize::try_from(begin.byte()).unwrap_or(block.len());
    let blank = block.iter().skip(before).take_while(|byte| matches!(byte, b'\r' | b'\n'));
    begin.line() + blank.filter(|byte| **byte == b'\n').count() as u64
}

fn header_names<'r>(job: &ReadJob<'_>, names: &'r ByteRecord) -> Result<Vec<&'r str>, VoteFileError> {
    let names = names.iter().map(std::str::from_utf8).collect::<Result<Vec<_>, _>>();
    names.map_err(|_| job.row(FilePosition::Line(1), utf8_error()))
}

pub(super) fn malformed(error: &csv::Error) -> RowError {
    RowError::Malformed(error.to_string())
}
