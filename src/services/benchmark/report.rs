//! The plan of a run and its outcome.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::battle::ModelId;
use crate::domain::benchmark::SuiteError;
use crate::domain::benchmark::judgement::Status;
use crate::formats::records::BenchFileError;
use crate::infra::storage::StoreError;
use crate::services::benchmark::budget::Tokens;
use crate::services::benchmark::model_client::AskError;
use crate::services::single_flight::FlightError;

/// Why a benchmark cannot be run or read as asked.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No such suite, or not with these options.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// The suite has no data yet.
    #[error("suite {suite} has no data here: bring its file with `langya import suite {suite} FILE`")]
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
    /// Nothing was judged in this way or round.
    #[error(
        "suite {suite} was not judged like this (variant {variant:?}, round {sample}): take a way that its page names"
    )]
    NotJudged {
        /// The suite.
        suite: String,
        /// How.
        variant: String,
        /// Which round of answers.
        sample: u32,
    },
    /// A file cannot be used; nothing of it was.
    #[error(transparent)]
    File(#[from] BenchFileError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no result, for all who asked.
    #[error(transparent)]
    Shared(#[from] FlightError<Self>),
    /// The thread that computes died.
    #[error("the thread of the scores ended early")]
    Thread(#[from] tokio::task::JoinError),
}

impl BenchError {
    /// Whether the database is in trouble, of which the log has a line already.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Store(error) => error.is_outage(),
            Self::Shared(error) => error.cause().is_some_and(Self::is_outage),
            _ => false,
        }
    }

    /// Whether something is asked for that is not here.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Suite(_)
            | Self::NoData { .. }
            | Self::NoReferences { .. }
            | Self::NoAnswers { .. }
            | Self::NotJudged { .. } => true,
            Self::Shared(error) => error.cause().is_some_and(Self::is_missing),
            Self::File(_) | Self::Store(_) | Self::Thread(_) => false,
        }
    }
}

/// What a model or a judge would be asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Who.
    pub model: ModelId,
    /// Requests that are left, if none fails.
    pub calls: u64,
    /// What is done already.
    pub done: u64,
    /// Tokens of those requests, about.
    pub tokens: Tokens,
    /// What they cost, about; none without prices.
    pub cost: Option<f64>,
}

impl Plan {
    /// Nothing to ask yet.
    #[must_use]
    pub fn nothing(model: ModelId) -> Self {
        Self { model, calls: 0, done: 0, tokens: Tokens::default(), cost: None }
    }

    /// Counts a request of about so many tokens.
    pub(in crate::services) fn add(&mut self, input: u64, output: u64) {
        self.calls += 1;
        self.tokens.input += input;
        self.tokens.output += output;
    }
}

/// What came of asking one model, or one judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Who was asked.
    pub model: ModelId,
    /// All that there is to ask.
    pub total: u64,
    /// What was kept before this run.
    pub before: u64,
    /// What this run has kept.
    pub kept: u64,
    /// Of that, what the same question had been answered with before, so that nobody was asked.
    pub reused: u64,
    /// What could not be had, by reason.
    pub failed: BTreeMap<String, u64>,
}

impl Outcome {
    /// Nothing yet.
    #[must_use]
    pub fn new(model: ModelId) -> Self {
        Self { model, total: 0, before: 0, kept: 0, reused: 0, failed: BTreeMap::new() }
    }

    /// Counts a failure. A run that ends early has failed at nothing: what it leaves is left.
    pub(in crate::services) fn fail(&mut self, error: &AskError) {
        if !matches!(error, AskError::Stopped | AskError::OverBudget | AskError::GivenUp) {
            *self.failed.entry(error.to_string()).or_default() += 1;
        }
    }

    /// Counts a judgement that is kept. What never came through stays open: the next run asks again.
    pub(in crate::services) fn ended(&mut self, status: Status) {
        match status {
            Status::TransportFailed => {}
            Status::Ok => self.kept += 1,
            failed => {
                self.kept += 1;
                *self.failed.entry(failed.as_str().to_owned()).or_default() += 1;
            }
        }
    }

    /// What could not be had, in words; empty where nothing failed.
    #[must_use]
    pub fn failures(&self) -> String {
        let failures = self.failed.iter().map(|(reason, count)| format!("{count} × {reason}"));
        failures.collect::<Vec<_>>().join("; ")
    }

    /// What nobody was asked yet, or could not be had.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.total.saturating_sub(self.before + self.kept)
    }
}
