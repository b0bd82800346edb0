//! Errors of series and their comparison.

use crate::rating::FitError;
use crate::stats::convex_mixture::MixtureError;

/// Error of reading or comparing series.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// Unknown name.
    #[error(
        "the series {0:?} is unknown: write arena:rating, arena:elo or arena:win_tie_rate and after a colon a slice such as \
         language=English, arena:satisfaction, verdicts:JUDGE, campaign:ID, campaign:ID:QUESTION, campaign:ID@JUDGE, bench:SUITE, \
         bench:SUITE@JUDGE or bench:SUITE:PART, published:ID or published:ID:PART, or a column of the table"
    )]
    Unknown(String),
    /// Series with different subjects.
    #[error(
        "{one} has one number for each of the {one_of} and {other} for each of the {other_of}: they cannot be compared"
    )]
    Subjects {
        /// Name of the first series.
        one: String,
        /// Its subjects.
        one_of: &'static str,
        /// Name of the second series.
        other: String,
        /// Its subjects.
        other_of: &'static str,
    },
    /// A suite or a published series has no such part.
    #[error("{series} has no part {part:?}: expected one of {known}")]
    Part {
        /// Name of the suite or series.
        series: String,
        /// Requested part.
        part: String,
        /// Existing parts.
        known: String,
    },
    /// Two names in a series are aliases of one model.
    #[error(
        "{series} has both {one:?} and {other:?}, which the aliases call {model:?}: remove one of them from the aliases"
    )]
    SameModel {
        /// Name of the series.
        series: String,
        /// First name.
        one: String,
        /// Second name.
        other: String,
        /// Model id.
        model: String,
    },
    /// A series is listed twice.
    #[error("the series {0:?} is listed twice: name it once")]
    Twice(String),
    /// The best mixture is undefined.
    #[error(transparent)]
    Mixture(#[from] MixtureError),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] FitError),
}

impl SeriesError {
    /// Returns whether the user's input is at fault.
    #[must_use]
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Fit(_))
    }
}
