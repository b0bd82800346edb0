//! Line chart of scores by turn: each model has its own dashes and marks and its name at the end of the line.

use super::axis::{Axis, label, real};
use super::line_style::{LINE_STYLES, LineStyle, NameMargin, NamedLine, names};
use super::svg::{Canvas, Caption, SvgPoint};
use super::{ChartSeries, Frame, Topic};
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 340.0;
const PLOT: f64 = 52.0;
const PLOT_END: f64 = 400.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 296.0;

/// Draws the first twelve models, so give the best first; the first value is of the turn `first`.
#[must_use]
pub fn draw(topic: Topic<'_>, first: u32, series: &[ChartSeries], frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let series: Vec<&ChartSeries> =
        series.iter().filter(|one| one.values.iter().any(Option::is_some)).take(LINE_STYLES).collect();
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    canvas.text("heading", SvgPoint(16.0, 26.0), topic.title);
    canvas.text("quiet", SvgPoint(16.0, 46.0), if series.is_empty() { texts.no_data } else { texts.curves.reading });
    if !series.is_empty() {
        lines(&mut canvas, first, &series, texts);
    }
    let descriptions: Vec<String> = series.iter().map(|one| describe(first, one, texts)).collect();
    let description = match series.as_slice() {
        [] => texts.no_data.to_owned(),
        series => {
            fill(texts.curves.description, &[("count", &series.len().to_string()), ("models", &descriptions.join(" "))])
        }
    };
    canvas.finish(&Caption { key: topic.key.to_owned().into(), title: topic.title.to_owned(), description }, frame)
}

fn lines<'s>(canvas: &mut Canvas, first: u32, series: &[&'s ChartSeries], texts: &ChartTexts) {
    let values = series.iter().flat_map(|one| &one.values).filter_map(|value| *value);
    let height = Axis::over(values, 0.2, BOTTOM, TOP);
    let turns = series.iter().map(|one| one.values.len()).max().unwrap_or_default();
    let turn = Axis::over([0.0, real(turns.saturating_sub(1))].into_iter(), 0.2, PLOT, PLOT_END);
    for tick in height.ticks(5.0) {
        let y = height.place(tick);
        canvas.line("grid", SvgPoint(PLOT, y), SvgPoint(PLOT_END, y));
        canvas.text("quiet end", SvgPoint(PLOT - 8.0, y + 4.0), &label(tick, height.span()));
    }
    for (number, place) in (first..).zip(0..turns) {
        let (x, number) = (turn.place(real(place)), number.to_string());
        canvas.text("quiet middle", SvgPoint(x, BOTTOM + 20.0), &fill(texts.turn, &[("n", &number)]));
    }
    canvas.line("rule", SvgPoint(PLOT, BOTTOM), SvgPoint(PLOT_END, BOTTOM));
    let place =
        |(place, value): (usize, &Option<f64>)| value.map(|y| SvgPoint(turn.place(real(place)), height.place(y)));
    let drawn = series.iter().map(|one| one.values.iter().enumerate().filter_map(place).collect::<Vec<SvgPoint>>());
    let drawn: Vec<Vec<SvgPoint>> = drawn.collect();
    for (style, line) in drawn.iter().enumerate().rev() {
        canvas.with_tooltip(&describe(first, series[style], texts), |canvas| LineStyle::nth(style).draw(canvas, line));
    }
    let name = |(style, (one, line)): (usize, (&'s ChartSeries, &Vec<SvgPoint>))| {
        let value = format!("{:.2}", one.values.iter().rev().find_map(|value| *value)?);
        Some(NamedLine { style, name: &one.name, value, end: *line.last()? })
    };
    let named = series.iter().copied().zip(&drawn).enumerate().filter_map(name).collect();
    names(canvas, named, &NameMargin { left: PLOT_END, right: WIDTH, lowest: BOTTOM });
}

fn describe(first: u32, series: &ChartSeries, texts: &ChartTexts) -> String {
    let one = |(turn, value): (u32, &Option<f64>)| {
        value.map(|value| format!("{} {value:.2}", fill(texts.turn, &[("n", &turn.to_string())])))
    };
    let turns: Vec<String> = (first..).zip(&series.values).filter_map(one).collect();
    format!("{}: {}.", series.name, turns.join(", "))
}
