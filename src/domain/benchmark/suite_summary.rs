//! Summary of a suite's data file, with the answers and judgements so far.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{BenchSuiteRow, JudgedGroup};
use super::runs::run_selector::RunSelector;
use super::scores::judgement::Status;
use super::scores::score::Coverage;
use super::suite_options::split_references;
use crate::time::Timestamp;

/// Data file of a suite with its answers and judgements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteSummary {
    /// Stored data file.
    pub suite: BenchSuiteRow,
    /// Number of answers by round and model.
    pub answered: BTreeMap<u32, BTreeMap<String, u64>>,
    /// Number of judgements by judge, model and status.
    pub judged: Vec<JudgedGroup>,
    /// Time of the latest judgement.
    pub latest: Option<Timestamp>,
}

impl SuiteSummary {
    /// Returns the models that have answers.
    #[must_use]
    pub fn models(&self) -> BTreeSet<&str> {
        self.answered.values().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }

    /// Returns the judges.
    #[must_use]
    pub fn judges(&self) -> BTreeSet<&str> {
        self.judged.iter().map(|group| group.judge.as_str()).filter(|judge| !judge.is_empty()).collect()
    }

    /// Returns the number of judgements with a verdict and of all judgements.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let count = |ok: &dyn Fn(&JudgedGroup) -> bool| {
            self.judged.iter().filter(|group| ok(group)).map(|group| group.count).sum()
        };
        Coverage { ok: count(&|group| group.status == Status::Ok), total: count(&|_| true) }
    }

    /// Whether there are results for a selector: judgements of its variant or with a model's answers as references, or answers of its
    /// round.
    #[must_use]
    pub fn has(&self, way: &RunSelector) -> bool {
        let base = |variant: &str| split_references(variant).0 == way.variant;
        let judged =
            |group: &JudgedGroup| group.sample == way.sample && (group.variant == way.variant || base(&group.variant));
        let plain = way.variant.is_empty() && (way.sample == 1 || self.answered.contains_key(&way.sample));
        plain || self.judged.iter().any(judged)
    }
}
