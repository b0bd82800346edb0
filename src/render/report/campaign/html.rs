//! A report as HTML: the part that pages show, and a file that needs no other.

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

/// Facts, notes, tables and charts, to stand on a page that has the styles.
///
/// # Errors
/// [`askama::Error`] where it cannot be written.
pub fn body(document: &CampaignDocument, language: Language) -> askama::Result<String> {
    CampaignReportBody { document, words: campaign_report_texts(language) }.render()
}

/// A whole file, with its styles and charts in it.
///
/// # Errors
/// As [`body`].
pub fn file(document: &CampaignDocument, language: Language) -> askama::Result<String> {
    let body = body(document, language)?;
    report_file(FileContent { title: &document.title, facts: Vec::new(), body }, language)
}
