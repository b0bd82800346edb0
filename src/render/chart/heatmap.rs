//! Heat maps: a figure for each pair of models, as a shade and, where there is room, as a number.
//!
//! Shares diverge from the middle at one half; counts go from paper to ink. All cells of a shade are one path, so that a map
//! of hundreds of models stays light. A pair that never met has a dash, so that it differs from every figure.

use super::Frame;
use super::axis::real;
use super::svg::{At, Canvas, Caption, path};
use super::text::{shorten, width};
use crate::i18n::charts::ChartText;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

/// What a heat map shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeatValues {
    /// Shares of votes won, 0 to 1.
    Wins,
    /// Numbers of battles.
    Counts,
    /// Shares of votes that the ratings predict, 0 to 1.
    Predicted,
}

/// Figures by pair: `figures[row][column]`, `None` where there is none. The diagonal is not looked at.
#[derive(Debug, Clone, Copy)]
pub struct HeatmapData<'a> {
    /// The models, in the order in which they are to stand.
    pub names: &'a [String],
    /// One row a model, one figure a model in it.
    pub figures: &'a [Vec<Option<f64>>],
}

/// Shades: of counts from paper to ink, of shares from one end over the middle to the other.
const SHADES: usize = 9;
/// Models of which each cell has room for its figure.
const WITH_FIGURES: usize = 25;
/// Models of which each cell has room for a line around it.
const WITH_LINES: usize = 60;
const LEFT: f64 = 16.0;
const HEAD: f64 = 60.0;
const FOOT: f64 = 48.0;
/// Longest label, in pixels.
const LABEL: f64 = 190.0;
/// Pairs that the description names.
const MAX_DESCRIBED: usize = 3;
/// Width of the legend.
const LEGEND: f64 = 370.0;

/// Draws the grid.
#[must_use]
pub fn draw(shown: HeatValues, grid: HeatmapData<'_>, frame: Frame) -> String {
    let plan = HeatPlan::new(grid);
    let most = largest(grid);
    let (texts, count) = (shown.texts(frame), real(grid.names.len()));
    let (title, reading) =
        (texts.title, if grid.names.is_empty() { chart_texts(frame.language).no_data } else { texts.reading });
    let needed = LEFT + width(reading).max(width(title) * 1.3) * 12.0;
    let size = At(
        (plan.origin.0 + count * plan.cell + 24.0).max(needed).max(plan.origin.0 + LEGEND),
        plan.origin.1 + count * plan.cell + FOOT,
    );
    let mut canvas = Canvas::new(size.0, size.1);
    canvas.text("heading", At(LEFT, 26.0), title);
    canvas.text("quiet", At(LEFT, 46.0), reading);
    labels(&mut canvas, grid, &plan);
    cells(&mut canvas, grid, &plan, shown, most);
    if plan.has_figures {
        written(&mut canvas, grid, &plan, shown, most, frame);
    }
    if !grid.names.is_empty() {
        legend(&mut canvas, shown, most, At(plan.origin.0, size.1 - 30.0), frame);
    }
    canvas.finish(&words(shown, grid, frame), frame)
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

    /// What a dash says.
    fn missing(self, frame: Frame) -> &'static str {
        let words = chart_texts(frame.language);
        if self == Self::Predicted { words.not_compared } else { words.never_met }
    }

    fn tip(self, frame: Frame) -> &'static str {
        let words = chart_texts(frame.language);
        match self {
            Self::Wins => words.win_tip,
            Self::Counts => words.count_tip,
            Self::Predicted => words.predicted_tip,
        }
    }

    /// The shade of a figure, 0 to 8. Counts differ by orders of magnitude, so their shades follow the square root. The
    /// middle shade of shares is one half, and a share and its rest have shades as far from it.
    fn shade(self, figure: f64, most: f64) -> usize {
        let share = if self == Self::Counts { (figure / most.max(1.0)).sqrt() } else { figure };
        let above_half = |step: usize| (real(step) - 0.5) / real(SHADES - 1);
        (1..SHADES).rev().find(|&step| share > above_half(step)).unwrap_or(0)
    }

    /// The class of a shade.
    fn class(self, shade: usize) -> String {
        if self == Self::Counts { format!("h{shade}") } else { format!("d{shade}") }
    }

    /// Whether figures on a shade are written in the colour of the paper.
    fn is_dark(self, shade: usize) -> bool {
        if self == Self::Counts { shade >= 6 } else { matches!(shade, 0 | 1 | 7 | 8) }
    }

    fn written(self, figure: f64) -> String {
        match self {
            Self::Counts if figure >= 9_999.5 => format!("{:.0}k", figure / 1_000.0),
            Self::Counts if figure >= 999.5 => format!("{:.1}k", figure / 1_000.0),
            Self::Counts => format!("{figure:.0}"),
            Self::Wins | Self::Predicted => format!("{:.0}", 100.0 * figure),
        }
    }

    fn in_full(self, figure: f64) -> String {
        if self == Self::Counts { format!("{figure:.0}") } else { format!("{:.1}", 100.0 * figure) }
    }
}

/// Where things are.
struct HeatPlan {
    cell: f64,
    /// The corner of the first cell.
    origin: At,
    small: bool,
    has_figures: bool,
}

impl HeatPlan {
    fn new(grid: HeatmapData<'_>) -> Self {
        let count = grid.names.len();
        let (cell, small) = match count {
            few if few <= WITH_FIGURES => (34.0, false),
            some if some <= WITH_LINES => (17.0, false),
            _ => (11.0, true),
        };
        let longest = grid.names.iter().map(|name| width(name)).fold(0.0, f64::max);
        let room = (longest * if small { 9.5 } else { 13.0 } + 8.0).min(LABEL).round();
        Self { cell, small, has_figures: count <= WITH_FIGURES, origin: At(LEFT + room + 8.0, HEAD + room + 8.0) }
    }

    fn corner(&self, row: usize, column: usize) -> At {
        At(self.origin.0 + self.cell * real(column), self.origin.1 + self.cell * real(row))
    }
}

fn labels(canvas: &mut Canvas, grid: HeatmapData<'_>, plan: &HeatPlan) {
    let (font, class) = if plan.small { (9.5, " small") } else { (13.0, "") };
    let room = (plan.origin.0 - LEFT - 8.0) / font;
    for (at, name) in grid.names.iter().enumerate() {
        let (text, corner) = (shorten(name, room), plan.corner(at, at));
        let middle = 0.5 * plan.cell + 0.35 * font;
        let row = At(plan.origin.0 - 8.0, corner.1 + middle);
        canvas.tipped(name, |canvas| canvas.text(&format!("end{class}"), row, &text));
        let column = At(corner.0 + middle, plan.origin.1 - 8.0);
        canvas.tipped(name, |canvas| canvas.upright(class.trim_start(), column, &text));
    }
}

/// All cells: a path for each shade, one for the diagonal, and one for pairs that never met.
fn cells(canvas: &mut Canvas, grid: HeatmapData<'_>, plan: &HeatPlan, shown: HeatValues, most: f64) {
    let mut shades = vec![String::new(); SHADES];
    let (mut unmet, mut diagonal) = (String::new(), String::new());
    let (size, dash) = (plan.cell, (0.2 * plan.cell).round());
    for (row, figures) in grid.figures.iter().enumerate() {
        for (column, figure) in figures.iter().enumerate() {
            let corner = plan.corner(row, column);
            match figure {
                _ if row == column => {
                    path::line(&mut diagonal, At(corner.0 + 2.0, corner.1 + 2.0), At(size - 4.0, size - 4.0));
                }
                Some(figure) => path::square(&mut shades[shown.shade(*figure, most)], corner, size),
                None => {
                    let start = At(corner.0 + (0.5 * (size - dash)).round(), corner.1 + (0.5 * size).round());
                    path::line(&mut unmet, start, At(dash, 0.0));
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

/// The figures, each with its sentence.
fn written(canvas: &mut Canvas, grid: HeatmapData<'_>, plan: &HeatPlan, shown: HeatValues, most: f64, frame: Frame) {
    for (row, figures) in grid.figures.iter().enumerate() {
        for (column, figure) in figures.iter().enumerate() {
            let Some(figure) = figure.filter(|_| row != column) else { continue };
            let class = if shown.is_dark(shown.shade(figure, most)) { "figure on-dark" } else { "figure" };
            let (corner, value) = (plan.corner(row, column), shown.in_full(figure));
            let at = At(corner.0 + 0.5 * plan.cell, corner.1 + 0.5 * plan.cell + 4.0);
            let values = [("row", grid.names[row].as_str()), ("column", &grid.names[column]), ("value", &value)];
            canvas.tipped_text(class, at, &shown.written(figure), &fill(shown.tip(frame), &values));
        }
    }
}

fn legend(canvas: &mut Canvas, shown: HeatValues, most: f64, at: At, frame: Frame) {
    let start = LEFT.max(at.0 - 60.0) + 60.0;
    for shade in 0..SHADES {
        canvas.rect(&format!("cell {}", shown.class(shade)), At(start + 18.0 * real(shade), at.1), 18.0, 12.0);
    }
    let (low, high) = match shown {
        HeatValues::Counts => ("1".to_owned(), shown.in_full(most)),
        HeatValues::Wins | HeatValues::Predicted => ("0 %".to_owned(), "100 %".to_owned()),
    };
    let end = start + 18.0 * real(SHADES);
    canvas.text("quiet end", At(start - 6.0, at.1 + 10.0), &low);
    canvas.text("quiet", At(end + 6.0, at.1 + 10.0), &high);
    if shown != HeatValues::Counts {
        canvas.text("quiet middle", At(start + 9.0 * real(SHADES), at.1 + 26.0), "50 %");
    }
    let mark = end + 62.0;
    canvas.line("self", At(mark, at.1 + 6.0), At(mark + 7.0, at.1 + 6.0));
    canvas.text("quiet", At(mark + 14.0, at.1 + 10.0), shown.missing(frame));
}

/// The figures above the diagonal, as (row, column, figure).
fn pairs(grid: HeatmapData<'_>) -> impl Iterator<Item = (usize, usize, f64)> {
    let rows = grid.figures.iter().enumerate();
    let cells = rows.flat_map(|(row, figures)| figures.iter().enumerate().map(move |(column, &f)| (row, column, f)));
    cells.filter_map(|(row, column, figure)| (column > row).then_some((row, column, figure?)))
}

fn largest(grid: HeatmapData<'_>) -> f64 {
    pairs(grid).map(|(_, _, figure)| figure).fold(0.0, f64::max)
}

fn words(shown: HeatValues, grid: HeatmapData<'_>, frame: Frame) -> Caption {
    let texts = shown.texts(frame);
    let mut pairs: Vec<_> = pairs(grid).collect();
    let weight = |figure: f64| if shown == HeatValues::Counts { figure } else { (figure - 0.5).abs() };
    pairs.sort_by(|x, y| weight(y.2).total_cmp(&weight(x.2)));
    let tell = |&(row, column, figure): &(usize, usize, f64)| {
        let value = shown.in_full(figure);
        fill(shown.tip(frame), &[("row", &grid.names[row]), ("column", &grid.names[column]), ("value", &value)])
    };
    let descriptions: Vec<String> = pairs.iter().take(MAX_DESCRIBED).map(tell).collect();
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
