//! HTML of a report: the fragment for the page, and a self-contained file.

use askama::Template;

use super::{Chart, Report};
use crate::domain::language::Language;
use crate::i18n::reports::{ReportTexts, report_texts};
use crate::report::file::{FileContent, file as report_file};

#[derive(Template)]
#[template(path = "_parts/report.html")]
struct SuiteReportBody<'r> {
    report: &'r Report,
    words: &'static ReportTexts,
}

/// Renders notes, tables, charts and analyses for a page that has the styles.
///
/// # Errors
/// [`askama::Error`] if rendering fails.
pub fn body(report: &Report, language: Language) -> askama::Result<String> {
    SuiteReportBody { report, words: report_texts(language) }.render()
}

/// Renders a self-contained file with styles and charts.
///
/// # Errors
/// The same as for [`body`].
pub fn file(report: &Report, language: Language) -> askama::Result<String> {
    let (facts, body) = (report.facts(report_texts(language)), body(report, language)?);
    report_file(FileContent { title: &report.title, facts, body }, language)
}

impl Report {
    /// Facts of the report: labels and values.
    #[must_use]
    pub fn facts(&self, words: &ReportTexts) -> Vec<(&'static str, String)> {
        let judge = match (self.judge.as_str(), self.needs_judge) {
            ("", true) => words.no_judge_yet.to_owned(),
            ("", false) => words.no_judge.to_owned(),
            (judge, _) => judge.to_owned(),
        };
        let mut facts = vec![
            (words.judge, judge),
            (words.judged_on, self.day().unwrap_or_else(|| "–".to_owned())),
            (words.coverage, format!("{}/{}", self.coverage.ok, self.coverage.total)),
            (words.items, self.items.to_string()),
            (words.data, format!("{} · SHA-256 {}", self.source, self.version)),
        ];
        if !self.variant.is_empty() {
            facts.push((words.variant, self.variant.clone()));
        }
        if self.sample != 1 {
            facts.push((words.sample, self.sample.to_string()));
        }
        facts
    }

    fn shown_charts(&self) -> impl Iterator<Item = &Chart> {
        self.charts.iter().filter(|chart| !chart.folded)
    }

    fn folded_charts(&self) -> Vec<&Chart> {
        self.charts.iter().filter(|chart| chart.folded).collect()
    }
}
