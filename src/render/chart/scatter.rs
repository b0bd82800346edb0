//! Scatter plots of two series: a dot for each subject, its intervals as a thin cross, and the least-squares line.
//!
//! The line is y = a + b·x with b = Σ(x−x̄)(y−ȳ) / Σ(x−x̄)² and a = ȳ − b·x̄. A name is shown next to its dot if it fits. Every name is
//! in the dot's tooltip and in the description; a page also lists the values.

use super::axis::real;
pub use super::plot::Dot;
use super::plot::{HEIGHT, PLOT_END, PlacedScatterPoint, Plot, TOP, WIDTH};
use super::svg::{Canvas, Caption, SvgPoint};
use super::text::shorten;
use super::{Frame, Topic};
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

/// Minimum number of dots for a line: two dots are always on one.
const MIN_DOTS: usize = 3;
/// Maximum number of dots in the description.
const MAX_DESCRIBED: usize = 60;

/// Draws the dots whose values are finite. `titles` are those of the horizontal and the vertical axis, with their units.
#[must_use]
pub fn draw(topic: Topic<'_>, titles: [&str; 2], dots: &[Dot], frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let dots: Vec<&Dot> = dots.iter().filter(|dot| dot.at.iter().all(|value| value.abs() < 1e100)).collect();
    let line = FitLine::new(&dots);
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let room = WIDTH - 32.0;
    canvas.with_tooltip(topic.title, |canvas| {
        canvas.text("heading", SvgPoint(16.0, 26.0), &shorten(topic.title, room / 16.0))
    });
    canvas.text("quiet", SvgPoint(16.0, 46.0), if dots.is_empty() { texts.no_data } else { texts.scatter.reading });
    if !dots.is_empty() {
        let plot = Plot::over(&dots);
        plot.scales(&mut canvas, titles, &plot.ticks());
        plot.crosses(&mut canvas, &dots);
        match line {
            Ok(line) => canvas.with_tooltip(&line.describe(texts), |canvas| draw_line(&plot, canvas, line)),
            Err(why) => canvas.text("quiet end", SvgPoint(PLOT_END - 4.0, TOP + 14.0), &why.describe(titles, texts)),
        }
        let drawn = dots.iter().map(|dot| PlacedScatterPoint {
            name: &dot.name,
            at: dot.at,
            class: "point",
            tip: describe(dot, texts),
        });
        plot.dots(&mut canvas, drawn);
    }
    canvas.finish(&caption(topic, titles, &dots, line, texts), frame)
}

/// Reason why no line is drawn.
#[derive(Clone, Copy)]
enum MissingLineReason {
    Few,
    /// The values of this axis are constant.
    Constant(usize),
}

impl MissingLineReason {
    fn describe(self, titles: [&str; 2], texts: &ChartTexts) -> String {
        match self {
            Self::Few => texts.scatter_few.to_owned(),
            Self::Constant(axis) => fill(texts.scatter_constant, &[("axis", &shorten(titles[axis], 30.0))]),
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
    fn new(dots: &[&Dot]) -> Result<Self, MissingLineReason> {
        if dots.len() < MIN_DOTS {
            return Err(MissingLineReason::Few);
        }
        let mean = |side: usize| dots.iter().map(|dot| dot.at[side] / real(dots.len())).sum::<f64>();
        let means = [mean(0), mean(1)];
        let sum = |one: usize, other: usize| -> f64 {
            dots.iter().map(|dot| (dot.at[one] - means[one]) * (dot.at[other] - means[other])).sum()
        };
        let constant = |side: usize| dots.iter().all(|dot| dot.at[side].total_cmp(&dots[0].at[side]).is_eq());
        if let Some(axis) = [0, 1].into_iter().find(|&side| constant(side)) {
            return Err(MissingLineReason::Constant(axis));
        }
        let b = sum(0, 1) / sum(0, 0);
        Ok(Self { a: means[1] - b * means[0], b })
    }

    fn describe(self, texts: &ChartTexts) -> String {
        let sign = if self.b < 0.0 { '−' } else { '+' };
        let b = format!("{sign} {}", significant(self.b.abs()));
        fill(texts.scatter_line, &[("a", &significant(self.a)), ("b", &b)])
    }
}

/// Formats a number with four significant digits.
fn significant(value: f64) -> String {
    if value.abs() >= 1e6 || (value != 0.0 && value.abs() < 1e-3) {
        return format!("{value:.3e}");
    }
    let decimals = [1e3, 1e2, 1e1, 1e0].into_iter().position(|size| value.abs() >= size).unwrap_or(4);
    format!("{value:.decimals$}")
}

/// The part of the line that is inside the plot.
fn draw_line(plot: &Plot, canvas: &mut Canvas, FitLine { a, b }: FitLine) {
    let [left, right] = plot.axes[0].ends();
    let [low, high] = plot.axes[1].ends();
    let (from, to) = if b == 0.0 {
        (left, right)
    } else {
        let [one, other] = [(low - a) / b, (high - a) / b];
        (left.max(one.min(other)), right.min(one.max(other)))
    };
    canvas.line("fit", plot.place([from, a + b * from]), plot.place([to, a + b * to]));
}

fn caption(
    topic: Topic<'_>,
    titles: [&str; 2],
    dots: &[&Dot],
    line: Result<FitLine, MissingLineReason>,
    texts: &ChartTexts,
) -> Caption {
    let models: Vec<String> = dots.iter().take(MAX_DESCRIBED).map(|dot| describe(dot, texts)).collect();
    let line = line.map_or_else(|why| why.describe(titles, texts), |line| line.describe(texts));
    let (count, models) = (dots.len().to_string(), models.join(" "));
    let values =
        [("count", count.as_str()), ("x", titles[0]), ("y", titles[1]), ("line", &line), ("models", models.as_str())];
    Caption {
        key: topic.key.to_owned().into(),
        title: topic.title.to_owned(),
        description: if dots.is_empty() { texts.no_data.to_owned() } else { fill(texts.scatter.description, &values) },
    }
}

/// Describes a dot with its intervals.
fn describe(dot: &Dot, texts: &ChartTexts) -> String {
    let coordinate = |side: usize| {
        let value = significant(dot.at[side]);
        dot.intervals[side].map_or(value.clone(), |ends| {
            format!("{value} ({} … {})", significant(ends.lower), significant(ends.upper))
        })
    };
    fill(texts.scatter_one, &[("name", &dot.name), ("x", &coordinate(0)), ("y", &coordinate(1))])
}
