//! Cache of suite scores, by suite and judge.

use std::collections::HashMap;
use std::sync::Arc;

use super::{SuiteSeries, SuiteUsed};

/// Scores of suites by all judges or by one, with resampled items.
#[derive(Clone, Default)]
pub struct SuiteCache(HashMap<String, HashMap<Option<String>, Arc<SuiteSeries>>>);

impl SuiteCache {
    /// Returns the scores of a suite by one judge, or by all if `judge` is `None`; `None` if they were not read.
    #[must_use]
    pub fn get(&self, suite: &str, judge: Option<&str>) -> Option<&Arc<SuiteSeries>> {
        self.0.get(suite)?.get(&judge.map(str::to_owned))
    }

    /// Stores the scores of a suite.
    pub fn insert(&mut self, suite: &str, judge: Option<&str>, scores: Arc<SuiteSeries>) {
        self.0.entry(suite.to_owned()).or_default().insert(judge.map(str::to_owned), scores);
    }

    /// Returns the provenance of the scores, by suite and judge.
    #[must_use]
    pub fn used(&self) -> Vec<SuiteUsed> {
        let mut used: Vec<SuiteUsed> =
            self.0.values().flat_map(HashMap::values).map(|scores| scores.used.clone()).collect();
        used.sort_by(|one, other| (&one.suite, &one.judge).cmp(&(&other.suite, &other.judge)));
        used
    }
}
