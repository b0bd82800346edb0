//! Time axes: round times and their labels.

use super::axis::Axis;
use super::svg::{At, Canvas};

/// Intervals between ticks in milliseconds, from a second to a year.
const STEPS: [f64; 16] = [
    1e3, 1e4, 6e4, 3e5, 9e5, 3.6e6, 1.08e7, 2.16e7, 4.32e7, 8.64e7, 1.728e8, 6.048e8, 1.2096e9, 2.592e9, 7.776e9,
    3.1536e10,
];

/// Draws about five ticks of a time axis with their labels, below a plot that ends at `bottom`.
pub(super) fn scale(canvas: &mut Canvas, time: &Axis, bottom: f64) {
    let step = STEPS.into_iter().find(|step| time.span() / step <= 5.0);
    let step = step.unwrap_or_else(|| STEPS[15] * (time.span() / STEPS[15] / 5.0).ceil());
    let format = match step {
        step if step < 6e4 => "%H:%M:%S",
        step if step < 8.64e7 => "%m-%d %H:%M",
        _ => "%Y-%m-%d",
    };
    for tick in time.multiples(step) {
        let x = time.place(tick);
        canvas.line("grid", At(x, bottom), At(x, bottom + 5.0));
        canvas.text("quiet middle", At(x, bottom + 20.0), &moment(tick, format));
    }
}

/// Formats a time of the axis; empty if out of the calendar's range.
pub(super) fn moment(milliseconds: f64, format: &str) -> String {
    let time =
        jiff::Timestamp::from_duration(jiff::SignedDuration::try_from_secs_f64(milliseconds / 1e3).unwrap_or_default());
    time.map_or_else(|_| String::new(), |time| time.strftime(format).to_string())
}

/// Formats a time to the minute.
pub(super) fn minute(milliseconds: f64) -> String {
    moment(milliseconds, "%Y-%m-%d %H:%M UTC")
}

/// Converts a time to a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "a time in milliseconds stays below 2^53 for 285,000 years")]
pub(super) fn milliseconds(time: i64) -> f64 {
    time as f64
}
