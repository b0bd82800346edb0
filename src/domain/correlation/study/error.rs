//! Errors of studies.

use crate::correlation::{AliasError, SeriesError};
use crate::stats::confidence::InvalidConfidence;

/// Error of reading or computing a study.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The file is not a valid study.
    #[error("this is not a study: {0}")]
    Text(String),
    /// The study has no comparisons.
    #[error("the study compares nothing: name two series or more under series, or two at a time under [[pairs]]")]
    Nothing,
    /// A series is listed twice.
    #[error("the series {0} is listed twice: leave one of them out")]
    Twice(String),
    /// A series is compared with itself.
    #[error("the series {0} is compared with itself: name two different ones under [[pairs]]")]
    Itself(String),
    /// Invalid slice expression.
    #[error(
        "invalid slice {0:?}: write language=…, category=…, intent=…, turns=first, turns=multi or long_prompts, or several \
         joined by +"
    )]
    Slice(String),
    /// An invalid step of weights.
    #[error("the step {0} is invalid: give a number between 0.000001 and 1 that divides 1, such as 0.1, or 0")]
    Step(f64),
    /// A series cannot be used.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// The aliases of models are contradictory.
    #[error(transparent)]
    Aliases(#[from] AliasError),
    /// The confidence level is invalid.
    #[error(transparent)]
    Level(#[from] InvalidConfidence),
}

impl StudyError {
    /// Returns whether the user's input is at fault.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            Self::Series(error) => error.is_input(),
            _ => true,
        }
    }
}
