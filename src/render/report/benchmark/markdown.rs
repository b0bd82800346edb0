//! Markdown of a report.

use std::fmt::Write as _;

use super::{Analysis, Report, ReportColumn, ReportRow, ReportTable};
use crate::domain::language::Language;
use crate::i18n::reports::{ReportTexts, report_texts};

const TEXT_GROWS: &str = "a String takes what is written";

/// Writes the report.
#[must_use]
pub fn write(report: &Report, language: Language) -> String {
    let words = report_texts(language);
    let mut out = format!("# {}\n\n", escaped(&report.title));
    facts(&mut out, report, words);
    for note in &report.notes {
        write!(out, "> {}\n\n", escaped(note)).expect(TEXT_GROWS);
    }
    if report.tables.is_empty() {
        write!(out, "{}\n\n", words.nothing).expect(TEXT_GROWS);
    } else {
        write!(out, "## {}\n\n{}\n\n", words.scores, words.reading).expect(TEXT_GROWS);
        abbreviations(&mut out, report);
    }
    for one in &report.tables {
        table(&mut out, one, words);
    }
    if !report.analyses.is_empty() {
        write!(out, "## {}\n\n", words.analyses).expect(TEXT_GROWS);
    }
    for one in &report.analyses {
        analysis(&mut out, one);
    }
    if !report.published.is_empty() {
        write!(out, "## {}\n\n{}\n\n", words.published, words.published_lead).expect(TEXT_GROWS);
        if report.tables.is_empty() {
            abbreviations(&mut out, report);
        }
    }
    for one in &report.published {
        table(&mut out, one, words);
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// Writes the facts of the report, one line each.
fn facts(out: &mut String, report: &Report, words: &ReportTexts) {
    for (label, value) in report.facts(words) {
        writeln!(out, "- {label}: {}", escaped(&value)).expect(TEXT_GROWS);
    }
    out.push('\n');
}

/// Writes the meanings of abbreviated column headings.
fn abbreviations(out: &mut String, report: &Report) {
    let meaning = |column: &&ReportColumn| format!("**{}** {}", escaped(&column.label), escaped(&column.name));
    let meanings: Vec<String> = report.abbreviations().iter().map(meaning).collect();
    if !meanings.is_empty() {
        write!(out, "{}\n\n", meanings.join(" · ")).expect(TEXT_GROWS);
    }
}

fn table(out: &mut String, table: &ReportTable, words: &ReportTexts) {
    write!(out, "### {}\n\n", escaped(&table.title)).expect(TEXT_GROWS);
    if let Some(source) = &table.source {
        write!(out, "{}{}\n\n", words.source, escaped(source)).expect(TEXT_GROWS);
    }
    let heads = table.columns.iter().map(|column| escaped(&column.label));
    line(out, std::iter::once(words.model.to_owned()).chain(heads));
    line(out, std::iter::once("---".to_owned()).chain(table.columns.iter().map(|_| "---:".to_owned())));
    for row in &table.rows {
        line(out, std::iter::once(model(row, words)).chain(row.cells.iter().map(cell)));
    }
    out.push('\n');
    if table.rows.iter().flat_map(|row| row.cells.iter().flatten()).any(|cell| cell.flagged) {
        write!(out, "\\*: {}\n\n", words.flagged).expect(TEXT_GROWS);
    }
}

fn model(row: &ReportRow, words: &ReportTexts) -> String {
    let mut text = escaped(&row.model);
    if !row.baseline.is_empty() {
        write!(text, " ({})", escaped(&words.against_baseline(&row.baseline))).expect(TEXT_GROWS);
    }
    if row.judged_itself {
        write!(text, " ({})", words.judged_itself).expect(TEXT_GROWS);
    }
    text
}

fn cell(cell: &Option<super::ReportCell>) -> String {
    let Some(cell) = cell else { return "–".to_owned() };
    let flag = if cell.flagged { "\\*" } else { "" };
    let coverage = cell.coverage_text();
    if coverage.is_empty() { cell.text() } else { format!("{}{flag} ({coverage})", cell.text()) }
}

fn analysis(out: &mut String, analysis: &Analysis) {
    write!(out, "### {}\n\n{}\n\n", escaped(&analysis.title), escaped(&analysis.lead)).expect(TEXT_GROWS);
    line(out, analysis.columns.iter().map(|head| escaped(head)));
    line(out, analysis.columns.iter().map(|_| "---".to_owned()));
    for row in &analysis.rows {
        line(out, row.iter().map(|datum| escaped(&datum.text())));
    }
    out.push('\n');
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | ")).expect(TEXT_GROWS);
}

/// Escapes a text for Markdown, on one line.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            c if c.is_control() => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&' | '!' => out.extend(['\\', c]),
            c => out.push(c),
        }
        out
    })
}
