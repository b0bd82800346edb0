//! Report of a campaign with tables and charts, as a page, a self-contained file, and Markdown.
//!
//! Operators see everything; the public report has no data of single annotators.

mod charts;
pub mod html;
pub mod markdown;
mod tables;

use crate::domain::campaign::ending::EndReason;
use crate::domain::campaign::plan::CampaignPlan;
use crate::domain::campaign::report::CampaignReport;
use crate::domain::language::Language;
use crate::domain::stats::confidence::ConfidenceLevel;
use crate::i18n::campaign_report::{CampaignReportTexts, campaign_report_texts};
use crate::i18n::fill;
use crate::i18n::pages::page_texts;

/// Audience of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Operators of the campaign.
    Operators,
    /// The public.
    Public,
}

/// Report of a campaign in one language.
#[derive(Debug, Clone, PartialEq)]
pub struct CampaignDocument {
    /// Its title: that of the campaign.
    pub title: String,
    /// Facts: labels and values.
    pub facts: Vec<(&'static str, String)>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Its parts, in their order.
    pub parts: Vec<DocumentPart>,
}

/// Section of a report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentPart {
    /// Key of the section.
    pub key: String,
    /// The heading.
    pub title: String,
    /// Reading aid.
    pub lead: String,
    /// The table; without rows for a free-text question.
    pub table: DocumentTable,
    /// The charts, as SVG.
    pub charts: Vec<DocumentChart>,
}

/// Chart of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentChart {
    /// Accessible label of the frame around the chart.
    pub label: String,
    /// SVG of the chart.
    pub svg: String,
}

/// Table of a section.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentTable {
    /// The columns.
    pub columns: Vec<DocumentColumn>,
    /// The rows, one cell a column.
    pub rows: Vec<Vec<String>>,
}

/// Column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentColumn {
    /// Its heading.
    pub label: String,
    /// Whether its cells are numbers.
    pub is_number: bool,
}

impl CampaignDocument {
    /// Builds the report of a campaign.
    #[must_use]
    pub fn new(report: &CampaignReport, plan: &CampaignPlan, audience: Audience, language: Language) -> Self {
        let words = campaign_report_texts(language);
        let mut parts = vec![
            charts::with_ratings(tables::models(report, words), report, ConfidenceLevel::default(), language),
            charts::with_scores(tables::scores(report, words), report, plan.scale, language),
            charts::with_wins(tables::pairs(report, words), report, language),
            tables::neighbours(report, words),
            tables::agreement(report, words),
        ];
        parts.push(tables::judges(report, words));
        parts.push(tables::dimensions(report, plan, words, language));
        parts.extend(tables::questions(report, words, language));
        if audience == Audience::Operators {
            parts.push(tables::annotators(report, words));
            parts.push(charts::with_kappas(tables::annotator_pairs(report, words), report, language));
            parts.push(tables::left_out(report, words));
        }
        let is_asked = |part: &DocumentPart| part.key.starts_with("question-") && report.judgements > 0;
        parts.retain(|part| !part.table.rows.is_empty() || is_asked(part));
        let mut notes = if audience == Audience::Public { public_notes(report, words) } else { Vec::new() };
        notes.extend(report.notes.iter().map(|note| page_texts(language).leaderboard.note(note)));
        Self { title: plan.title.clone(), facts: facts(report, words), notes, parts }
    }
}

fn facts(report: &CampaignReport, words: &CampaignReportTexts) -> Vec<(&'static str, String)> {
    let done = if report.complete { words.complete } else { words.not_complete };
    let (units_done, units) = (report.units_done.to_string(), report.units.to_string());
    let mut facts = vec![
        (words.campaign, report.campaign.clone()),
        (words.judgements, report.judgements.to_string()),
        (words.repeats, report.repeats.to_string()),
        (words.units, fill(words.done_of, &[("done", &units_done), ("of", &units), ("state", done)])),
        (words.annotators, report.annotators.len().to_string()),
    ];
    if let Some(ended) = report.ended {
        let text = match ended.because {
            EndReason::Separated => words.ended_separated,
            EndReason::MaxJudgements => words.ended_max_judgements,
        };
        facts.push((words.ended, fill(text, &[("time", &moment(ended.at))])));
    }
    facts
}

/// Formats a time in UTC to the minute.
fn moment(milliseconds: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    moment.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Note on the number of excluded judgements; annotators and reasons are for operators only.
fn public_notes(report: &CampaignReport, words: &CampaignReportTexts) -> Vec<String> {
    let judgements: u64 = report.left_out.iter().map(|left| left.judgements).sum();
    let note = || fill(words.left_out_note, &[("judgements", &judgements.to_string())]);
    (judgements > 0).then(note).into_iter().collect()
}

#[cfg(test)]
mod tests;
