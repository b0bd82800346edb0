//! What series were made from, so that a study can say it and another can make the same.

use std::collections::BTreeMap;

use serde::Serialize;

/// What the series of a reader were made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// The votes; none where no series needs them.
    pub votes: Option<VotesUsed>,
    /// Votes that say how satisfied the visitor was, with an intent; none where no series needs them.
    pub satisfied_votes: Option<usize>,
    /// The suites, by name and judge.
    pub suites: Vec<SuiteUsed>,
    /// Where the published series stand, by name.
    pub published: BTreeMap<String, String>,
}

/// The votes that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VotesUsed {
    /// Those that are rated.
    pub rated: usize,
    /// Those that are not, by the rule that leaves them out.
    pub excluded: BTreeMap<String, u64>,
    /// The number of the last one in the log.
    pub last_seq: i64,
}

/// The judgements of a suite that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SuiteUsed {
    /// The suite.
    pub suite: String,
    /// SHA-256 of its data file.
    pub sha256: String,
    /// The file's name.
    pub file: String,
    /// The requested judge; `None` for all judges.
    pub judge: Option<String>,
    /// The judges.
    pub judges: Vec<String>,
    /// How many judgements.
    pub judgements: usize,
    /// Of how many models.
    pub models: usize,
}
