//! Two series against each other: a dot a subject, its intervals as a thin cross, and the line of least squares.
//!
//! The line is y = a + b·x with b = Σ(x−x̄)(y−ȳ) / Σ(x−x̄)² and a = ȳ − b·x̄. A name stands beside its dot where there is
//! room for it; every name is in the dot's tooltip and in the description.

use super::axis::{Axis, label, real};
use super::svg::{At, Canvas, Caption};
use super::text::{shorten, width};
use super::{Frame, Topic};
use crate::domain::stats::Interval;
use crate::render::i18n::charts::ChartTexts;
use crate::render::i18n::charts::chart_texts;
use crate::render::i18n::fill;

/// One subject in both series.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Its name.
    pub name: String,
    /// Its values across and upwards.
    pub at: [f64; 2],
    /// Their intervals.
    pub intervals: [Option<Interval>; 2],
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 520.0;
const PLOT: f64 = 84.0;
const PLOT_END: f64 = 700.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 450.0;
/// Two dots always lie on a line.
const FEWEST: usize = 3;
/// Longest name beside a dot, in units of the font's size.
const NAME: f64 = 14.0;
/// Dots that the description names.
const TOLD: usize = 60;

/// Draws the dots whose values are finite. `titles` are those of the axis across and the one upwards, with their units.
#[must_use]
pub fn draw(topic: Topic<'_>, titles: [&str; 2], dots: &[Dot], frame: Frame) -> String {
    let said = chart_texts(frame.language);
    let dots: Vec<&Dot> = dots.iter().filter(|dot| dot.at.iter().all(|value| value.abs() < 1e100)).collect();
    let line = FitLine::of(&dots);
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let room = WIDTH - 32.0;
    canvas.tipped(topic.title, |canvas| canvas.text("heading", At(16.0, 26.0), &shorten(topic.title, room / 16.0)));
    canvas.text("quiet", At(16.0, 46.0), if dots.is_empty() { said.no_data } else { said.scatter.reading });
    if !dots.is_empty() {
        let plot = Plot { axes: [axis(&dots, 0), axis(&dots, 1)] };
        plot.scales(&mut canvas, titles);
        plot.crosses(&mut canvas, &dots);
        match line {
            Ok(line) => canvas.tipped(&line.told(said), |canvas| plot.line(canvas, line)),
            Err(why) => canvas.text("quiet end", At(PLOT_END - 4.0, TOP + 14.0), &why.told(titles, said)),
        }
        plot.dots(&mut canvas, &dots, said);
    }
    canvas.finish(&words(topic, titles, &dots, line, said), frame)
}

/// An axis over the values and their intervals, as far as these do not press the dots together.
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

/// Why there is no line.
#[derive(Clone, Copy)]
enum NoLine {
    Few,
    /// By the axis.
    Constant(usize),
}

impl NoLine {
    fn told(self, titles: [&str; 2], said: &ChartTexts) -> String {
        match self {
            Self::Few => said.scatter_few.to_owned(),
            Self::Constant(axis) => fill(said.scatter_constant, &[("axis", &shorten(titles[axis], 30.0))]),
        }
    }
}

/// y = a + b·x
#[derive(Clone, Copy)]
struct FitLine {
    a: f64,
    b: f64,
}

impl FitLine {
    fn of(dots: &[&Dot]) -> Result<Self, NoLine> {
        if dots.len() < FEWEST {
            return Err(NoLine::Few);
        }
        let mean = |side: usize| dots.iter().map(|dot| dot.at[side] / real(dots.len())).sum::<f64>();
        let means = [mean(0), mean(1)];
        let sum = |one: usize, other: usize| -> f64 {
            dots.iter().map(|dot| (dot.at[one] - means[one]) * (dot.at[other] - means[other])).sum()
        };
        let constant = |side: usize| dots.iter().all(|dot| dot.at[side].total_cmp(&dots[0].at[side]).is_eq());
        if let Some(axis) = [0, 1].into_iter().find(|&side| constant(side)) {
            return Err(NoLine::Constant(axis));
        }
        let b = sum(0, 1) / sum(0, 0);
        Ok(Self { a: means[1] - b * means[0], b })
    }

    fn told(self, said: &ChartTexts) -> String {
        let sign = if self.b < 0.0 { '−' } else { '+' };
        let b = format!("{sign} {}", significant(self.b.abs()));
        fill(said.scatter_line, &[("a", &significant(self.a)), ("b", &b)])
    }
}

/// A number with four digits.
fn significant(value: f64) -> String {
    if value.abs() >= 1e6 || (value != 0.0 && value.abs() < 1e-3) {
        return format!("{value:.3e}");
    }
    let decimals = [1e3, 1e2, 1e1, 1e0].into_iter().position(|size| value.abs() >= size).unwrap_or(4);
    format!("{value:.decimals$}")
}

/// The axes across and upwards.
struct Plot {
    axes: [Axis; 2],
}

impl Plot {
    fn place(&self, [x, y]: [f64; 2]) -> At {
        At(self.axes[0].place(self.axes[0].held(x)), self.axes[1].place(self.axes[1].held(y)))
    }

    fn scales(&self, canvas: &mut Canvas, titles: [&str; 2]) {
        let [across, upwards] = &self.axes;
        for tick in across.ticks(7.0) {
            let x = across.place(tick);
            canvas.line("grid", At(x, TOP), At(x, BOTTOM));
            canvas.text("quiet middle", At(x, BOTTOM + 20.0), &label(tick, across.span()));
        }
        for tick in upwards.ticks(6.0) {
            let y = upwards.place(tick);
            canvas.line("grid", At(PLOT, y), At(PLOT_END, y));
            canvas.text("quiet end", At(PLOT - 8.0, y + 4.0), &label(tick, upwards.span()));
        }
        let [across, upwards] = titles;
        let at = At(f64::midpoint(PLOT, PLOT_END), BOTTOM + 46.0);
        canvas.tipped(across, |canvas| canvas.text("middle", at, &shorten(across, (PLOT_END - PLOT) / 13.0)));
        let at = At(24.0, f64::midpoint(TOP, BOTTOM));
        canvas.tipped(upwards, |canvas| canvas.upright("middle", at, &shorten(upwards, (BOTTOM - TOP) / 13.0)));
    }

    fn crosses(&self, canvas: &mut Canvas, dots: &[&Dot]) {
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

    /// The part of the line that is inside the plot.
    fn line(&self, canvas: &mut Canvas, FitLine { a, b }: FitLine) {
        let [left, right] = self.axes[0].ends();
        let [low, high] = self.axes[1].ends();
        let (from, to) = if b == 0.0 {
            (left, right)
        } else {
            let [one, other] = [(low - a) / b, (high - a) / b];
            (left.max(one.min(other)), right.min(one.max(other)))
        };
        canvas.line("fit", self.place([from, a + b * from]), self.place([to, a + b * to]));
    }

    fn dots(&self, canvas: &mut Canvas, dots: &[&Dot], said: &ChartTexts) {
        let places: Vec<At> = dots.iter().map(|dot| self.place(dot.at)).collect();
        let mut taken: Vec<Room> = places.iter().map(|&At(x, y)| Room::around(x, y, 5.0)).collect();
        for (dot, &at) in dots.iter().zip(&places) {
            canvas.tipped(&told(dot, said), |canvas| {
                canvas.circle("point", at, 4.0);
                let text = shorten(&dot.name, NAME);
                if let Some((class, place, room)) = free(at, &text, &taken) {
                    canvas.text(class, place, &text);
                    taken.push(room);
                }
            });
        }
    }
}

/// A rectangle that is taken.
#[derive(Clone, Copy)]
struct Room {
    from: At,
    to: At,
}

impl Room {
    fn around(x: f64, y: f64, half: f64) -> Self {
        Self { from: At(x - half, y - half), to: At(x + half, y + half) }
    }

    fn meets(&self, other: &Self) -> bool {
        self.from.0 < other.to.0 && other.from.0 < self.to.0 && self.from.1 < other.to.1 && other.from.1 < self.to.1
    }

    fn is_in_plot(&self) -> bool {
        self.from.0 >= PLOT && self.to.0 <= PLOT_END + 16.0 && self.from.1 >= TOP - 8.0 && self.to.1 <= BOTTOM
    }
}

/// Where beside its dot a name stands free: to the right, to the left, above, below, and between these.
fn free(At(x, y): At, text: &str, taken: &[Room]) -> Option<(&'static str, At, Room)> {
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
        let room = Room { from: At(left, base - 10.5), to: At(left + wide, base + 3.5) };
        (class, At(x + right, base), room)
    });
    places.into_iter().find(|(_, _, room)| room.is_in_plot() && !taken.iter().any(|other| other.meets(room)))
}

fn words(
    topic: Topic<'_>,
    titles: [&str; 2],
    dots: &[&Dot],
    line: Result<FitLine, NoLine>,
    said: &ChartTexts,
) -> Caption {
    let models: Vec<String> = dots.iter().take(TOLD).map(|dot| told(dot, said)).collect();
    let line = line.map_or_else(|why| why.told(titles, said), |line| line.told(said));
    let (count, models) = (dots.len().to_string(), models.join(" "));
    let values =
        [("count", count.as_str()), ("x", titles[0]), ("y", titles[1]), ("line", &line), ("models", models.as_str())];
    Caption {
        key: topic.key.to_owned().into(),
        title: topic.title.to_owned(),
        description: if dots.is_empty() { said.no_data.to_owned() } else { fill(said.scatter.description, &values) },
    }
}

/// A dot in words, with its intervals.
fn told(dot: &Dot, said: &ChartTexts) -> String {
    let figure = |side: usize| {
        let value = significant(dot.at[side]);
        dot.intervals[side].map_or(value.clone(), |ends| {
            format!("{value} ({} … {})", significant(ends.lower), significant(ends.upper))
        })
    };
    fill(said.scatter_one, &[("name", &dot.name), ("x", &figure(0)), ("y", &figure(1))])
}
