//! Why a run over suites cannot begin.

use std::fmt;

use crate::benchmark::error::BenchError;
use crate::domain::battle::ModelId;
use crate::domain::benchmark::participants::ParticipantsError;
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

/// Why a run over suites cannot begin, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A model that the settings do not have.
    #[error("there is no model {:?}: the settings have {}", .model.as_str(), joined(.known))]
    UnknownModel {
        /// Its id.
        model: ModelId,
        /// Those that the settings have.
        known: Vec<ModelId>,
    },
    /// Money is limited, and nobody knows what the model costs.
    #[error(
        "model {:?} has no prices, so no budget can be kept: set input_price and output_price under [[models]], or limit the \
         requests instead (--max-calls)", .model.as_str()
    )]
    NoPrices {
        /// The model.
        model: ModelId,
    },
    /// Batches are to be sent, and the model's provider takes none.
    #[error(
        "model {:?} cannot be asked in batches, because its provider has no batches: leave --batch (in a plan, `batch`) out, or run \
         the others with it and this one alone", .model.as_str()
    )]
    NoBatches {
        /// The model.
        model: ModelId,
    },
    /// Somebody would be asked and paid for twice.
    #[error("{role} {name} is named twice: name each one once")]
    NamedTwice {
        /// As model or as judge.
        role: RunRole,
        /// Who.
        name: String,
    },
    /// The participants do not fit the suite.
    #[error("suite {suite}: {error}")]
    Participants {
        /// The suite.
        suite: String,
        /// Why.
        error: ParticipantsError,
    },
    /// The suite compares with nobody.
    #[error("suite {suite} uses no baseline: leave --baseline out")]
    NeedsNoBaseline {
        /// The suite.
        suite: String,
    },
    /// The suite has no judges.
    #[error("suite {suite} is scored without a judge: leave --judge out")]
    NeedsNoJudge {
        /// The suite.
        suite: String,
    },
    /// There is nothing to judge yet.
    #[error("suite {suite} has no answers to judge: run `langya bench answer {suite}`")]
    NothingToJudge {
        /// The suite.
        suite: String,
    },
    /// Every model is a judge or the baseline.
    #[error("suite {suite} has no model left that answers: name a model that is neither judge nor baseline")]
    NoModelLeft {
        /// The suite.
        suite: String,
    },
    /// No suite has data.
    #[error("no suite has data here: import files with `langya import suite NAME FILE`")]
    NoSuites,
    /// Another process, or another run of this one, asks for the suite at the moment.
    #[error(
        "another langya runs suite {suite} on this database: wait until it ends, or stop it. A plan that was started on the \
         admin page is stopped by `langya bench stop`"
    )]
    SuiteTaken {
        /// The suite.
        suite: String,
    },
    /// The suite cannot be used.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Bench(error.into())
    }
}

impl RunError {
    /// Whether the database has an outage, which is in the log already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Bench(error) if error.is_outage())
    }
}

fn joined(ids: &[ModelId]) -> String {
    ids.iter().map(ModelId::as_str).collect::<Vec<_>>().join(", ")
}
