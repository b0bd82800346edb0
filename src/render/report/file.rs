//! A report as a file of HTML that needs no other: its styles and charts are in it.

use askama::Template;

use crate::domain::language::Language;

const STYLES: [&str; 3] = [
    include_str!("../../../static/style.css"),
    include_str!("../../../static/chart.css"),
    include_str!("../../../static/benchmark.css"),
];

/// What stands in the file.
pub(super) struct FileContent<'c> {
    pub(super) title: &'c str,
    /// What the report is about: labels and values; none where the body says it.
    pub(super) facts: Vec<(&'static str, String)>,
    /// HTML.
    pub(super) body: String,
}

#[derive(Template)]
#[template(path = "report_file.html")]
struct ReportFile<'c> {
    content: FileContent<'c>,
    language: Language,
    styles: String,
}

/// The whole file.
///
/// # Errors
/// [`askama::Error`] where it cannot be written.
pub(super) fn file(content: FileContent<'_>, language: Language) -> askama::Result<String> {
    ReportFile { content, language, styles: STYLES.join("\n") }.render()
}
