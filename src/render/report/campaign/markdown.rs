//! Markdown of a report.

use std::fmt::Write as _;

use super::{CampaignDocument, DocumentTable};
use crate::domain::language::Language;
use crate::i18n::campaign_report::campaign_report_texts;
use crate::report::benchmark::markdown::escaped;

const TEXT_GROWS: &str = "a String takes what is written";

/// Writes the report.
#[must_use]
pub fn write(document: &CampaignDocument, language: Language) -> String {
    let mut out = format!("# {}\n\n", escaped(&document.title));
    for (label, value) in &document.facts {
        writeln!(out, "- {label}: {}", escaped(value)).expect(TEXT_GROWS);
    }
    out.push('\n');
    for note in &document.notes {
        write!(out, "> {}\n\n", escaped(note)).expect(TEXT_GROWS);
    }
    for part in &document.parts {
        write!(out, "## {}\n\n{}\n\n", escaped(&part.title), escaped(&part.lead)).expect(TEXT_GROWS);
        if !part.table.rows.is_empty() {
            table(&mut out, &part.table);
        }
    }
    if document.parts.is_empty() {
        out += campaign_report_texts(language).nothing;
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn table(out: &mut String, table: &DocumentTable) {
    line(out, table.columns.iter().map(|column| escaped(&column.label)));
    line(out, table.columns.iter().map(|column| if column.is_number { "---:" } else { "---" }.to_owned()));
    for row in &table.rows {
        line(out, row.iter().map(|cell| escaped(cell)));
    }
    out.push('\n');
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | ")).expect(TEXT_GROWS);
}
