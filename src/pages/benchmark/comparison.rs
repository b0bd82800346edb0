//! Comparison of two runs of a suite.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::super::frame::time::time_text;
use super::super::{Page, Section, respond};
use crate::domain::benchmark::analysis::run_comparison::ComparedRuns;
use crate::domain::benchmark::analysis::run_comparison::{CanaryDriftTest, ItemChange, ModelAcrossRuns};
use crate::domain::stats::paired::PairedDifference;
use crate::frame::query_string::escaped;
use crate::infra::storage::BenchRunRow;

/// Maximum number of items listed.
const MAX_LISTED_ITEMS: usize = 50;

/// Runs to choose from, and the comparison of two.
pub struct ComparisonView {
    /// Suite name.
    pub suite: String,
    /// Display name of the suite.
    pub title: String,
    /// Runs of the suite, latest first.
    pub runs: Vec<BenchRunRow>,
    /// Comparison of the two selected runs.
    pub compared: Option<Arc<ComparedRuns>>,
}

#[derive(Template)]
#[template(path = "benchmark_comparison.html")]
struct ComparisonPage<'a> {
    page: Page,
    view: &'a ComparisonView,
}

/// `GET /benchmarks/SUITE/compare`
#[must_use]
pub fn comparison(request: &HttpRequest, view: &ComparisonView) -> HttpResponse {
    let page = Page::new(request, Section::Benchmarks);
    respond(request, StatusCode::OK, &ComparisonPage { page, view })
}

impl ComparisonPage<'_> {
    fn suite(&self) -> String {
        escaped(&self.view.suite)
    }

    /// Formats a run as an option: start time, sample number and models.
    fn run(row: &BenchRunRow) -> String {
        let run = &row.run;
        let round = if run.sample > 1 { format!(" · {}", run.sample) } else { String::new() };
        format!("{}{round} · {}", time_text(run.started_at.0), run.models.join(", "))
    }

    fn is_before(&self, row: &BenchRunRow) -> bool {
        self.view.compared.as_ref().is_some_and(|compared| compared.before.run.id == row.run.id)
    }

    fn is_after(&self, row: &BenchRunRow) -> bool {
        self.view.compared.as_ref().is_some_and(|compared| compared.after.run.id == row.run.id)
    }

    fn difference(row: &ModelAcrossRuns) -> String {
        let text = |found: PairedDifference| {
            let interval = found.interval.map(|interval| format!(" ({:+.2} – {:+.2})", interval.lower, interval.upper));
            format!("{:+.2}{}", found.mean, interval.unwrap_or_default())
        };
        row.difference.map_or_else(|| "–".to_owned(), text)
    }

    fn p(found: &CanaryDriftTest) -> String {
        found.adjusted_p.map_or_else(|| "–".to_owned(), |p| format!("{p:.3}"))
    }

    /// Returns the items with changed scores, by size of the change.
    fn changed(items: &[ItemChange]) -> Vec<&ItemChange> {
        let changed = items.iter().filter(|item| item.difference().is_some_and(|difference| difference != 0.0));
        changed.take(MAX_LISTED_ITEMS).collect()
    }

    fn score(score: &Option<f64>) -> String {
        score.map_or_else(|| "–".to_owned(), |score| format!("{score:.2}"))
    }

    fn item_address(&self, item: &ItemChange) -> String {
        let after = self.view.compared.as_ref().map(|compared| &compared.after.run);
        let sample = after.map_or(1, |run| run.sample);
        format!("/benchmarks/{}/items/{}?sample={sample}", self.suite(), escaped(&item.item))
    }
}
