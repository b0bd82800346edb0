//! Heat maps: a value for each pair of models, as a shade and, where there is room, as a number.
//!
//! Shares have a diverging scale around one half; counts have a sequential one. All cells of a shade are one path, so that a map of
//! hundreds of models stays small. A pair without battles has a dash, so that it differs from every value.

use super::Frame;
use super::axis::real;
use super::svg::{Canvas, Caption, SvgPoint, path};
use super::text::{shorten, width};
use crate::i18n::charts::ChartText;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

/// Quantity shown by a heat map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeatValues {
    /// Shares of votes won, 0 to 1.
    Wins,
    /// Numbers of battles.
    Counts,
    /// Win rates predicted by the ratings, 0 to 1.
    Predicted,
}

/// Values by pair: `values[row][column]`, `None` if missing. The diagonal is ignored.
#[derive(Debug, Clone, Copy)]
pub struct HeatmapData<'a> {
    /// The models in display order.
    pub names: &'a [String],
    /// One row a model, one value a model in it.
    pub values: &'a [Vec<Option<f64>>],
}

/// Number of shades of both scales.
const SHADES: usize = 9;
/// Maximum number of models at which cells show their values.
const MAX_MODELS_WITH_VALUES: usize = 25;
/// Maximum number of models at which cells have borders.
const MAX_MODELS_WITH_BORDERS: usize = 60;
const LEFT: f64 = 16.0;
const HEAD: f64 = 60.0;
const FOOT: f64 = 48.0;
/// Maximum width of a label, in pixels.
const MAX_LABEL_WIDTH: f64 = 190.0;
/// Maximum number of pairs in the description.
const MAX_DESCRIBED: usize = 3;
/// Width of the legend.
const LEGEND_WIDTH: f64 = 370.0;

/// Draws the grid.
#[must_use]
pub fn draw(shown: HeatValues, grid: HeatmapData<'_>, frame: Frame) -> String {
    let plan = HeatPlan::new(grid);
    let most = largest(grid);
    let (texts, count) = (shown.texts(frame), real(grid.names.len()));
    let (title, reading) =
        (texts.title, if grid.names.is_empty() { chart_texts(frame.language).no_data } else { texts.reading });
    let needed = LEFT + width(reading).max(width(title) * 1.3) * 12.0;
    let size = SvgPoint(
        (plan.origin.0 + count * plan.cell + 24.0).max(needed).max(plan.origin.0 + LEGEND_WIDTH),
        plan.origin.1 + count * plan.cell + FOOT,
    );
    let mut canvas = Canvas::new(size.0, size.1);
    canvas.text("heading", SvgPoint(LEFT, 26.0), title);
    canvas.text("quiet", SvgPoint(LEFT, 46.0), reading);
    labels(&mut canvas, grid, &plan);
    cells(&mut canvas, grid, &plan, shown, most);
    if plan.has_values {
        written(&mut canvas, grid, &plan, shown, most, frame);
    }
    if !grid.names.is_empty() {
        legend(&mut canvas, shown, most, SvgPoint(plan.origin.0, size.1 - 30.0), frame);
    }
    canvas.finish(&caption(shown, grid, frame), frame)
}

impl HeatValues {
    fn texts(self, frame: Frame) -> &'static ChartText {
        let words = chart_texts(frame.language);
        match self {
            Self::Wins => &words.wins,
            Self::Counts => &words.counts,
            Self::Predicted => &words.predicted,
        }
    }

    /// Meaning of a dash.
    fn missing(self, frame: Frame) -> &'static str {
        let words = chart_texts(frame.language);
        if self == Self::Predicted { words.not_compared } else { words.never_met }
    }

    fn tooltip_text(self, frame: Frame) -> &'static str {
        let words = chart_texts(frame.language);
        match self {
            Self::Wins => words.win_tip,
            Self::Counts => words.count_tip,
            Self::Predicted => words.predicted_tip,
        }
    }

    /// The shade of a value, 0 to 8. Counts differ by orders of magnitude, so their shades follow the square root. The middle shade of
    /// shares is one half, and the shades of p and 1 − p are symmetric around it.
    fn shade(self, value: f64, most: f64) -> usize {
        let share = if self == Self::Counts { (value / most.max(1.0)).sqrt() } else { value };
        let above_half = |step: usize| (real(step) - 0.5) / real(SHADES - 1);
        (1..SHADES).rev().find(|&step| share > above_half(step)).unwrap_or(0)
    }

    /// The class of a shade.
    fn class(self, shade: usize) -> String {
        if self == Self::Counts { format!("h{shade}") } else { format!("d{shade}") }
    }

    /// Whether numbers on a shade have the background colour.
    fn is_dark(self, shade: usize) -> bool {
        if self == Self::Counts { shade >= 6 } else { matches!(shade, 0 | 1 | 7 | 8) }
    }

    fn written(self, value: f64) -> String {
        match self {
            Self::Counts if value >= 9_999.5 => format!("{:.0}k", value / 1_000.0),
            Self::Counts if value >= 999.5 => format!("{:.1}k", value / 1_000.0),
            Self::Counts => format!("{value:.0}"),
            Self::Wins | Self::Predicted => format!("{:.0}", 100.0 * value),
        }
    }

    fn in_full(self, value: f64) -> String {
        if self == Self::Counts { format!("{value:.0}") } else { format!("{:.1}", 100.0 * value) }
    }
}

/// Layout of a heat map.
struct HeatPlan {
    cell: f64,
    /// The corner of the first cell.
    origin: SvgPoint,
    small: bool,
    has_values: bool,
}

impl HeatPlan {
    fn new(grid: HeatmapData<'_>) -> Self {
        let count = grid.names.len();
        let (cell, small) = match count {
            few if few <= MAX_MODELS_WITH_VALUES => (34.0, false),
            some if some <= MAX_MODELS_WITH_BORDERS => (17.0, false),
            _ => (11.0, true),
        };
        let longest = grid.names.iter().map(|name| width(name)).fold(0.0, f64::max);
        let room = (longest * if small { 9.5 } else { 13.0 } + 8.0).min(MAX_LABEL_WIDTH).round();
        Self {
            cell,
            small,
            has_values: count <= MAX_MODELS_WITH_VALUES,
            origin: SvgPoint(LEFT + room + 8.0, HEAD + room + 8.0),
        }
    }

    fn corner(&self, row: usize, column: usize) -> SvgPoint {
        SvgPoint(self.origin.0 + self.cell * real(column), self.origin.1 + self.cell * real(row))
    }
}

fn labels(canvas: &mut Canvas, grid: HeatmapData<'_>, plan: &HeatPlan) {
    let (font, class) = if plan.small { (9.5, " small") } else { (13.0, "") };
    let room = (plan.origin.0 - LEFT - 8.0) / font;
    for (at, name) in grid.names.iter().enumerate() {
        let (text, corner) = (shorten(name, room), plan.corner(at, at));
        let middle = 0.5 * plan.cell + 0.35 * font;
        let row = SvgPoint(plan.origin.0 - 8.0, corner.1 + middle);
        canvas.with_tooltip(name, |canvas| canvas.text(&format!("end{class}"), row, &text));
        let column = SvgPoint(corner.0 + middle, plan.origin.1 - 8.0);
        canvas.with_tooltip(name, |canvas| canvas.upright(class.trim_start(), column, &text));
    }
}

/// Draws all cells: a path for each shade, one for the diagonal, and one for pairs without battles.
fn cells(canvas: &mut Canvas, grid: HeatmapData<'_>, plan: &HeatPlan, shown: HeatValues, most: f64) {
    let mut shades = vec![String::new(); SHADES];
    let (mut unmet, mut diagonal) = (String::new(), String::new());
    let (size, dash) = (plan.cell, (0.2 * plan.cell).round());
    for (row, row_values) in grid.values.iter().enumerate() {
        for (column, value) in row_values.iter().enumerate() {
            let corner = plan.corner(row, column);
            match value {
                _ if row == column => {
                    path::line(
                        &mut diagonal,
                        SvgPoint(corner.0 + 2.0, corner.1 + 2.0),
                        SvgPoint(size - 4.0, size - 4.0),
                    );
                }
                Some(value) => path::square(&mut shades[shown.shade(*value, most)], corner, size),
                None => {
                    let start = SvgPoint(corner.0 + (0.5 * (size - dash)).round(), corner.1 + (0.5 * size).round());
                    path::line(&mut unmet, start, SvgPoint(dash, 0.0));
                }
            }
        }
    }
    let class = if plan.small { "" } else { "cell " };
    for (shade, cells) in shades.iter().enumerate() {
        canvas.path(&format!("{class}{}", shown.class(shade)), cells);
    }
    canvas.path("self", &diagonal);
    canvas.path("self", &unmet);
}

/// Draws the values, each with its tooltip.
fn written(canvas: &mut Canvas, grid: HeatmapData<'_>, plan: &HeatPlan, shown: HeatValues, most: f64, frame: Frame) {
    for (row, row_values) in grid.values.iter().enumerate() {
        for (column, value) in row_values.iter().enumerate() {
            let Some(value) = value.filter(|_| row != column) else { continue };
            let class = if shown.is_dark(shown.shade(value, most)) { "figure on-dark" } else { "figure" };
            let (corner, text) = (plan.corner(row, column), shown.in_full(value));
            let at = SvgPoint(corner.0 + 0.5 * plan.cell, corner.1 + 0.5 * plan.cell + 4.0);
            let words = [("row", grid.names[row].as_str()), ("column", &grid.names[column]), ("value", &text)];
            canvas.tipped_text(class, at, &shown.written(value), &fill(shown.tooltip_text(frame), &words));
        }
    }
}

fn legend(canvas: &mut Canvas, shown: HeatValues, most: f64, at: SvgPoint, frame: Frame) {
    let start = LEFT.max(at.0 - 60.0) + 60.0;
    for shade in 0..SHADES {
        canvas.rect(&format!("cell {}", shown.class(shade)), SvgPoint(start + 18.0 * real(shade), at.1), 18.0, 12.0);
    }
    let (low, high) = match shown {
        HeatValues::Counts => ("1".to_owned(), shown.in_full(most)),
        HeatValues::Wins | HeatValues::Predicted => ("0 %".to_owned(), "100 %".to_owned()),
    };
    let end = start + 18.0 * real(SHADES);
    canvas.text("quiet end", SvgPoint(start - 6.0, at.1 + 10.0), &low);
    canvas.text("quiet", SvgPoint(end + 6.0, at.1 + 10.0), &high);
    if shown != HeatValues::Counts {
        canvas.text("quiet middle", SvgPoint(start + 9.0 * real(SHADES), at.1 + 26.0), "50 %");
    }
    let mark = end + 62.0;
    canvas.line("self", SvgPoint(mark, at.1 + 6.0), SvgPoint(mark + 7.0, at.1 + 6.0));
    canvas.text("quiet", SvgPoint(mark + 14.0, at.1 + 10.0), shown.missing(frame));
}

/// The values above the diagonal, as (row, column, value).
fn pairs(grid: HeatmapData<'_>) -> impl Iterator<Item = (usize, usize, f64)> {
    let rows = grid.values.iter().enumerate();
    let cells = rows
        .flat_map(|(row, row_values)| row_values.iter().enumerate().map(move |(column, &value)| (row, column, value)));
    cells.filter_map(|(row, column, value)| (column > row).then_some((row, column, value?)))
}

fn largest(grid: HeatmapData<'_>) -> f64 {
    pairs(grid).map(|(_, _, value)| value).fold(0.0, f64::max)
}

fn caption(shown: HeatValues, grid: HeatmapData<'_>, frame: Frame) -> Caption {
    let texts = shown.texts(frame);
    let mut pairs: Vec<_> = pairs(grid).collect();
    let weight = |value: f64| if shown == HeatValues::Counts { value } else { (value - 0.5).abs() };
    pairs.sort_by(|x, y| weight(y.2).total_cmp(&weight(x.2)));
    let describe = |&(row, column, value): &(usize, usize, f64)| {
        let text = shown.in_full(value);
        fill(shown.tooltip_text(frame), &[("row", &grid.names[row]), ("column", &grid.names[column]), ("value", &text)])
    };
    let descriptions: Vec<String> = pairs.iter().take(MAX_DESCRIBED).map(describe).collect();
    let (count, cells) = (grid.names.len().to_string(), pairs.len().to_string());
    let values = [("count", count.as_str()), ("cells", &cells), ("models", &descriptions.join("; "))];
    Caption {
        key: match shown {
            HeatValues::Wins => "wins".into(),
            HeatValues::Counts => "counts".into(),
            HeatValues::Predicted => "predicted".into(),
        },
        title: texts.title.to_owned(),
        description: match grid.names {
            [] => chart_texts(frame.language).no_data.to_owned(),
            _ => fill(texts.description, &values),
        },
    }
}
