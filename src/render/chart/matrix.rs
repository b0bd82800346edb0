//! Shaded tables: a number for each row and column, such as models and tasks, or judges and judged models.

use super::axis::real;
use super::svg::{Canvas, Caption, SvgPoint};
use super::text::{shorten, width};
use super::{ChartSeries, Frame, Topic};
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

/// First shade on which numbers have the background colour.
const FIRST_DARK_SHADE: u8 = 6;
const SHADE_COUNT: u8 = 9;
const LEFT: f64 = 16.0;
const HEAD: f64 = 60.0;
const CELL: SvgPoint = SvgPoint(44.0, 30.0);
/// Maximum width of a label, in pixels.
const MAX_LABEL_WIDTH: f64 = 190.0;

/// Range of the shades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShadedBy {
    /// All numbers of the table, which have one unit.
    Table,
    /// The numbers of each column, which has its own unit.
    Column,
}

/// Draws the rows in the order in which they come; each has one value a column.
#[must_use]
pub fn draw(topic: Topic<'_>, columns: &[String], rows: &[ChartSeries], frame: Frame) -> String {
    draw_shaded(ShadedBy::Table, topic, columns, rows, frame)
}

/// Draws the rows with shades over the whole table or over each column.
#[must_use]
pub fn draw_shaded(by: ShadedBy, topic: Topic<'_>, columns: &[String], rows: &[ChartSeries], frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let plan = Plan::new(by, columns, rows);
    let width = plan.origin.0 + CELL.0 * real(columns.len()) + 24.0;
    let mut canvas = Canvas::new(width.max(plan.least(topic, texts)), plan.origin.1 + CELL.1 * real(rows.len()) + 20.0);
    canvas.text("heading", SvgPoint(LEFT, 26.0), topic.title);
    canvas.text("quiet", SvgPoint(LEFT, 46.0), plan.reading(texts));
    plan.labels(&mut canvas, columns, rows);
    for (row, one) in rows.iter().enumerate() {
        for (column, name) in columns.iter().enumerate() {
            let Some(value) = one.values.get(column).copied().flatten() else { continue };
            let values = [("row", one.name.as_str()), ("column", name), ("value", &format!("{value:.2}"))];
            canvas.with_tooltip(&fill(texts.matrix_tip, &values), |canvas| plan.cell(canvas, (row, column), value));
        }
    }
    canvas.finish(&caption(topic, columns, rows, plan.range, texts), frame)
}

/// Layout of a shaded table, with the ranges of its shades.
struct Plan {
    origin: SvgPoint,
    by: ShadedBy,
    range: Option<(f64, f64)>,
    /// Range of each column.
    ranges: Vec<Option<(f64, f64)>>,
}

impl Plan {
    fn new(by: ShadedBy, columns: &[String], rows: &[ChartSeries]) -> Self {
        let longest = |names: &mut dyn Iterator<Item = &str>| {
            (names.map(width).fold(0.0, f64::max) * 13.0 + 8.0).min(MAX_LABEL_WIDTH)
        };
        let left = longest(&mut rows.iter().map(|row| row.name.as_str()));
        let head = longest(&mut columns.iter().map(String::as_str));
        let range = range(rows.iter().flat_map(|row| &row.values).copied());
        let of_column = |column| match by {
            ShadedBy::Table => range,
            ShadedBy::Column => {
                self::range(rows.iter().map(|row: &ChartSeries| row.values.get(column).copied().flatten()))
            }
        };
        let ranges = (0..columns.len()).map(of_column).collect();
        Self { origin: SvgPoint(LEFT + left + 8.0, HEAD + head + 8.0), by, range, ranges }
    }

    fn reading<'t>(&self, texts: &'t ChartTexts) -> &'t str {
        match (self.range, self.by) {
            (None, _) => texts.no_data,
            (Some(_), ShadedBy::Table) => texts.matrix.reading,
            (Some(_), ShadedBy::Column) => texts.matrix_by_column,
        }
    }

    /// Minimum width for the texts above the table.
    fn least(&self, topic: Topic<'_>, texts: &ChartTexts) -> f64 {
        LEFT + width(self.reading(texts)).max(width(topic.title) * 1.3) * 12.5
    }

    fn labels(&self, canvas: &mut Canvas, columns: &[String], rows: &[ChartSeries]) {
        for (at, row) in rows.iter().enumerate() {
            let y = self.origin.1 + CELL.1 * (real(at) + 0.5) + 4.5;
            let text = shorten(&row.name, (self.origin.0 - LEFT - 8.0) / 13.0);
            canvas.with_tooltip(&row.name, |canvas| canvas.text("end", SvgPoint(self.origin.0 - 8.0, y), &text));
        }
        for (at, name) in columns.iter().enumerate() {
            let x = self.origin.0 + CELL.0 * (real(at) + 0.5) + 4.5;
            let text = shorten(name, (self.origin.1 - HEAD - 8.0) / 13.0);
            canvas.with_tooltip(name, |canvas| canvas.upright("", SvgPoint(x, self.origin.1 - 8.0), &text));
        }
    }

    fn cell(&self, canvas: &mut Canvas, (row, column): (usize, usize), value: f64) {
        let corner = SvgPoint(self.origin.0 + CELL.0 * real(column), self.origin.1 + CELL.1 * real(row));
        let shade = self.shade(column, value);
        canvas.rect(&format!("cell h{shade}"), corner, CELL.0, CELL.1);
        let class = if shade >= FIRST_DARK_SHADE { "figure on-dark" } else { "figure" };
        let text = if value.abs() < 99.95 { format!("{value:.1}") } else { format!("{value:.0}") };
        canvas.text(class, SvgPoint(corner.0 + 0.5 * CELL.0, corner.1 + 0.5 * CELL.1 + 4.0), &text);
    }

    /// The shade of a value, 0 to 8; the middle one where all are equal.
    fn shade(&self, column: usize, value: f64) -> u8 {
        let share = match self.ranges.get(column).copied().flatten() {
            Some((low, high)) if high > low => (value - low) / (high - low),
            _ => 0.5,
        };
        (0..SHADE_COUNT).rev().find(|&shade| f64::from(shade) <= share * f64::from(SHADE_COUNT)).unwrap_or(0)
    }
}

/// Lowest and highest value; `None` without values.
fn range(values: impl Iterator<Item = Option<f64>>) -> Option<(f64, f64)> {
    values.flatten().fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

fn caption(
    topic: Topic<'_>,
    columns: &[String],
    rows: &[ChartSeries],
    range: Option<(f64, f64)>,
    texts: &ChartTexts,
) -> Caption {
    let description = match range {
        None => texts.no_data.to_owned(),
        Some((low, high)) => {
            let cells = rows.iter().flat_map(|row| &row.values).filter(|value| value.is_some()).count();
            let [rows, columns, cells] = [rows.len(), columns.len(), cells].map(|count| count.to_string());
            let [low, high] = [low, high].map(|value| format!("{value:.2}"));
            let values =
                [("rows", rows.as_str()), ("columns", &columns), ("cells", &cells), ("low", &low), ("high", &high)];
            fill(texts.matrix.description, &values)
        }
    };
    Caption { key: topic.key.to_owned().into(), title: topic.title.to_owned(), description }
}
