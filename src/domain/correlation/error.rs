//! Why series cannot be compared.

use crate::rating::FitError;
use crate::stats::convex_mixture::MixtureError;

/// Why series cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// An unknown name.
    #[error(
        "the series {0:?} is unknown: write arena:rating, arena:elo or arena:win_tie_rate and after a colon a slice such as \
         language=English, arena:satisfaction, verdicts:JUDGE, campaign:ID, campaign:ID:QUESTION, campaign:ID@JUDGE, bench:SUITE, \
         bench:SUITE@JUDGE or bench:SUITE:PART, published:ID or published:ID:PART, or a column of the table"
    )]
    Unknown(String),
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
    /// A suite or a published series has no such part.
    #[error("{series} has no part {part:?}: expected one of {known}")]
    Part {
        /// The suite or series.
        series: String,
        /// The requested name.
        part: String,
        /// What there is.
        known: String,
    },
    /// Two names of a series are one model by the alias table.
    #[error(
        "{series} has both {one:?} and {other:?}, which the aliases call {model:?}: remove one of them from the aliases"
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
    /// A series that takes part twice.
    #[error("the series {0:?} is listed twice: name it once")]
    Twice(String),
    /// The series have no best mixture.
    #[error(transparent)]
    Mixture(#[from] MixtureError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
}

impl SeriesError {
    /// Whether the user gave something that cannot be used.
    #[must_use]
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Fit(_))
    }
}
