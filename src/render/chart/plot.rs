//! Frame of a scatter plot: two axes, the intervals of the dots, and their names where they fit.

use super::axis::{Axis, label};
use super::svg::{Canvas, SvgPoint};
use super::text::{shorten, width};
use crate::domain::stats::Interval;

/// Subject of a scatter plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Its name.
    pub name: String,
    /// Its horizontal and vertical value.
    pub at: [f64; 2],
    /// Their intervals.
    pub intervals: [Option<Interval>; 2],
}

pub(super) const WIDTH: f64 = 720.0;
pub(super) const HEIGHT: f64 = 520.0;
pub(super) const PLOT_END: f64 = 700.0;
pub(super) const TOP: f64 = 64.0;
const PLOT: f64 = 84.0;
const BOTTOM: f64 = 450.0;
/// Maximum width of a name next to a dot, in units of the font size.
const MAX_NAME_WIDTH: f64 = 14.0;

/// Horizontal and vertical axis.
pub(super) struct Plot {
    pub(super) axes: [Axis; 2],
}

impl Plot {
    /// Creates axes that cover all dots, of which there is at least one.
    pub(super) fn over(dots: &[&Dot]) -> Self {
        Self { axes: [axis(dots, 0), axis(dots, 1)] }
    }

    pub(super) fn place(&self, [x, y]: [f64; 2]) -> SvgPoint {
        SvgPoint(self.axes[0].place(self.axes[0].clamped(x)), self.axes[1].place(self.axes[1].clamped(y)))
    }

    /// Round values of both axes with their labels.
    pub(super) fn ticks(&self) -> [Vec<(f64, String)>; 2] {
        let labelled = |axis: &Axis, count: f64| -> Vec<(f64, String)> {
            axis.ticks(count).into_iter().map(|tick| (tick, label(tick, axis.span()))).collect()
        };
        [labelled(&self.axes[0], 7.0), labelled(&self.axes[1], 6.0)]
    }

    /// Draws the axes with their ticks and titles.
    pub(super) fn scales(&self, canvas: &mut Canvas, titles: [&str; 2], [across, upwards]: &[Vec<(f64, String)>; 2]) {
        for (tick, text) in across {
            let x = self.axes[0].place(*tick);
            canvas.line("grid", SvgPoint(x, TOP), SvgPoint(x, BOTTOM));
            canvas.text("quiet middle", SvgPoint(x, BOTTOM + 20.0), text);
        }
        for (tick, text) in upwards {
            let y = self.axes[1].place(*tick);
            canvas.line("grid", SvgPoint(PLOT, y), SvgPoint(PLOT_END, y));
            canvas.text("quiet end", SvgPoint(PLOT - 8.0, y + 4.0), text);
        }
        let [across, upwards] = titles;
        let at = SvgPoint(f64::midpoint(PLOT, PLOT_END), BOTTOM + 46.0);
        canvas.with_tooltip(across, |canvas| canvas.text("middle", at, &shorten(across, (PLOT_END - PLOT) / 13.0)));
        let at = SvgPoint(24.0, f64::midpoint(TOP, BOTTOM));
        canvas.with_tooltip(upwards, |canvas| canvas.upright("middle", at, &shorten(upwards, (BOTTOM - TOP) / 13.0)));
    }

    /// Draws the intervals as thin crosses.
    pub(super) fn crosses(&self, canvas: &mut Canvas, dots: &[&Dot]) {
        for dot in dots {
            let [x, y] = dot.at;
            if let Some(ends) = dot.intervals[0] {
                canvas.line("cross", self.place([ends.lower, y]), self.place([ends.upper, y]));
            }
            if let Some(ends) = dot.intervals[1] {
                canvas.line("cross", self.place([x, ends.lower]), self.place([x, ends.upper]));
            }
        }
    }

    /// Draws each dot with its tooltip and, if it fits, its name.
    pub(super) fn dots<'t>(&self, canvas: &mut Canvas, dots: impl Iterator<Item = PlacedScatterPoint<'t>>) {
        let dots: Vec<(PlacedScatterPoint<'_>, SvgPoint)> = dots
            .map(|dot| {
                let at = self.place(dot.at);
                (dot, at)
            })
            .collect();
        let mut taken: Vec<TakenArea> =
            dots.iter().map(|&(_, SvgPoint(x, y))| TakenArea::centred_at(x, y, 5.0)).collect();
        for (dot, at) in &dots {
            canvas.with_tooltip(&dot.tip, |canvas| {
                canvas.circle(dot.class, *at, 4.0);
                let text = shorten(dot.name, MAX_NAME_WIDTH);
                if let Some((class, place, room)) = find_free_position(*at, &text, &taken) {
                    canvas.text(class, place, &text);
                    taken.push(room);
                }
            });
        }
    }
}

/// Dot with its name, position and style.
pub(super) struct PlacedScatterPoint<'t> {
    pub(super) name: &'t str,
    pub(super) at: [f64; 2],
    pub(super) class: &'static str,
    pub(super) tip: String,
}

/// Creates an axis over the values and their intervals, limited so that wide intervals do not compress the dots.
fn axis(dots: &[&Dot], side: usize) -> Axis {
    let values = || dots.iter().map(|dot| dot.at[side]);
    let (low, high) = values().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
    let (size, spread) = (low.abs().max(high.abs()), high - low);
    let beside = if spread > 0.0 { size * 1e-9 } else { (0.05 * size).max(0.5) };
    let most = 0.5 * spread.max(beside);
    let held = |value: f64| value.clamp(low - most, high + most);
    let ends = dots.iter().filter_map(|dot| dot.intervals[side]).flat_map(|ends| [ends.lower, ends.upper]);
    let [start, end] = if side == 0 { [PLOT, PLOT_END] } else { [BOTTOM, TOP] };
    Axis::over(values().chain(ends.map(held)), beside, start, end)
}

/// Occupied rectangle.
#[derive(Clone, Copy)]
struct TakenArea {
    from: SvgPoint,
    to: SvgPoint,
}

impl TakenArea {
    fn centred_at(x: f64, y: f64, half: f64) -> Self {
        Self { from: SvgPoint(x - half, y - half), to: SvgPoint(x + half, y + half) }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.from.0 < other.to.0 && other.from.0 < self.to.0 && self.from.1 < other.to.1 && other.from.1 < self.to.1
    }

    fn is_in_plot(&self) -> bool {
        self.from.0 >= PLOT && self.to.0 <= PLOT_END + 16.0 && self.from.1 >= TOP - 8.0 && self.to.1 <= BOTTOM
    }
}

/// Finds a free position for a dot's name: right, left, above, below, and between these.
fn find_free_position(
    SvgPoint(x, y): SvgPoint,
    text: &str,
    taken: &[TakenArea],
) -> Option<(&'static str, SvgPoint, TakenArea)> {
    const PLACES: [(&str, f64, f64); 8] = [
        ("halo", 8.0, 4.5),
        ("halo end", -8.0, 4.5),
        ("halo middle", 0.0, -9.0),
        ("halo middle", 0.0, 18.0),
        ("halo", 6.0, -6.0),
        ("halo", 6.0, 15.0),
        ("halo end", -6.0, -6.0),
        ("halo end", -6.0, 15.0),
    ];
    let wide = width(text) * 13.0;
    let places = PLACES.into_iter().map(|(class, right, down)| {
        let left = match class {
            "halo end" => -wide,
            "halo middle" => -0.5 * wide,
            _ => 0.0,
        };
        let (left, base) = (x + right + left, y + down);
        let room = TakenArea { from: SvgPoint(left, base - 10.5), to: SvgPoint(left + wide, base + 3.5) };
        (class, SvgPoint(x + right, base), room)
    });
    places.into_iter().find(|(_, _, room)| room.is_in_plot() && !taken.iter().any(|other| other.overlaps(room)))
}
