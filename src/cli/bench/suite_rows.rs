//! Rows of `langya bench list`.

use serde::Serialize;

use crate::domain::benchmark::suite_summary::SuiteSummary;
use crate::output::table::{TableRow, or_dash, value_or_dash};

/// Output row of a suite with its data.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SuiteRow {
    suite: String,
    data: String,
    source: String,
    items: u64,
    models: usize,
    answers: u64,
    judges: String,
    judged: u64,
    judgements: u64,
    latest: Option<String>,
}

impl SuiteRow {
    pub(super) fn new(summary: &SuiteSummary) -> Self {
        let (coverage, suite) = (summary.coverage(), &summary.suite);
        Self {
            suite: suite.suite.to_string(),
            data: suite.version.chars().take(12).collect(),
            source: suite.source.clone(),
            items: suite.items,
            models: summary.models().len(),
            answers: summary.answered.values().flat_map(|round| round.values()).sum(),
            judges: summary.judges().into_iter().collect::<Vec<_>>().join("+"),
            judged: coverage.ok,
            judgements: coverage.total,
            latest: summary.latest.and_then(day),
        }
    }

    /// Creates the row of a known suite without data.
    pub(super) fn without_data(name: &str) -> Self {
        Self {
            suite: name.to_owned(),
            data: String::new(),
            source: String::new(),
            items: 0,
            models: 0,
            answers: 0,
            judges: String::new(),
            judged: 0,
            judgements: 0,
            latest: None,
        }
    }
}

fn day(at: crate::domain::time::Timestamp) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(at.0).ok()?;
    Some(moment.strftime("%Y-%m-%d").to_string())
}

impl TableRow for SuiteRow {
    const HEADS: &'static [&'static str] =
        &["suite", "data", "items", "models", "answers", "judges", "judged", "latest", "source"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.suite.clone(),
            or_dash(&self.data),
            self.items.to_string(),
            self.models.to_string(),
            self.answers.to_string(),
            or_dash(&self.judges),
            format!("{}/{}", self.judged, self.judgements),
            value_or_dash(self.latest.as_ref()),
            or_dash(&self.source),
        ]
    }
}
