//! A report as HTML: the part that pages show, and a file that needs no other.

use askama::Template;

use super::CampaignDocument;
use crate::domain::language::Language;
use crate::i18n::campaign_report::{CampaignReportTexts, campaign_report_texts};
use crate::report::benchmark::html::STYLES;

#[derive(Template)]
#[template(path = "_parts/campaign_report.html")]
struct Body<'d> {
    document: &'d CampaignDocument,
    words: &'static CampaignReportTexts,
}

#[derive(Template)]
#[template(path = "campaign_report_file.html")]
struct File<'d> {
    document: &'d CampaignDocument,
    language: Language,
    styles: String,
    body: String,
}

/// Facts, notes, tables and charts, to stand on a page that has the styles.
///
/// # Errors
/// [`askama::Error`] where it cannot be written.
pub fn body(document: &CampaignDocument, language: Language) -> askama::Result<String> {
    Body { document, words: campaign_report_texts(language) }.render()
}

/// A whole file, with its styles and charts in it.
///
/// # Errors
/// As [`body`].
pub fn file(document: &CampaignDocument, language: Language) -> askama::Result<String> {
    let (styles, body) = (STYLES.join("\n"), body(document, language)?);
    File { document, language, styles, body }.render()
}
