//! Line chart of ratings over time. The best models have a name at the end of their line, and their own colour, dashes and marks; the
//! others are thin.

use std::collections::HashMap;

use super::Frame;
use super::axis::{Axis, label};
use super::line_style::{LINE_STYLES, LineStyle, NameMargin, NamedLine, names};
use super::svg::{Canvas, Caption, SvgPoint};
use super::time::{self, milliseconds, minute};
use crate::domain::rating::leaderboards::history::Moment;
use crate::domain::rating::leaderboards::leaderboard::RankedModel;
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

/// One model's ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingTrace {
    /// The model.
    pub name: String,
    /// Times in milliseconds since 1970 and ratings, in the order of the times.
    pub points: Vec<(i64, f64)>,
}

const WIDTH: f64 = 860.0;
const PLOT: f64 = 64.0;
const PLOT_END: f64 = 640.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 440.0;
const HEIGHT: f64 = 480.0;
/// Maximum number of models in the description.
const MAX_DESCRIBED: usize = 5;

/// Draws the traces, best models first: the first ones get names.
#[must_use]
pub fn draw(traces: &[RatingTrace], frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let traces: Vec<&RatingTrace> = traces.iter().filter(|trace| !trace.points.is_empty()).collect();
    let mut canvas = Canvas::new(WIDTH, if has_moments(&traces) { HEIGHT } else { TOP });
    let words = words(&traces, texts);
    canvas.text("heading", SvgPoint(16.0, 26.0), &words.title);
    let named = traces.len().min(LINE_STYLES);
    let reading =
        if has_moments(&traces) { reading(named, traces.len(), texts) } else { why_empty(&traces, texts).to_owned() };
    canvas.text("quiet", SvgPoint(16.0, 46.0), &reading);
    if has_moments(&traces) {
        let points = || traces.iter().flat_map(|trace| &trace.points);
        let time = Axis::over(points().map(|point| milliseconds(point.0)), 500.0, PLOT, PLOT_END);
        let rating = Axis::over(points().map(|point| point.1), 5.0, BOTTOM, TOP);
        scales(&mut canvas, &time, &rating);
        let place = |point: &(i64, f64)| SvgPoint(time.place(milliseconds(point.0)), rating.place(point.1));
        let lines: Vec<Vec<SvgPoint>> = traces.iter().map(|trace| trace.points.iter().map(place).collect()).collect();
        for line in lines.iter().skip(named) {
            canvas.polyline("trace faint", line);
        }
        for (at, line) in lines.iter().take(named).enumerate().rev() {
            canvas.with_tooltip(&describe(traces[at], texts), |canvas| LineStyle::nth(at).draw(canvas, line));
        }
        names(
            &mut canvas,
            end_labels(&traces[..named], &lines),
            &NameMargin { left: PLOT_END, right: WIDTH, lowest: BOTTOM },
        );
    }
    canvas.finish(&words, frame)
}

/// Whether there is more than one time, and so a line.
fn has_moments(traces: &[&RatingTrace]) -> bool {
    let mut times = traces.iter().flat_map(|trace| &trace.points).map(|point| point.0);
    times.next().is_some_and(|first| times.any(|time| time != first))
}

fn why_empty(traces: &[&RatingTrace], texts: &'static ChartTexts) -> &'static str {
    if traces.is_empty() { texts.no_data } else { texts.history_of_a_moment }
}

/// Names of traces for the ends of their lines.
fn end_labels<'t>(traces: &[&'t RatingTrace], lines: &[Vec<SvgPoint>]) -> Vec<NamedLine<'t>> {
    let named = |(style, (trace, line)): (usize, (&'t RatingTrace, &Vec<SvgPoint>))| {
        let value = format!("{:.0}", trace.points.last()?.1);
        Some(NamedLine { style, name: &trace.name, value, end: *line.last()? })
    };
    traces.iter().copied().zip(lines).enumerate().filter_map(named).collect()
}

fn scales(canvas: &mut Canvas, times: &Axis, rating: &Axis) {
    for tick in rating.ticks(7.0) {
        let y = rating.place(tick);
        canvas.line("grid", SvgPoint(PLOT, y), SvgPoint(PLOT_END, y));
        canvas.text("quiet end", SvgPoint(PLOT - 8.0, y + 4.0), &label(tick, rating.span()));
    }
    time::scale(canvas, times, BOTTOM);
    canvas.line("rule", SvgPoint(PLOT, BOTTOM), SvgPoint(PLOT_END, BOTTOM));
}

fn reading(named: usize, all: usize, texts: &ChartTexts) -> String {
    if named == all {
        return texts.history_reading_all.to_owned();
    }
    fill(texts.history.reading, &[("named", &named.to_string())])
}

fn words(traces: &[&RatingTrace], texts: &'static ChartTexts) -> Caption {
    let times = || traces.iter().flat_map(|trace| &trace.points).map(|point| milliseconds(point.0));
    let descriptions: Vec<String> = traces.iter().take(MAX_DESCRIBED).map(|trace| describe(trace, texts)).collect();
    let values = [
        ("count", traces.len().to_string()),
        ("first", minute(times().fold(f64::INFINITY, f64::min))),
        ("last", minute(times().fold(f64::NEG_INFINITY, f64::max))),
        ("models", descriptions.join(" ")),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    let description = if has_moments(traces) {
        fill(texts.history.description, &values)
    } else {
        why_empty(traces, texts).to_owned()
    };
    Caption { key: "history".into(), title: texts.history.title.to_owned(), description }
}

fn describe(trace: &RatingTrace, texts: &ChartTexts) -> String {
    let rating = |point: Option<&(i64, f64)>| point.map_or_else(String::new, |point| format!("{:.0}", point.1));
    let (first, last) = (rating(trace.points.first()), rating(trace.points.last()));
    fill(texts.history_last, &[("name", &trace.name), ("first", &first), ("last", &last)])
}

/// Builds the traces of a leaderboard's models, in its order, from their past ratings.
#[must_use]
pub fn traces(models: &[RankedModel], moments: &[Moment]) -> Vec<RatingTrace> {
    let mut points: HashMap<&str, Vec<(i64, f64)>> = HashMap::new();
    for moment in moments {
        let time = jiff::SignedDuration::try_from_secs_f64(moment.seconds).unwrap_or_default().as_millis();
        let time = i64::try_from(time).unwrap_or(i64::MAX);
        for (model, rating) in &moment.ratings {
            points.entry(model).or_default().push((time, *rating));
        }
    }
    let trace = |model: &RankedModel| {
        Some(RatingTrace { name: model.model.clone(), points: points.remove(model.model.as_str())? })
    };
    models.iter().filter_map(trace).collect()
}
