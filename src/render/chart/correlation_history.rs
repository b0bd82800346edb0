//! Chart of a correlation over time, with the number of compared subjects at each point.

use super::axis::{Axis, label};
use super::correlations::{MIN_SUBJECTS, signed};
use super::svg::{Canvas, Caption, SvgPoint};
use super::time::{self, milliseconds, minute};
use super::{Frame, Topic};
use crate::i18n::charts::ChartTexts;
use crate::i18n::charts::chart_texts;
use crate::i18n::fill;

/// Correlation at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrelationPoint {
    /// Time in milliseconds since 1970.
    pub time: i64,
    /// Number of compared subjects.
    pub n: usize,
    /// Correlation between −1 and 1, or the reason why it is undefined.
    pub r: Result<f64, String>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 330.0;
const PLOT: f64 = 64.0;
const PLOT_END: f64 = 690.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 266.0;
/// Room for a number below the line.
const NUMBER: f64 = 26.0;

/// Draws points in time order. The line has a gap where the correlation is undefined.
#[must_use]
pub fn draw(topic: Topic<'_>, moments: &[CorrelationPoint], frame: Frame) -> String {
    let texts = chart_texts(frame.language);
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let reading = fill(texts.correlation_history.reading, &[("few", &MIN_SUBJECTS.to_string())]);
    canvas.text("heading", SvgPoint(16.0, 26.0), topic.title);
    canvas.text("quiet", SvgPoint(16.0, 46.0), if moments.is_empty() { texts.no_data } else { &reading });
    if !moments.is_empty() {
        let times = Axis::over(moments.iter().map(|moment| milliseconds(moment.time)), 500.0, PLOT, PLOT_END);
        let height = Axis::over([-1.0, 1.0].into_iter(), 0.0, BOTTOM, TOP);
        draw_axes(&mut canvas, &times, &height);
        draw_subject_counts(&mut canvas, &times, moments);
        lines(&mut canvas, &times, &height, moments);
        draw_points(&mut canvas, &times, &height, moments, texts);
    }
    canvas.finish(&caption(topic, moments, texts), frame)
}

fn draw_axes(canvas: &mut Canvas, times: &Axis, height: &Axis) {
    for tick in [-1.0, -0.5, 0.0, 0.5, 1.0] {
        let y = height.place(tick);
        canvas.line(if tick == 0.0 { "rule" } else { "grid" }, SvgPoint(PLOT, y), SvgPoint(PLOT_END, y));
        canvas.text("quiet end", SvgPoint(PLOT - 8.0, y + 4.0), &label(tick, height.span()));
    }
    time::scale(canvas, times, BOTTOM + 24.0);
}

/// Draws the number of compared subjects where it changes and fits.
fn draw_subject_counts(canvas: &mut Canvas, times: &Axis, moments: &[CorrelationPoint]) {
    canvas.text("quiet end", SvgPoint(PLOT - 8.0, BOTTOM + 18.0), "n");
    let mut written: Option<(f64, usize)> = None;
    for moment in moments {
        let x = times.place(milliseconds(moment.time));
        if written.is_none_or(|(before, n)| n != moment.n && x - before >= NUMBER) {
            canvas.text("quiet middle", SvgPoint(x, BOTTOM + 18.0), &moment.n.to_string());
            written = Some((x, moment.n));
        }
    }
}

/// Draws a line through each run of points with a correlation.
fn lines(canvas: &mut Canvas, times: &Axis, height: &Axis, moments: &[CorrelationPoint]) {
    for run in moments.split(|moment| moment.r.is_err()).filter(|run| run.len() > 1) {
        let place = |moment: &CorrelationPoint| {
            let r = moment.r.as_ref().copied().unwrap_or_default();
            SvgPoint(times.place(milliseconds(moment.time)), height.place(r))
        };
        canvas.polyline("trace a solid", &run.iter().map(place).collect::<Vec<_>>());
    }
}

fn draw_points(canvas: &mut Canvas, times: &Axis, height: &Axis, moments: &[CorrelationPoint], texts: &ChartTexts) {
    for moment in moments {
        let Ok(r) = moment.r else { continue };
        let class = if moment.n < MIN_SUBJECTS { "hollow" } else { "point" };
        let at = SvgPoint(times.place(milliseconds(moment.time)), height.place(r));
        canvas.with_tooltip(&describe_point(moment, texts), |canvas| canvas.circle(class, at, 3.5));
    }
}

fn caption(topic: Topic<'_>, moments: &[CorrelationPoint], texts: &ChartTexts) -> Caption {
    let description = match moments {
        [] => texts.no_data.to_owned(),
        [first, .., last] => describe(moments, [first, last], texts),
        [only] => describe(moments, [only, only], texts),
    };
    Caption { key: topic.key.to_owned().into(), title: topic.title.to_owned(), description }
}

fn describe(moments: &[CorrelationPoint], [first, last]: [&CorrelationPoint; 2], texts: &ChartTexts) -> String {
    let models = if moments.len() == 1 {
        describe_point(last, texts)
    } else {
        format!("{} {}", describe_point(first, texts), describe_point(last, texts))
    };
    let values = [
        ("count", moments.len().to_string()),
        ("first", minute(milliseconds(first.time))),
        ("last", minute(milliseconds(last.time))),
        ("models", models),
    ];
    fill(texts.correlation_history.description, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

fn describe_point(moment: &CorrelationPoint, texts: &ChartTexts) -> String {
    let (time, n) = (minute(milliseconds(moment.time)), moment.n.to_string());
    match &moment.r {
        Ok(r) => fill(texts.correlation_history_one, &[("time", &time), ("value", &signed(*r)), ("n", &n)]),
        Err(reason) => fill(texts.correlation_history_none, &[("time", &time), ("reason", reason)]),
    }
}
