//! Errors of reading files of votes.

use std::fmt;
use std::path::PathBuf;

use crate::domain::rating::votes::vote_log::SelfPlay;
use crate::standard_input::input_name;

/// Maximum number of columns listed in a message.
const MAX_LISTED_COLUMNS: usize = 40;

/// Error of reading a file of votes; no vote of the file is used.
#[derive(Debug, thiserror::Error)]
pub enum VoteFileError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", input_name(.path))]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file has Parquet's signature and is invalid.
    #[error(
        "cannot read the Parquet file {}: {source}; if it was cut off or damaged, fetch or write it again",
        input_name(.path)
    )]
    Parquet {
        /// Its path.
        path: PathBuf,
        /// The parser's error.
        source: parquet::errors::ParquetError,
    },
    /// Its columns are not those of votes.
    #[error("{} has {reason}", input_name(.path))]
    Columns {
        /// The file.
        path: PathBuf,
        /// The missing or duplicate column.
        reason: HeaderError,
    },
    /// A row is not a vote.
    #[error("{} {place}: {reason}", input_name(.path))]
    Row {
        /// The file.
        path: PathBuf,
        /// Position of the row.
        place: FilePosition,
        /// The reason.
        reason: RowError,
    },
}

/// Error in the header of a file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// A required column is missing under all of its known names.
    #[error(
        "no column {0}: it must have model_a, model_b and winner (or left, right and winner), or name them with \
         --model-a, --model-b and --winner"
    )]
    Missing(&'static str),
    /// A column given by a flag is missing.
    #[error("no column {name}: name one of its columns, which are {columns}")]
    NotThere {
        /// The column that the flag names.
        name: String,
        /// The columns of the file; those of one row in a file in which each row names its own.
        columns: String,
    },
    /// Two columns have one name.
    #[error("two columns {0}: take one of them out, or give it another name")]
    Twice(String),
}

impl HeaderError {
    /// Creates the error of a flag that names none of these columns.
    pub(super) fn not_there<'n>(name: &str, columns: impl Iterator<Item = &'n str>) -> Self {
        let columns: Vec<String> = columns.map(|name| shortened(name.trim())).filter(|name| !name.is_empty()).collect();
        let more = match columns.len().saturating_sub(MAX_LISTED_COLUMNS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let listed: Vec<&str> = columns.iter().take(MAX_LISTED_COLUMNS).map(String::as_str).collect();
        Self::NotThere { name: name.to_owned(), columns: listed.join(", ") + &more }
    }
}

/// Position of a row in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePosition {
    /// The line on which it begins, from 1, in a file of lines.
    Line(u64),
    /// Its number among the rows, from 1, in a file without lines.
    Row(u64),
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// Error in one row.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// It is not in the file's format, is not UTF-8 or has another number of fields than the header.
    #[error("{0}")]
    Malformed(String),
    /// A model has no name.
    #[error("column {0} is empty: name the model")]
    NoModel(String),
    /// Both sides are the same model.
    #[error(transparent)]
    SelfPlay(#[from] SelfPlay),
    /// The winner column has an unknown value.
    #[error("unknown winner {0:?}: write model_a, model_b, tie or both_bad")]
    Winner(String),
    /// The winner column has the word for one side, which is the name of the model on the other.
    #[error(
        "the winner {0:?} is side {0} or the model {0:?}, which is on the other side: write model_a or model_b in the column of winners"
    )]
    SideOrModel(String),
    /// The time is neither a number nor a date.
    #[error("{column} is {text:?}: give seconds since 1970 or a date such as 2026-11-21T08:00:00Z")]
    Time {
        /// The time column.
        column: String,
        /// Text of the cell.
        text: String,
    },
    /// The times are whole numbers without a unit.
    #[error(
        "{column} holds whole numbers and the file does not say whether they count seconds, milliseconds or days: write \
         it as a timestamp, as a date, or as seconds with a fraction"
    )]
    TimeUnit {
        /// The time column.
        column: String,
    },
    /// A count, a probability or a length is not a number.
    #[error("{column} is {text:?}: give a number")]
    Number {
        /// The column.
        column: String,
        /// Text of the cell.
        text: String,
    },
    /// A number is outside of its column's range.
    #[error("{column} is {text:?}: give {range}")]
    Range {
        /// The column.
        column: String,
        /// Text of the cell.
        text: String,
        /// The accepted range.
        range: &'static str,
    },
    /// The flag for a rated vote, or for hidden models, is neither true nor false.
    #[error("{column} is {text:?}: write true or false")]
    Flag {
        /// The column.
        column: String,
        /// Text of the cell.
        text: String,
    },
}

impl RowError {
    /// The name under which skipped rows are counted.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::NoModel(_) => "no_model",
            Self::SelfPlay(_) => "self_play",
            Self::Winner(_) => "unknown_winner",
            Self::SideOrModel(_) => "ambiguous_winner",
            Self::Time { .. } | Self::TimeUnit { .. } => "bad_time",
            Self::Number { .. } | Self::Range { .. } => "bad_number",
            Self::Flag { .. } => "bad_flag",
        }
    }
}

/// Truncates a text for a message.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
