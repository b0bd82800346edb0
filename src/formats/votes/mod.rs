//! Votes from files: our own log, LMArena's, FastChat's, ComparIA's and Open WebUI's, and any other table with two model
//! columns and a winner column.
//!
//! `format_detection` finds out what a file is: Parquet, lines of JSON, one JSON array, or fields between delimiters, each of them
//! packed by gzip or zstd or not. `column_names` knows the names under which models, winner and the rest stand, `cell_value` and
//! `winner` their spellings, and `batch` checks each row and puts it into the columns of a [`VoteLog`]; Parquet comes in
//! columns already and takes a way of its own (`parquet`). Votes come in the order of the time column where the file has
//! one, else as they stand. A row that cannot be read ends the whole reading with its file, place and reason, unless bad
//! rows are to be skipped: then they are counted by reason among what is excluded.

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

use crate::domain::rating::vote_log::{ColumnSet, VoteLog};
use crate::standard_input::open_input;
use batch::VoteBatch;
use format_detection::VoteFile;
use lines::Stopped;

/// How files are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Names of columns that are not the known ones.
    pub columns: ColumnNames,
    /// Leave out rows that are no votes, and count them by reason in [`VoteLog::excluded`].
    pub skip_bad: bool,
    /// Take the fields that a row of CSV or TSV lacks at its end for empty.
    pub pad: bool,
    /// How large a line and what is unpacked may be.
    pub limits: ReadLimits,
}

/// Reads the votes of one or more files; `-` is the standard input. Where every file has a time column, the votes of all are put in
/// one order; otherwise each file is put in its own order and they follow one another. A wanted column that no file has is `None`.
///
/// # Errors
/// [`VoteFileError`] for the first thing that is wrong.
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

/// Reads the votes of one file that is open, from where it stands, in the order of their times where it has a time column. Errors
/// name it by `path`.
///
/// # Errors
/// [`VoteFileError`] for the first thing that is wrong.
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
    /// Puts a further file behind this one. Times that only one of them has are dropped.
    fn append(&mut self, mut next: Self) {
        self.timed &= next.timed;
        fill_times(&mut self.votes.log, next.votes.log.seconds.is_some());
        fill_times(&mut next.votes.log, self.votes.log.seconds.is_some());
        self.votes.append(&next.votes);
    }
}

/// Where another file has times, votes without any have none by number.
fn fill_times(log: &mut VoteLog, other_has: bool) {
    if other_has && log.seconds.is_none() {
        log.seconds = Some(vec![f64::NAN; log.len()]);
    }
}

/// How a file is read.
struct ReadJob<'j> {
    /// Its name in errors.
    path: &'j Path,
    wanted: ColumnSet,
    options: &'j ReadOptions,
}

impl ReadJob<'_> {
    /// The votes of an open file, in the order of their times where they have any.
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
