//! Why a file of votes cannot be used.

use std::fmt;
use std::path::PathBuf;

use crate::domain::rating::vote_log::SelfPlay;
use crate::standard_input::input_name;

/// Columns that a message lists at most.
const MOST_LISTED_COLUMNS: usize = 40;

/// Why a file of votes cannot be used. Nothing of it is, then.
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
    /// The file begins like Parquet and is not.
    #[error(
        "cannot read the Parquet file {}: {source}; if it was cut off or damaged, fetch or write it again",
        input_name(.path)
    )]
    Parquet {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it.
        source: parquet::errors::ParquetError,
    },
    /// Its columns are not those of votes.
    #[error("{} has {reason}", input_name(.path))]
    Columns {
        /// The file.
        path: PathBuf,
        /// Which one is missing or too many.
        reason: HeaderError,
    },
    /// A row is not a vote.
    #[error("{} {place}: {reason}", input_name(.path))]
    Row {
        /// The file.
        path: PathBuf,
        /// Where the row stands.
        place: FilePosition,
        /// What is wrong with it.
        reason: RowError,
    },
}

/// What is wrong with the names of a file's columns.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// A column that every file of votes has, under one of its known names.
    #[error(
        "no column {0}: it must have model_a, model_b and winner (or left, right and winner), or name them with \
         --model-a, --model-b and --winner"
    )]
    Missing(&'static str),
    /// A column that a flag names.
    #[error("no column {name}: name one of its columns, which are {columns}")]
    NotThere {
        /// The column that the flag names.
        name: String,
        /// The columns of the file; of one in which each row names its own, those of a row.
        columns: String,
    },
    /// Two columns have one name.
    #[error("two columns {0}: take one of them out, or give it another name")]
    Twice(String),
}

impl HeaderError {
    /// The error of a flag that names none of these columns.
    pub(super) fn not_there<'n>(name: &str, columns: impl Iterator<Item = &'n str>) -> Self {
        let columns: Vec<String> = columns.map(|name| shortened(name.trim())).filter(|name| !name.is_empty()).collect();
        let more = match columns.len().saturating_sub(MOST_LISTED_COLUMNS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let listed: Vec<&str> = columns.iter().take(MOST_LISTED_COLUMNS).map(String::as_str).collect();
        Self::NotThere { name: name.to_owned(), columns: listed.join(", ") + &more }
    }
}

/// Where a row stands in its file.
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

/// What is wrong with one row.
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
    /// The winner column says something unknown.
    #[error("unknown winner {0:?}: write model_a, model_b, tie or both_bad")]
    Winner(String),
    /// The winner column says the word for one side, which is the name of the model on the other.
    #[error(
        "the winner {0:?} is side {0} or the model {0:?}, which is on the other side: write model_a or model_b in the column of winners"
    )]
    SideOrModel(String),
    /// The time is neither a number nor a date.
    #[error("{column} is {text:?}: give seconds since 1970 or a date such as 2026-11-21T08:00:00Z")]
    Time {
        /// The time column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// The times are whole numbers, and the file does not say of what.
    #[error(
        "{column} holds whole numbers and the file does not say whether they count seconds, milliseconds or days: write \
         it as a timestamp, as a date, or as seconds with a fraction"
    )]
    TimeUnit {
        /// The time column.
        column: String,
    },
    /// A count, a probability or a length is no number.
    #[error("{column} is {text:?}: give a number")]
    Number {
        /// The column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// A number is not among those that its column may have.
    #[error("{column} is {text:?}: give {range}")]
    Range {
        /// The column.
        column: String,
        /// What stands there.
        text: String,
        /// What may stand there.
        range: &'static str,
    },
    /// It does not say whether the vote is rated, or whether the models were hidden.
    #[error("{column} is {text:?}: write true or false")]
    Flag {
        /// The column.
        column: String,
        /// What stands there.
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

/// The beginning of a text, for a message.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
