//! CSV of a report: a line for each score, with all digits.

use std::borrow::Cow;

use serde::Serialize;

use super::{Report, ReportRow, ReportTable};

#[derive(Serialize)]
struct CsvLine<'a> {
    suite: Cow<'a, str>,
    suite_version: Cow<'a, str>,
    variant: Cow<'a, str>,
    sample: u32,
    source: Cow<'a, str>,
    table: Cow<'a, str>,
    model: Cow<'a, str>,
    judge: Cow<'a, str>,
    baseline: Cow<'a, str>,
    part: Cow<'a, str>,
    score: Option<f64>,
    #[serde(rename = "deviation")]
    std_dev: Option<f64>,
    judged: Option<u64>,
    total: Option<u64>,
    flagged: bool,
}

/// Writes the report's own scores, then the published ones, which have a source and no judge. `escape_formula` escapes formulas for
/// spreadsheets.
///
/// # Errors
/// [`csv::Error`] if a line cannot be written.
pub fn write(report: &Report, escape_formula: fn(&str) -> Cow<'_, str>) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for table in report.tables.iter().chain(&report.published) {
        for row in &table.rows {
            lines(report, table, row, escape_formula).try_for_each(|line| writer.serialize(line))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn lines<'a>(
    report: &'a Report,
    table: &'a ReportTable,
    row: &'a ReportRow,
    escape_formula: fn(&str) -> Cow<'_, str>,
) -> impl Iterator<Item = CsvLine<'a>> {
    let own = table.source.is_none();
    table.columns.iter().zip(&row.cells).filter_map(move |(column, cell)| {
        let cell = cell.as_ref()?;
        Some(CsvLine {
            suite: escape_formula(&report.suite),
            suite_version: escape_formula(if own { &report.version } else { "" }),
            variant: escape_formula(if own { &report.variant } else { "" }),
            sample: report.sample,
            source: escape_formula(table.source.as_deref().unwrap_or_default()),
            table: escape_formula(&table.key),
            model: escape_formula(&row.model),
            judge: escape_formula(if own { &report.judge } else { "" }),
            baseline: escape_formula(&row.baseline),
            part: escape_formula(&column.part),
            score: cell.score,
            std_dev: cell.std_dev,
            judged: cell.coverage.map(|coverage| coverage.ok),
            total: cell.coverage.map(|coverage| coverage.total),
            flagged: cell.flagged,
        })
    })
}
