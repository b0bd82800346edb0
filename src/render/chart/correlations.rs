//! Correlation matrix of several series with shades from −1 to 1; each cell shows its number.
//!
//! A number in brackets is weak: of fewer than [`MIN_SUBJECTS`] subjects, or with zero in its interval.

use super::axis::real;
use super::svg::{Canvas, Caption, SvgPoint};
use super::text::{shorten, width};
use super::{Frame, Topic};
use crate::domain::stats::Interval;
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

/// Minimum number of subjects of a correlation that is not weak.
pub const MIN_SUBJECTS: usize = 8;

/// Cell of two series.
#[derive(Debug, Clone, PartialEq)]
pub enum CorrelationCell {
    /// A correlation.
    Found {
        /// The correlation, between −1 and 1.
        r: f64,
        /// Its confidence interval.
        interval: Option<Interval>,
        /// Number of subjects.
        n: usize,
    },
    /// No correlation, with the reason.
    Undefined(String),
}

impl CorrelationCell {
    /// Whether the correlation is weak, or undefined.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        match self {
            Self::Found { interval, n, .. } => {
                *n < MIN_SUBJECTS || interval.is_none_or(|ends| ends.lower <= 0.0 && ends.upper >= 0.0)
            }
            Self::Undefined(_) => true,
        }
    }
}

const LEFT: f64 = 16.0;
const HEAD: f64 = 60.0;
const FOOT: f64 = 52.0;
const CELL: SvgPoint = SvgPoint(50.0, 30.0);
/// Maximum width of a label, in pixels.
const MAX_LABEL_WIDTH: f64 = 230.0;
/// Maximum number of pairs in the description.
const MAX_DESCRIBED: usize = 5;

/// Draws `cells[row][column]` in the order of `names`; of the two cells of a pair the one below the diagonal is used.
#[must_use]
pub fn draw(topic: Topic<'_>, names: &[String], cells: &[Vec<Option<CorrelationCell>>], frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let reading = fill(texts.correlations.reading, &[("few", &MIN_SUBJECTS.to_string())]);
    let reading = if names.len() < 2 { texts.no_data } else { &reading };
    let label = (names.iter().map(|name| width(name)).fold(0.0, f64::max) * 13.0 + 8.0).min(MAX_LABEL_WIDTH);
    let origin = SvgPoint(LEFT + label + 8.0, HEAD + label + 8.0);
    let wide = (origin.0 + CELL.0 * real(names.len()) + 24.0).max(LEFT + width(reading).max(width(topic.title)) * 12.5);
    let mut canvas = Canvas::new(wide, origin.1 + CELL.1 * real(names.len()) + FOOT);
    canvas.text("heading", SvgPoint(LEFT, 26.0), topic.title);
    canvas.text("quiet", SvgPoint(LEFT, 46.0), reading);
    let corner = |row: usize, column: usize| SvgPoint(origin.0 + CELL.0 * real(column), origin.1 + CELL.1 * real(row));
    for (at, name) in names.iter().enumerate() {
        labels(&mut canvas, name, label / 13.0, corner(at, 0), corner(0, at));
    }
    for (row, column, one) in pairs(cells) {
        canvas
            .with_tooltip(&describe(names, (row, column, one), texts), |canvas| cell(canvas, corner(row, column), one));
    }
    if names.len() > 1 {
        legend(&mut canvas, SvgPoint(LEFT + 30.0, origin.1 + CELL.1 * real(names.len()) + 20.0));
    }
    canvas.finish(&caption(topic, names, cells, texts), frame)
}

/// The name of a row and of a column.
fn labels(canvas: &mut Canvas, name: &str, room: f64, row: SvgPoint, column: SvgPoint) {
    let text = shorten(name, room);
    canvas.with_tooltip(name, |canvas| canvas.text("end", SvgPoint(row.0 - 8.0, row.1 + 0.5 * CELL.1 + 4.5), &text));
    canvas.with_tooltip(name, |canvas| {
        canvas.upright("", SvgPoint(column.0 + 0.5 * CELL.0 + 4.5, column.1 - 8.0), &text)
    });
}

fn cell(canvas: &mut Canvas, corner: SvgPoint, cell: &CorrelationCell) {
    let (class, shade) = match cell {
        CorrelationCell::Found { r, .. } => ("cell ", shade(*r)),
        CorrelationCell::Undefined(_) => ("cell stripe", ""),
    };
    canvas.rect(&format!("{class}{shade}"), corner, CELL.0, CELL.1);
    let ink = if is_dark(shade) { "figure on-dark" } else { "figure" };
    canvas.text(ink, SvgPoint(corner.0 + 0.5 * CELL.0, corner.1 + 0.5 * CELL.1 + 4.0), &cell_text(cell));
}

fn legend(canvas: &mut Canvas, at: SvgPoint) {
    for (place, shade) in SHADES.into_iter().enumerate() {
        canvas.rect(&format!("cell {shade}"), SvgPoint(at.0 + 18.0 * real(place), at.1), 18.0, 12.0);
    }
    canvas.text("quiet end", SvgPoint(at.0 - 6.0, at.1 + 10.0), "−1");
    canvas.text("quiet", SvgPoint(at.0 + 18.0 * real(SHADES.len()) + 6.0, at.1 + 10.0), "1");
}

/// Classes of shades from −1 to 1.
const SHADES: [&str; 9] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"];

/// The class of a correlation's shade, of nine of equal width.
#[must_use]
pub fn shade(r: f64) -> &'static str {
    let upto = |place: usize| 2.0 * real(place + 1) / real(SHADES.len()) - 1.0;
    SHADES.into_iter().enumerate().find(|&(place, _)| r < upto(place)).map_or(SHADES[8], |(_, shade)| shade)
}

/// Whether numbers on a shade have the background colour.
fn is_dark(shade: &str) -> bool {
    ["d0", "d1", "d7", "d8"].contains(&shade)
}

/// Formats a cell: the correlation with two decimals, in brackets if weak, or a dash if undefined.
#[must_use]
pub fn cell_text(cell: &CorrelationCell) -> String {
    match cell {
        CorrelationCell::Found { r, .. } if cell.is_weak() => format!("({})", signed(*r)),
        CorrelationCell::Found { r, .. } => signed(*r),
        CorrelationCell::Undefined(_) => "–".to_owned(),
    }
}

/// Formats with two decimals and a minus sign as wide as a digit.
pub(super) fn signed(r: f64) -> String {
    match format!("{r:.2}").strip_prefix('-') {
        Some("0.00") => "0.00".to_owned(),
        Some(size) => format!("−{size}"),
        None => format!("{r:.2}"),
    }
}

/// The cells below the diagonal, as (row, column, cell).
fn pairs(cells: &[Vec<Option<CorrelationCell>>]) -> impl Iterator<Item = (usize, usize, &CorrelationCell)> {
    let below = |(row, cells): (usize, &'_ Vec<Option<CorrelationCell>>)| (row, cells.len().min(row));
    cells.iter().enumerate().map(below).flat_map(move |(row, columns)| {
        (0..columns).filter_map(move |column| Some((row, column, cells[row][column].as_ref()?)))
    })
}

fn describe(names: &[String], (row, column, cell): (usize, usize, &CorrelationCell), texts: &ChartTexts) -> String {
    let value = match cell {
        CorrelationCell::Undefined(reason) => reason.clone(),
        CorrelationCell::Found { r, interval, n } => {
            let ends = interval.map(|ends| format!(" ({} … {})", signed(ends.lower), signed(ends.upper)));
            let weak = if cell.is_weak() { format!(", {}", texts.correlation_weak) } else { String::new() };
            format!("{}{}, n = {n}{weak}", signed(*r), ends.unwrap_or_default())
        }
    };
    fill(texts.correlation_tip, &[("row", &names[row]), ("column", &names[column]), ("value", &value)])
}

fn caption(topic: Topic<'_>, names: &[String], cells: &[Vec<Option<CorrelationCell>>], texts: &ChartTexts) -> Caption {
    let size = |cell: &CorrelationCell| if let CorrelationCell::Found { r, .. } = cell { r.abs() } else { -1.0 };
    let mut found: Vec<_> = pairs(cells).filter(|(_, _, cell)| matches!(cell, CorrelationCell::Found { .. })).collect();
    let weak = found.iter().filter(|(_, _, cell)| cell.is_weak()).count().to_string();
    let count = found.len().to_string();
    found.sort_by(|one, other| size(other.2).total_cmp(&size(one.2)));
    let models: Vec<String> = found.into_iter().take(MAX_DESCRIBED).map(|pair| describe(names, pair, texts)).collect();
    let (series, models) = (names.len().to_string(), models.join("; "));
    let values = [("count", series.as_str()), ("cells", &count), ("weak", &weak), ("models", &models)];
    Caption {
        key: topic.key.to_owned().into(),
        title: topic.title.to_owned(),
        description: if names.len() < 2 {
            texts.no_data.to_owned()
        } else {
            fill(texts.correlations.description, &values)
        },
    }
}
