//! Errors of runs over suites.

use std::fmt;

use crate::benchmark::error::BenchError;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::runs::participants::ParticipantsError;
use crate::infra::storage::StoreError;

/// Role of a model in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunRole {
    /// A model that answers.
    Model,
    /// A judge.
    Judge,
}

impl fmt::Display for RunRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            Self::Judge => "judge",
        })
    }
}

/// Error of starting or continuing a run over suites.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The model is not configured.
    #[error("there is no model {:?}: the settings have {}", .model.as_str(), joined(.known))]
    UnknownModel {
        /// Its id.
        model: ModelId,
        /// Configured models.
        known: Vec<ModelId>,
    },
    /// The cost is limited, and the model has no prices.
    #[error(
        "model {:?} has no prices, so no budget can be kept: set input_price and output_price under [[models]], or limit the \
         requests instead (--max-calls)", .model.as_str()
    )]
    NoPrices {
        /// Id of the model.
        model: ModelId,
    },
    /// Batches are requested, and the model's provider has none.
    #[error(
        "model {:?} cannot be asked in batches, because its provider has no batches: leave --batch (in a plan, `batch`) out, or run \
         the others with it and this one alone", .model.as_str()
    )]
    NoBatches {
        /// Id of the model.
        model: ModelId,
    },
    /// A participant is named twice, and would be paid for twice.
    #[error("{role} {name} is named twice: name each one once")]
    NamedTwice {
        /// Role.
        role: RunRole,
        /// Name.
        name: String,
    },
    /// The participants do not fit the suite.
    #[error("suite {suite}: {error}")]
    Participants {
        /// Name of the suite.
        suite: String,
        /// Reason.
        error: ParticipantsError,
    },
    /// The suite takes no baseline.
    #[error("suite {suite} uses no baseline: leave --baseline out")]
    NeedsNoBaseline {
        /// Name of the suite.
        suite: String,
    },
    /// The suite takes no judges.
    #[error("suite {suite} is scored without a judge: leave --judge out")]
    NeedsNoJudge {
        /// Name of the suite.
        suite: String,
    },
    /// There are no answers to judge yet.
    #[error("suite {suite} has no answers to judge: run `langya bench answer {suite}`")]
    NothingToJudge {
        /// Name of the suite.
        suite: String,
    },
    /// Every model is a judge or the baseline.
    #[error("suite {suite} has no model left that answers: name a model that is neither judge nor baseline")]
    NoModelLeft {
        /// Name of the suite.
        suite: String,
    },
    /// No suite has data.
    #[error("no suite has data here: import files with `langya import suite NAME FILE`")]
    NoSuites,
    /// Another run, of this or another process, holds the suite.
    #[error(
        "another langya runs suite {suite} on this database: wait until it ends, or stop it. A plan that was started on the \
         admin page is stopped by `langya bench stop`"
    )]
    SuiteTaken {
        /// Name of the suite.
        suite: String,
    },
    /// The suite cannot be loaded.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Bench(error.into())
    }
}

impl RunError {
    /// Whether the database is unavailable, which is logged already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Bench(error) if error.is_outage())
    }
}

fn joined(ids: &[ModelId]) -> String {
    ids.iter().map(ModelId::as_str).collect::<Vec<_>>().join(", ")
}
