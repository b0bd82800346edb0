//! Why a benchmark cannot be run or read.

use crate::domain::benchmark::SuiteError;
use crate::formats::records::BenchFileError;
use crate::infra::single_flight::FlightError;
use crate::infra::storage::StoreError;
use crate::render::report::benchmark::suite_results::NotCompared;

/// Why a benchmark cannot be run or read.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No such suite, or not with these options.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// The suite has data, and no file of it begins like this.
    #[error("suite {suite} has no data whose SHA-256 begins with {wanted:?}: it has {known}")]
    NoSuchData {
        /// The suite.
        suite: String,
        /// The beginning that was asked for.
        wanted: String,
        /// The beginnings of those that are here.
        known: String,
    },
    /// The suite has no data yet.
    #[error("suite {suite} has no data here: import its file with `langya import suite {suite} FILE`")]
    NoData {
        /// The suite.
        suite: String,
    },
    /// The suite judges without references, so no model's answers can be taken for them.
    #[error("suite {suite} judges without references: leave --references out")]
    NoReferences {
        /// The suite.
        suite: String,
    },
    /// The model whose answers should be the references has none.
    #[error(
        "model {model} has no answers to suite {suite} that could be its references: run `langya bench answer {suite} --models {model}`"
    )]
    NoAnswers {
        /// The suite.
        suite: String,
        /// The model.
        model: String,
    },
    /// The model has no answers.
    #[error("model {model} has no answers to suite {suite}: run `langya bench answer {suite} --models {model}`")]
    Unanswered {
        /// The suite.
        suite: String,
        /// The model.
        model: String,
    },
    /// Nothing was judged in this way or round.
    #[error(
        "suite {suite} was not judged with variant {variant:?} in round {sample}: choose a variant and round that its page lists"
    )]
    NotJudged {
        /// The suite.
        suite: String,
        /// How.
        variant: String,
        /// Which round of answers.
        sample: u32,
    },
    /// The model that others should be compared with has no judgements.
    #[error(transparent)]
    NotCompared(#[from] NotCompared),
    /// No run, or several, have an id that ends like this.
    #[error("no single run has an id that ends in {id:?}: `langya bench runs` lists them")]
    NoRun {
        /// What was asked for.
        id: String,
    },
    /// Runs of different suites have no items in common.
    #[error("one run is of suite {one}, the other of {other}: name two runs of one suite")]
    OtherSuite {
        /// The suite of the first.
        one: String,
        /// The suite of the second.
        other: String,
    },
    /// A file cannot be used; nothing of it was.
    #[error(transparent)]
    File(#[from] BenchFileError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The shared computation failed or was not started.
    #[error(transparent)]
    Shared(#[from] FlightError<Self>),
    /// The thread that computes died.
    #[error("the thread of the scores ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl BenchError {
    /// Whether the database has an outage, which is in the log already.
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
