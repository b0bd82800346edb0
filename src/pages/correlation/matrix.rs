//! The correlation matrix of a group, as a table whose cells link to their pairs.

use super::ShownNames;
use crate::domain::stats::correlation_matrix::ColumnCorrelations as Found;
use crate::render::chart::correlations::{CorrelationCell, cell_text, shade};

/// Correlation matrix.
pub(super) struct MatrixView {
    pub(super) rows: Vec<MatrixRow>,
    /// Notice that the group has more series than the table.
    pub(super) first_of: Option<String>,
}

/// Series with its correlations to the series above it.
pub(super) struct MatrixRow {
    pub(super) label: String,
    pub(super) cells: Vec<MatrixCell>,
}

/// Correlation of two series.
pub(super) struct MatrixCell {
    pub(super) text: String,
    pub(super) class: &'static str,
    pub(super) tip: String,
    pub(super) address: String,
}

impl MatrixView {
    pub(super) fn new(names: &ShownNames<'_>) -> Self {
        let grid = names.view.snapshot.matrix(names.view.group);
        let series: Vec<_> = grid.series.iter().map(|&place| &names.view.snapshot.catalog.series()[place]).collect();
        let labels: Vec<String> = series.iter().map(|series| names.of(series)).collect();
        let row = |row: usize| MatrixRow {
            label: labels[row].clone(),
            cells: (0..row)
                .map(|column| {
                    let [x, y] = [column, row].map(|place| series[place].name.to_string());
                    let cell = correlation_cell(&grid.cell(column, row), names);
                    MatrixCell {
                        tip: tooltip(&labels[column], &labels[row], &cell),
                        class: if let CorrelationCell::Found { r, .. } = cell { shade(r) } else { "undefined" },
                        text: cell_text(&cell),
                        address: names.pair_address(&x, &y),
                    }
                })
                .collect(),
        };
        let (shown, all) = (series.len().to_string(), grid.of.to_string());
        let first_of = names.words().first_of.replace("{shown}", &shown).replace("{all}", &all);
        Self { rows: (0..series.len()).map(row).collect(), first_of: (series.len() < grid.of).then_some(first_of) }
    }

    /// Whether the group has any pair of series.
    pub(super) fn has_pairs(&self) -> bool {
        self.rows.len() > 1
    }
}

/// Returns the selected coefficient with its bootstrap interval, or else Fisher's.
fn correlation_cell(found: &Found, names: &ShownNames<'_>) -> CorrelationCell {
    let place = names.view.coefficient as usize;
    match found.found[place] {
        Err(why) => CorrelationCell::Undefined((names.words().why_none)(why)),
        Ok(one) => {
            let resampled = found.resampled.and_then(|resampled| resampled[place].ok()).map(|found| found.interval);
            let interval = resampled.or_else(|| one.interval(names.view.snapshot.catalog.options.level).ok());
            CorrelationCell::Found { r: one.r, interval, n: found.n }
        }
    }
}

fn tooltip(x: &str, y: &str, cell: &CorrelationCell) -> String {
    let what = match cell {
        CorrelationCell::Undefined(why) => why.clone(),
        CorrelationCell::Found { interval, n, .. } => {
            let ends = interval.map_or_else(String::new, |ends| format!(" ({:.2} … {:.2})", ends.lower, ends.upper));
            format!("{}{ends}, n = {n}", cell_text(cell))
        }
    };
    format!("{x} × {y}: {what}")
}
