//! Why there is no such series.

use std::path::PathBuf;

use super::aliases::AliasError;
use crate::rating::FitError;
use crate::rating::slice::SliceError;
use crate::services::benchmark::report::BenchError;
use crate::services::crowd::reports::CrowdError;
use crate::services::vote_log::ReadLogError;
use crate::stats::combination::CombinationError;
use crate::storage::StoreError;

/// Why there is no such series.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// The table cannot be read.
    #[error("{}: {reason}", file.display())]
    Table {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The table has no such column.
    #[error("the table has no column {name:?}: there is {known}")]
    Column {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A name that is none.
    #[error(
        "the series {0:?} is unknown: write arena:rating, arena:elo or arena:win_tie_rate and after a colon a slice such as \
         language=English, arena:satisfaction, verdicts:JUDGE, bench:SUITE, bench:SUITE@JUDGE or bench:SUITE:PART, \
         published:ID or published:ID:PART, or a column of the table"
    )]
    Unknown(String),
    /// A column is asked for, and there is no table.
    #[error("the series {0:?} is a column of a table: name the file with --table, or write arena:rating")]
    NoTable(String),
    /// A series of the arena is asked for where there is no arena.
    #[error("the series {0:?} is read from a database, and there is none here")]
    NoStore(String),
    /// A suite or a published series has no such part.
    #[error("{series} has no part {part:?}: there is {known}")]
    Part {
        /// The suite or series.
        series: String,
        /// What was asked for.
        part: String,
        /// What there is.
        known: String,
    },
    /// Nothing was published under this name.
    #[error("no series {id:?} was published: there is {known}")]
    Published {
        /// What was asked for.
        id: String,
        /// What there is.
        known: String,
    },
    /// A suite that nobody was judged on.
    #[error("nobody has been judged on {suite}{by}: run `langya bench run {suite}` first")]
    NotJudged {
        /// The suite.
        suite: String,
        /// The judge that was asked for, in words.
        by: String,
    },
    /// Nobody has said how satisfied they are.
    #[error("no rated vote says how satisfied the visitor was, with an intent beside it")]
    NoSatisfaction,
    /// Series of different things.
    #[error(
        "{one} has one number for each of the {one_of} and {other} for each of the {other_of}: they cannot be compared"
    )]
    Subjects {
        /// A series.
        one: String,
        /// What it is of.
        one_of: &'static str,
        /// Another one.
        other: String,
        /// What that is of.
        other_of: &'static str,
    },
    /// Two names of a series are one model by the alias table.
    #[error(
        "{series} has both {one:?} and {other:?}, which the aliases call {model:?}: take one of them out of the aliases"
    )]
    SameModel {
        /// The series.
        series: String,
        /// A name.
        one: String,
        /// Another one.
        other: String,
        /// The model.
        model: String,
    },
    /// The series have no best mixture.
    #[error(transparent)]
    Mixture(#[from] CombinationError),
    /// The alias table cannot be used.
    #[error(transparent)]
    Aliases(#[from] AliasError),
    /// The verdicts on battles cannot be read.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// A series that takes part twice.
    #[error("the series {0:?} stands there twice: name it once")]
    Twice(String),
    /// The suite cannot be read.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The votes could not be read.
    #[error(transparent)]
    Votes(#[from] ReadLogError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No vote is of the slice.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The thread died that worked on it.
    #[error("a thread that reckons a series ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl SeriesError {
    /// Whether the user gave something that cannot be used.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            Self::Votes(_) | Self::Store(_) | Self::Fit(_) | Self::Thread(_) => false,
            Self::Bench(error) => error.is_missing(),
            Self::Crowd(error) => matches!(error, CrowdError::NoVerdicts(..)),
            _ => true,
        }
    }

    /// Whether the database is in trouble, of which the log has a line already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_outage(),
            Self::Votes(error) => error.is_outage(),
            Self::Bench(error) => error.is_outage(),
            Self::Crowd(error) => error.is_outage(),
            _ => false,
        }
    }
}
