//! A benchmark suite on its page and in the API.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::benchmark::suite_summary::SuiteSummary;
use crate::domain::benchmark::{SuiteError, SuiteOptions, suite_of};

/// Data file of a suite, with counts of its results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SuiteCard {
    /// Suite name.
    pub suite: String,
    /// Display name of the suite.
    pub title: String,
    /// SHA-256 of the data file.
    pub version: String,
    /// Name of the data file.
    pub source: String,
    /// Number of items.
    pub items: u64,
    /// Models with answers or judgements.
    pub models: BTreeSet<String>,
    /// Judges of the suite's results.
    pub judges: BTreeSet<String>,
    /// Number of judgements with a verdict.
    pub judged: u64,
    /// Number of all judgements.
    pub judgements: u64,
    /// Time of the latest judgement, in milliseconds since 1970.
    pub judged_at: Option<i64>,
}

impl SuiteCard {
    pub fn new(summary: &SuiteSummary) -> Result<Self, SuiteError> {
        let row = &summary.suite;
        let coverage = summary.coverage();
        let judged = summary.judged.iter().map(|group| group.model.as_str());
        Ok(Self {
            suite: row.suite.to_string(),
            title: suite_of(row, &SuiteOptions::default())?.title().to_owned(),
            version: row.version.clone(),
            source: row.source.clone(),
            items: row.items,
            models: summary.models().into_iter().chain(judged).map(str::to_owned).collect(),
            judges: summary.judges().into_iter().map(str::to_owned).collect(),
            judged: coverage.ok,
            judgements: coverage.total,
            judged_at: summary.latest.map(|latest| latest.0),
        })
    }
}
