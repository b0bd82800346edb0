//! Errors of `langya fit`.

use crate::domain::rating::FitError;
use crate::domain::rating::votes::slice::SliceError;
use crate::domain::stats::confidence::InvalidConfidence;
use crate::error::CommandFailure;
use crate::formats::StandardInputTwice;
use crate::formats::table_error::TableFileError;
use crate::formats::votes::VoteFileError;
use crate::output::charts::ChartsError;

/// Error of `langya fit`.
#[derive(Debug, thiserror::Error)]
pub enum FitCommandError {
    /// A vote file cannot be read.
    #[error(transparent)]
    Votes(#[from] VoteFileError),
    /// The votes cannot be fitted with these options.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The confidence level is not between 0 and 1.
    #[error(transparent)]
    Confidence(#[from] InvalidConfidence),
    /// No vote matches the slice.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// The charts cannot be drawn or written.
    #[error(transparent)]
    Charts(#[from] ChartsError),
    /// The file of prices or makers is invalid.
    #[error(transparent)]
    Table(#[from] TableFileError),
    /// More than one file is standard input.
    #[error(transparent)]
    StandardInput(#[from] StandardInputTwice),
    /// The anchor is not MODEL=RATING.
    #[error("--anchor is {0:?}: write MODEL=RATING, for example gpt-4=1200")]
    Anchor(String),
    /// Online Elo does not support the option.
    #[error("{0} is for Bradley–Terry ratings: leave it out, or leave out --method elo")]
    EloOption(&'static str),
    /// The range ends before it begins.
    #[error("--since is not before --until: no vote can lie between them")]
    EmptyRange,
    /// Anytime-valid intervals need a standard error.
    #[error(
        "--sequential needs Bradley–Terry ratings with standard errors: leave out --method elo, --interval bootstrap and \
         --interval none"
    )]
    SequentialInterval,
    /// The margin of equality is not a valid width.
    #[error("--equal-within is {0}: give a number of rating points that is not negative, for example 20")]
    EqualWithin(f64),
}

impl CommandFailure for FitCommandError {
    fn is_input(&self) -> bool {
        match self {
            Self::Votes(error) => error.is_input(),
            Self::Charts(error) => error.is_input(),
            Self::Table(error) => error.is_input(),
            _ => true,
        }
    }
}
