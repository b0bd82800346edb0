//! A data file of a suite, with what models and judges have done over it.

use std::collections::{BTreeMap, BTreeSet};

use super::judgement::Status;
use super::record::{BenchSuiteRow, JudgedGroup};
use super::run_selector::RunSelector;
use super::score::Coverage;
use super::suite_options::split_references;
use crate::time::Timestamp;

/// A data file of a suite, with what was done over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteSummary {
    /// The file.
    pub suite: BenchSuiteRow,
    /// Rounds of answers, each with how many there are by model.
    pub answered: BTreeMap<u32, BTreeMap<String, u64>>,
    /// Number of judgements by judge, model and status.
    pub judged: Vec<JudgedGroup>,
    /// When the latest judgement was stored.
    pub latest: Option<Timestamp>,
}

impl SuiteSummary {
    /// The models that have answers.
    #[must_use]
    pub fn models(&self) -> BTreeSet<&str> {
        self.answered.values().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }

    /// The judges.
    #[must_use]
    pub fn judges(&self) -> BTreeSet<&str> {
        self.judged.iter().map(|group| group.judge.as_str()).filter(|judge| !judge.is_empty()).collect()
    }

    /// Judgements with a verdict, and all.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let count = |ok: &dyn Fn(&JudgedGroup) -> bool| {
            self.judged.iter().filter(|group| ok(group)).map(|group| group.count).sum()
        };
        Coverage { ok: count(&|group| group.status == Status::Ok), total: count(&|_| true) }
    }

    /// Whether there is anything to show: judgements like this or beside a model's answers, or answers of this round.
    #[must_use]
    pub fn has(&self, way: &RunSelector) -> bool {
        let base = |variant: &str| split_references(variant).0 == way.variant;
        let judged =
            |group: &JudgedGroup| group.sample == way.sample && (group.variant == way.variant || base(&group.variant));
        let plain = way.variant.is_empty() && (way.sample == 1 || self.answered.contains_key(&way.sample));
        plain || self.judged.iter().any(judged)
    }
}
