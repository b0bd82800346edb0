//! Self-contained HTML file of a report, with styles and charts.

use askama::Template;

use crate::domain::language::Language;

const STYLES: [&str; 3] = [
    include_str!("../../../static/style.css"),
    include_str!("../../../static/chart.css"),
    include_str!("../../../static/benchmark.css"),
];

/// Content of the file.
pub(super) struct FileContent<'c> {
    pub(super) title: &'c str,
    /// Facts of the report: labels and values; empty if the body has them.
    pub(super) facts: Vec<(&'static str, String)>,
    /// HTML of the body.
    pub(super) body: String,
}

#[derive(Template)]
#[template(path = "report_file.html")]
struct ReportFile<'c> {
    content: FileContent<'c>,
    language: Language,
    styles: String,
}

/// Renders the file.
///
/// # Errors
/// [`askama::Error`] if rendering fails.
pub(super) fn file(content: FileContent<'_>, language: Language) -> askama::Result<String> {
    ReportFile { content, language, styles: STYLES.join("\n") }.render()
}
