//! The plan of a benchmark run and its outcome.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judgement::Status;
use crate::battle::ModelId;
use crate::judging::budget::Tokens;

/// The requests that a run would send to one model or judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequestPlan {
    /// The model or judge.
    pub model: ModelId,
    /// Requests to send if none fails.
    pub calls: u64,
    /// Requests done before.
    pub done: u64,
    /// Estimated tokens of the requests to send.
    pub tokens: Tokens,
    /// Estimated cost; `None` without prices.
    pub cost: Option<f64>,
}

impl RequestPlan {
    /// A plan without requests.
    #[must_use]
    pub fn nothing(model: ModelId) -> Self {
        Self { model, calls: 0, done: 0, tokens: Tokens::default(), cost: None }
    }

    /// Adds a request with its estimated tokens.
    pub fn add(&mut self, input: u64, output: u64) {
        self.calls += 1;
        self.tokens.input += input;
        self.tokens.output += output;
    }
}

/// The outcome of a run for one model or judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunOutcome {
    /// The model or judge.
    pub model: ModelId,
    /// Number of results due.
    pub total: u64,
    /// Results stored before this run.
    pub before: u64,
    /// Results stored by this run.
    pub kept: u64,
    /// Of these, answers to an identical request that were reused without sending it.
    pub reused: u64,
    /// Results that are never to be had, for the provider refuses the request; of earlier runs too.
    pub refused: u64,
    /// Failures by reason.
    pub failed: BTreeMap<String, u64>,
}

impl RunOutcome {
    /// No results yet.
    #[must_use]
    pub fn new(model: ModelId) -> Self {
        Self { model, total: 0, before: 0, kept: 0, reused: 0, refused: 0, failed: BTreeMap::new() }
    }

    /// Counts a failed request.
    pub fn fail(&mut self, reason: String) {
        *self.failed.entry(reason).or_default() += 1;
    }

    /// Counts a stored judgement. A transport failure stays open, so the next run retries it.
    pub fn ended(&mut self, status: Status) {
        match status {
            Status::TransportFailed => {}
            Status::Ok => self.kept += 1,
            failed => {
                self.kept += 1;
                *self.failed.entry(failed.as_str().to_owned()).or_default() += 1;
            }
        }
    }

    /// The failures in words; empty if there are none.
    #[must_use]
    pub fn failures(&self) -> String {
        let failures = self.failed.iter().map(|(reason, count)| format!("{count} × {reason}"));
        failures.collect::<Vec<_>>().join("; ")
    }

    /// Number of results that are still missing and can be had.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.total.saturating_sub(self.before + self.kept + self.refused)
    }
}
