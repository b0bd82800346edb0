//! Prints the rows of a result as a table, as JSON or as CSV.

use serde::Serialize;

use super::output_format::OutputFormat;
use super::standard_output::lines_of_csv;
use super::terminal_text::{printable, width};
use crate::error::CommandResult;

/// Row of a table.
pub trait TableRow: Serialize {
    /// Headings of the columns.
    const HEADS: &'static [&'static str];

    /// Returns the cells, one per heading.
    fn cells(&self) -> Vec<String>;
}

/// Formats rows, with a final line break.
///
/// # Errors
/// Rows that cannot be serialised as JSON or CSV.
pub fn render<R: TableRow>(rows: &[R], format: OutputFormat) -> CommandResult<String> {
    match format {
        OutputFormat::Table => Ok(table(R::HEADS, rows.iter().map(TableRow::cells).collect())),
        OutputFormat::Json => Ok(format!("{}\n", serde_json::to_string_pretty(rows)?)),
        OutputFormat::Csv => lines_of_csv(rows),
    }
}

/// Formats a table with aligned columns and without terminal control characters.
pub(crate) fn table(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let heads: Vec<String> = heads.iter().map(|head| head.to_uppercase()).collect();
    let rows = rows.into_iter().map(|row| row.iter().map(|cell| printable(cell)).collect());
    let lines: Vec<Vec<String>> = [heads].into_iter().chain(rows).collect();
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..columns).map(|column| lines.iter().map(|line| width(&line[column])).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, full)| format!("{cell}{}", " ".repeat(full - width(cell))));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Formats a text as a cell; `-` if it is empty.
pub(crate) fn or_dash(text: &str) -> String {
    value_or_dash(Some(text).filter(|text| !text.is_empty()))
}

/// Formats an optional value as a cell; `-` if it is `None`.
pub(crate) fn value_or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Formats a cost as a cell; `-` without prices.
pub(crate) fn cost_or_dash(cost: Option<f64>) -> String {
    value_or_dash(cost.map(|cost| format!("{cost:.4}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_its_columns_under_wide_characters() {
        let rows = vec![vec!["a".into(), "千问".into(), "x".into()], vec!["bcd".into(), "q".into(), "y".into()]];
        assert_eq!(table(&["id", "name", "z"], rows), "ID   NAME  Z\na    千问  x\nbcd  q     y\n");
    }
}
