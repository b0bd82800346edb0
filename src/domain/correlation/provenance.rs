//! Provenance of series, which makes a study reproducible.

use std::collections::BTreeMap;

use serde::Serialize;

/// Data from which series were computed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Votes; `None` if no series uses them.
    pub votes: Option<VotesUsed>,
    /// Number of votes with a satisfaction and an intent; `None` if no series uses them.
    pub satisfied_votes: Option<usize>,
    /// Suites, by name and judge.
    pub suites: Vec<SuiteUsed>,
    /// Sources of the published series, by name.
    pub published: BTreeMap<String, String>,
}

/// Votes from which series were computed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VotesUsed {
    /// Number of rated votes.
    pub rated: usize,
    /// Number of excluded votes by rule.
    pub excluded: BTreeMap<String, u64>,
    /// Sequence number of the last vote in the log.
    pub last_seq: i64,
}

/// Judgements of a suite from which series were computed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SuiteUsed {
    /// Name of the suite.
    pub suite: String,
    /// SHA-256 of the suite's data file.
    pub sha256: String,
    /// Name of the data file.
    pub file: String,
    /// Requested judge; `None` for the panel, or else for the judge with the most verdicts.
    pub judge: Option<String>,
    /// Judges of the scores.
    pub judges: Vec<String>,
    /// Number of their judgements.
    pub judgements: usize,
    /// Number of judged models.
    pub models: usize,
}
