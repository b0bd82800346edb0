//! Votes from files: our own log, LMArena's, FastChat's, ComparIA's and Open WebUI's, and any other table with two model
//! columns and a winner column.
//!
//! `format_detection` detects the format of a file: Parquet, JSON lines, one JSON array, or delimited fields, optionally compressed by
//! gzip or zstd. `column_names` maps column names to fields, `cell_value` and `winner` parse their spellings, and `batch` validates each
//! row and appends it to the columns of a [`VoteLog`]; `parquet` reads columns directly. Votes are in the order of the time column if
//! the file has one, otherwise in file order. An invalid row ends the reading with its file, place and reason, unless bad rows are
//! skipped: then they are counted by reason among the excluded votes.

mod batch;
mod cell_value;
mod column_names;
mod delimited;
mod error;
mod format_detection;
mod json;
mod json_fields;
mod limits;
mod lines;
mod open_webui;
mod parquet;
mod table_reader;
mod text_table;
mod winner;

use std::fs::File;
use std::io;
use std::path::Path;

pub use column_names::ColumnNames;
pub use error::{FilePosition, HeaderError, RowError, VoteFileError};
pub(crate) use format_detection::delimiter_of;
pub use limits::ReadLimits;
pub(crate) use table_reader::read_table;
pub(crate) use text_table::TextTable;
pub(crate) use winner::is_short_word;

use crate::domain::rating::votes::vote_log::{ColumnSet, VoteLog};
use crate::standard_input::open_input;
use batch::VoteBatch;
use format_detection::VoteFile;
use lines::Stopped;

/// Options of reading files of votes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Column names given by flags.
    pub columns: ColumnNames,
    /// Whether to skip invalid rows, and count them by reason in [`VoteLog::excluded`].
    pub skip_bad: bool,
    /// Whether to pad short rows of CSV or TSV with empty fields.
    pub pad: bool,
    /// Size limits of lines and decompressed data.
    pub limits: ReadLimits,
}

/// Reads the votes of one or more files; `-` is the standard input. If every file has a time column, the votes of all are sorted
/// together; otherwise each file is sorted on its own and the files are concatenated. A wanted column that no file has is `None`.
///
/// # Errors
/// [`VoteFileError`] for the first problem.
pub fn read_log<P: AsRef<Path>>(
    paths: &[P],
    wanted: ColumnSet,
    options: &ReadOptions,
) -> Result<VoteLog, VoteFileError> {
    let mut total: Option<FileVotes> = None;
    for path in paths {
        let job = ReadJob { path: path.as_ref(), wanted, options };
        let file = job.read(open_input(job.path).map_err(|source| job.unreadable(source))?)?;
        match &mut total {
            None => total = Some(file),
            Some(total) => total.append(file),
        }
    }
    let mut total = total.unwrap_or_else(|| FileVotes { votes: VoteBatch::new(wanted, false), timed: false });
    if total.timed && paths.len() > 1 {
        total.votes.log.sort_by_time();
    }
    Ok(total.votes.into_log(wanted))
}

/// Reads the votes of an open file from its current position, in the order of their times if it has a time column. Errors name it by
/// `path`.
///
/// # Errors
/// [`VoteFileError`] for the first problem.
pub fn read_open_file(
    file: File,
    path: &Path,
    wanted: ColumnSet,
    options: &ReadOptions,
) -> Result<VoteLog, VoteFileError> {
    Ok(ReadJob { path, wanted, options }.read(file)?.votes.into_log(wanted))
}

/// The votes of one file.
struct FileVotes {
    votes: VoteBatch,
    /// Whether they have times.
    timed: bool,
}

impl FileVotes {
    /// Appends a further file. Times are kept only if both files have them.
    fn append(&mut self, mut next: Self) {
        self.timed &= next.timed;
        fill_times(&mut self.votes.log, next.votes.log.seconds.is_some());
        fill_times(&mut next.votes.log, self.votes.log.seconds.is_some());
        self.votes.append(&next.votes);
    }
}

/// Fills the times with NaN if another file has times and this log has none.
fn fill_times(log: &mut VoteLog, other_has: bool) {
    if other_has && log.seconds.is_none() {
        log.seconds = Some(vec![f64::NAN; log.len()]);
    }
}

/// Parameters of reading one file.
struct ReadJob<'j> {
    /// Its name in errors.
    path: &'j Path,
    wanted: ColumnSet,
    options: &'j ReadOptions,
}

impl ReadJob<'_> {
    /// Reads the votes of an open file, in the order of their times if they have any.
    fn read(&self, file: File) -> Result<FileVotes, VoteFileError> {
        let mut file = match VoteFile::open(file, self.options.limits).map_err(|source| self.unreadable(source))? {
            VoteFile::Parquet(file) => parquet::read(self, file),
            VoteFile::Array(text) => json::read_array(self, text),
            VoteFile::Lines(text) => json::read_lines(self, text),
            VoteFile::Delimited(text, delimiter) => delimited::read(self, text, delimiter),
        }?;
        if file.timed {
            file.votes.log.sort_by_time();
        }
        Ok(file)
    }

    fn unreadable(&self, source: io::Error) -> VoteFileError {
        VoteFileError::Unreadable { path: self.path.to_owned(), source }
    }

    fn columns(&self, reason: HeaderError) -> VoteFileError {
        VoteFileError::Columns { path: self.path.to_owned(), reason }
    }

    fn row(&self, place: FilePosition, reason: RowError) -> VoteFileError {
        VoteFileError::Row { path: self.path.to_owned(), place, reason }
    }

    fn stopped(&self, stopped: Stopped) -> VoteFileError {
        match stopped {
            Stopped::Unreadable(source) => self.unreadable(source),
            Stopped::Row(place, reason) => self.row(place, reason),
        }
    }
}

#[cfg(test)]
mod json_tests;
#[cfg(test)]
mod published_formats_tests;
#[cfg(test)]
mod tests;
