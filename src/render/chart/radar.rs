//! Radar charts: several models on radial axes, distinguished by dashes and marks.

use std::f64::consts::TAU;

use super::axis::real;
use super::line_style::LineStyle;
use super::svg::{Canvas, Caption, SvgPoint};
use super::text::shorten;
use super::{ChartSeries, Frame, Topic};
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 470.0;
const CENTRE: SvgPoint = SvgPoint(345.0, 262.0);
const RADIUS: f64 = 160.0;
/// Distance from the rim to the labels.
const LABEL_DISTANCE: f64 = 14.0;
const LEGEND: SvgPoint = SvgPoint(700.0, 92.0);
/// Maximum number of models: more lines hide each other.
pub const MAX_MODELS: usize = 6;
const RING_COUNT: u32 = 4;

/// Draws the first [`MAX_MODELS`] models; pass the best first. Values go from 0 to `most`, on three axes or more.
#[must_use]
pub fn draw(topic: Topic<'_>, axes: &[String], series: &[ChartSeries], most: f64, frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let series = &series[..series.len().min(MAX_MODELS)];
    let words = words(topic, axes, series, most, texts);
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    canvas.text("heading", SvgPoint(16.0, 26.0), topic.title);
    if axes.len() < 3 || series.is_empty() {
        canvas.text("quiet", SvgPoint(16.0, 46.0), texts.no_data);
        return canvas.finish(&words, frame);
    }
    canvas.text(
        "quiet",
        SvgPoint(16.0, 46.0),
        &fill(texts.radar.reading, &[("low", "0"), ("high", &format_value(most))]),
    );
    draw_grid(&mut canvas, axes, most);
    for (style, one) in series.iter().enumerate().rev() {
        canvas.with_tooltip(&describe(axes, one), |canvas| outline(canvas, &LineStyle::nth(style), one, most));
    }
    legend(&mut canvas, series);
    canvas.finish(&words, frame)
}

/// Position on an axis at a share of the radius; the first axis points up, the others follow clockwise.
fn place(axis: usize, axes: usize, share: f64) -> SvgPoint {
    let (sin, cos) = (TAU * real(axis) / real(axes)).sin_cos();
    SvgPoint(CENTRE.0 + RADIUS * share * sin, CENTRE.1 - RADIUS * share * cos)
}

fn draw_grid(canvas: &mut Canvas, axes: &[String], most: f64) {
    let count = axes.len();
    for ring in 1..=RING_COUNT {
        let share = f64::from(ring) / f64::from(RING_COUNT);
        let mut points: Vec<SvgPoint> = (0..count).map(|axis| place(axis, count, share)).collect();
        points.extend(points.first().copied());
        canvas.polyline("trace faint", &points);
        canvas.text(
            "small quiet",
            SvgPoint(CENTRE.0 + 4.0, CENTRE.1 - RADIUS * share - 2.0),
            &format_value(most * share),
        );
    }
    for (axis, name) in axes.iter().enumerate() {
        let rim = place(axis, count, 1.0);
        canvas.line("grid", CENTRE, rim);
        label(canvas, name, place(axis, count, 1.0 + LABEL_DISTANCE / RADIUS));
    }
}

/// Draws an axis's name, aligned by its side of the chart.
fn label(canvas: &mut Canvas, name: &str, at: SvgPoint) {
    let aside = at.0 - CENTRE.0;
    let (class, room) = match aside {
        aside if aside.abs() < 8.0 => ("quiet middle", 300.0),
        aside if aside > 0.0 => ("quiet", LEGEND.0 - 20.0 - at.0),
        _ => ("quiet end", at.0 - 12.0),
    };
    canvas.with_tooltip(name, |canvas| canvas.text(class, SvgPoint(at.0, at.1 + 4.0), &shorten(name, room / 12.5)));
}

fn outline(canvas: &mut Canvas, style: &LineStyle, series: &ChartSeries, most: f64) {
    let share = |value: f64| (value / most).clamp(0.0, 1.0);
    let at = |(axis, value): (usize, &Option<f64>)| value.map(|value| place(axis, series.values.len(), share(value)));
    let points: Vec<Option<SvgPoint>> = series.values.iter().enumerate().map(at).collect();
    for run in runs(&points) {
        style.line(canvas, &run);
    }
    points.into_iter().flatten().for_each(|point| style.mark(canvas, point));
}

/// Splits a ring at its gaps; returns the whole closed ring if it has none.
fn runs(points: &[Option<SvgPoint>]) -> Vec<Vec<SvgPoint>> {
    let Some(gap) = points.iter().position(Option::is_none) else {
        return vec![points.iter().chain(points.first()).copied().flatten().collect()];
    };
    let from_gap: Vec<Option<SvgPoint>> = points[gap..].iter().chain(&points[..gap]).copied().collect();
    let runs = from_gap.split(Option::is_none).map(|run| run.iter().copied().flatten().collect::<Vec<SvgPoint>>());
    runs.filter(|run| run.len() > 1).collect()
}

fn legend(canvas: &mut Canvas, series: &[ChartSeries]) {
    for (style, one) in series.iter().enumerate() {
        let y = LEGEND.1 + 24.0 * real(style);
        let (start, end) = (SvgPoint(LEGEND.0, y), SvgPoint(LEGEND.0 + 34.0, y));
        LineStyle::nth(style).line(canvas, &[start, end]);
        LineStyle::nth(style).mark(canvas, SvgPoint(LEGEND.0 + 17.0, y));
        let name = shorten(&one.name, (WIDTH - end.0 - 20.0) / 13.0);
        canvas.with_tooltip(&one.name, |canvas| canvas.text("", SvgPoint(end.0 + 8.0, y + 4.5), &name));
    }
}

fn format_value(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn words(topic: Topic<'_>, axes: &[String], series: &[ChartSeries], most: f64, texts: &ChartTexts) -> Caption {
    let descriptions: Vec<String> = series.iter().map(|one| describe(axes, one)).collect();
    let [count, places, high] = [series.len().to_string(), axes.len().to_string(), format_value(most)];
    let values = [
        ("count", count.as_str()),
        ("places", &places),
        ("low", "0"),
        ("high", &high),
        ("models", &descriptions.join(" ")),
    ];
    let description = match series {
        [] => texts.no_data.to_owned(),
        _ => fill(texts.radar.description, &values),
    };
    Caption { key: topic.key.to_owned().into(), title: topic.title.to_owned(), description }
}

fn describe(axes: &[String], series: &ChartSeries) -> String {
    let text = |value: &Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
    let texts = axes.iter().zip(&series.values).map(|(axis, value)| format!("{axis} {}", text(value)));
    format!("{}: {}.", series.name, texts.collect::<Vec<_>>().join(", "))
}
