//! HTML of a report: the fragment for pages, and a self-contained file.

use askama::Template;

use super::CampaignDocument;
use crate::domain::language::Language;
use crate::i18n::campaign_report::{CampaignReportTexts, campaign_report_texts};
use crate::report::file::{FileContent, file as report_file};

#[derive(Template)]
#[template(path = "_parts/campaign_report.html")]
struct CampaignReportBody<'d> {
    document: &'d CampaignDocument,
    words: &'static CampaignReportTexts,
}

/// Renders facts, notes, tables and charts for a page that has the styles.
///
/// # Errors
/// [`askama::Error`] if rendering fails.
pub fn body(document: &CampaignDocument, language: Language) -> askama::Result<String> {
    CampaignReportBody { document, words: campaign_report_texts(language) }.render()
}

/// Renders a self-contained file with styles and charts.
///
/// # Errors
/// The same as for [`body`].
pub fn file(document: &CampaignDocument, language: Language) -> askama::Result<String> {
    let body = body(document, language)?;
    report_file(FileContent { title: &document.title, facts: Vec::new(), body }, language)
}
