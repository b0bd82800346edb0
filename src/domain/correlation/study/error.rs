//! Why a study cannot be made.

use crate::correlation::{AliasError, SeriesError};
use crate::stats::confidence::InvalidConfidence;

/// Why a study cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The file is no study.
    #[error("this is not a study: {0}")]
    Text(String),
    /// There is nothing to compare.
    #[error("the study compares nothing: name two series or more under series, or two at a time under [[pairs]]")]
    Nothing,
    /// A series is named twice where once is meant.
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
    /// The names of models contradict each other.
    #[error(transparent)]
    Aliases(#[from] AliasError),
    /// The confidence level is none.
    #[error(transparent)]
    Level(#[from] InvalidConfidence),
}

impl StudyError {
    /// Whether the user gave something that cannot be used.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            Self::Series(error) => error.is_input(),
            _ => true,
        }
    }
}
