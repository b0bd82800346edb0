//! Why a benchmark cannot be run or read.

use crate::domain::benchmark::SuiteError;
use crate::formats::records::BenchFileError;
use crate::infra::single_flight::FlightError;
use crate::infra::storage::StoreError;
use crate::render::report::benchmark::suite_results::NotCompared;

/// Error of running or reading a benchmark.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Unknown suite, or options that it does not support.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// No data file of the suite has a SHA-256 with this prefix.
    #[error("suite {suite} has no data whose SHA-256 begins with {wanted:?}: it has {known}")]
    NoSuchData {
        /// Name of the suite.
        suite: String,
        /// Requested prefix.
        wanted: String,
        /// Prefixes of the stored files.
        known: String,
    },
    /// The suite has no data yet.
    #[error("suite {suite} has no data here: import its file with `langya import suite {suite} FILE`")]
    NoData {
        /// Name of the suite.
        suite: String,
    },
    /// The suite judges without references, so no model's answers can be used as such.
    #[error("suite {suite} judges without references: leave --references out")]
    NoReferences {
        /// Name of the suite.
        suite: String,
    },
    /// The model chosen for references has no answers.
    #[error(
        "model {model} has no answers to suite {suite} that could be its references: run `langya bench answer {suite} --models {model}`"
    )]
    NoAnswers {
        /// Name of the suite.
        suite: String,
        /// Id of the model.
        model: String,
    },
    /// The model has no answers.
    #[error("model {model} has no answers to suite {suite}: run `langya bench answer {suite} --models {model}`")]
    Unanswered {
        /// Name of the suite.
        suite: String,
        /// Id of the model.
        model: String,
    },
    /// No judgements exist for this variant and round.
    #[error(
        "suite {suite} was not judged with variant {variant:?} in round {sample}: choose a variant and round that its page lists"
    )]
    NotJudged {
        /// Name of the suite.
        suite: String,
        /// Variant of the options.
        variant: String,
        /// Round of answers.
        sample: u32,
    },
    /// The baseline model has no judgements.
    #[error(transparent)]
    NotCompared(#[from] NotCompared),
    /// No run, or several, have an id with this suffix.
    #[error("no single run has an id that ends in {id:?}: `langya bench runs` lists them")]
    NoRun {
        /// Requested suffix.
        id: String,
    },
    /// Runs of different suites have no items in common.
    #[error("one run is of suite {one}, the other of {other}: name two runs of one suite")]
    OtherSuite {
        /// Suite of the first run.
        one: String,
        /// Suite of the second run.
        other: String,
    },
    /// Invalid file; nothing of it was imported.
    #[error(transparent)]
    File(#[from] BenchFileError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The shared computation failed or was not started.
    #[error(transparent)]
    Shared(#[from] FlightError<Self>),
    /// The computing thread panicked.
    #[error("the thread of the scores ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl BenchError {
    /// Whether the database is unavailable, which is logged already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_outage(),
            Self::Shared(error) => error.cause().is_some_and(Self::is_outage),
            _ => false,
        }
    }

    /// Whether the requested data does not exist.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Suite(_)
            | Self::NoData { .. }
            | Self::NoSuchData { .. }
            | Self::NoReferences { .. }
            | Self::NoAnswers { .. }
            | Self::Unanswered { .. }
            | Self::NotJudged { .. }
            | Self::NotCompared(_)
            | Self::NoRun { .. }
            | Self::OtherSuite { .. } => true,
            Self::Shared(error) => error.cause().is_some_and(Self::is_missing),
            Self::File(_) | Self::Store(_) | Self::Thread(_) => false,
        }
    }
}
