//! Time axes: round times and their labels.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::axis::Axis;
use super::svg::{Canvas, SvgPoint};

/// Intervals between ticks in milliseconds, from a second to two weeks.
const TICK_INTERVALS_MS: [f64; 13] =
    [1e3, 1e4, 6e4, 3e5, 9e5, 3.6e6, 1.08e7, 2.16e7, 4.32e7, 8.64e7, 1.728e8, 6.048e8, 1.2096e9];
/// Longer intervals in calendar months.
const TICK_INTERVALS_MONTHS: [i32; 13] = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 6_000, 12_000, 60_000];
/// Mean length of a month in milliseconds.
const MONTH_MS: f64 = 2.629_746e9;
/// Maximum number of intervals on an axis.
const MAX_INTERVALS: f64 = 5.0;

/// Draws about five ticks of a time axis with their labels, below a plot that ends at `bottom`.
pub(super) fn scale(canvas: &mut Canvas, time: &Axis, bottom: f64) {
    for (tick, label) in ticks(time) {
        let x = time.place(tick);
        canvas.line("grid", SvgPoint(x, bottom), SvgPoint(x, bottom + 5.0));
        canvas.text("quiet middle", SvgPoint(x, bottom + 20.0), &label);
    }
}

/// Returns round times with their labels, none of them after the last value. The first label has the year.
fn ticks(time: &Axis) -> Vec<(f64, String)> {
    let (mut ticks, [first, others]) =
        match TICK_INTERVALS_MS.into_iter().find(|step| time.span() <= MAX_INTERVALS * step) {
            Some(step) => (time.multiples(step), formats(step)),
            None => calendar_ticks(time),
        };
    ticks.retain(|tick| *tick <= time.last());
    if ticks.is_empty() {
        ticks.push(time.last());
    }
    let label = |(place, tick)| (tick, moment(tick, if place == 0 { first } else { others }));
    ticks.into_iter().enumerate().map(label).collect()
}

/// Formats of the first label and of the others for an interval of at most two weeks.
fn formats(step: f64) -> [&'static str; 2] {
    match step {
        step if step < 6e4 => ["%Y-%m-%d %H:%M:%S", "%H:%M:%S"],
        step if step < 8.64e7 => ["%Y-%m-%d %H:%M", "%m-%d %H:%M"],
        _ => ["%Y-%m-%d"; 2],
    }
}

/// Returns the first days of months or years on the axis, and the formats of the labels.
fn calendar_ticks(time: &Axis) -> (Vec<f64>, [&'static str; 2]) {
    let fits = |months: &i32| time.span() <= MAX_INTERVALS * MONTH_MS * f64::from(*months);
    let months = TICK_INTERVALS_MONTHS.into_iter().find(fits).unwrap_or(60_000);
    let format = if months < 12 { "%Y-%m" } else { "%Y" };
    let [low, high] = time.ends();
    let Some(start) = timestamp(low) else { return (Vec::new(), [format; 2]) };
    let start = start.to_zoned(TimeZone::UTC).date();
    let month = i32::from(start.year()) * 12 + i32::from(start.month()) - 1;
    let round = month.div_euclid(months) * months;
    let ticks = (0..).map_while(|place| first_of_month(round + place * months));
    (ticks.skip_while(|tick| *tick < low).take_while(|tick| *tick <= high).collect(), [format; 2])
}

/// First day of the month `months` after January of the year 0, in milliseconds since 1970; `None` beyond the calendar's range.
fn first_of_month(months: i32) -> Option<f64> {
    let year = i16::try_from(months.div_euclid(12)).ok()?;
    let month = i8::try_from(months.rem_euclid(12) + 1).ok()?;
    let day = Date::new(year, month, 1).ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(milliseconds(day.timestamp().as_millisecond()))
}

/// Formats a time of the axis; empty if out of the calendar's range.
fn moment(milliseconds: f64, format: &str) -> String {
    timestamp(milliseconds).map_or_else(String::new, |time| time.strftime(format).to_string())
}

fn timestamp(milliseconds: f64) -> Option<Timestamp> {
    Timestamp::from_duration(SignedDuration::try_from_secs_f64(milliseconds / 1e3).ok()?).ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: &str, last: &str, expected: &[&str]) {
        let time = |text: &str| milliseconds(text.parse::<Timestamp>().unwrap().as_millisecond());
        let axis = Axis::over([time(first), time(last)].into_iter(), 500.0, 0.0, 500.0);
        let labels: Vec<String> = ticks(&axis).into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, expected, "{first} to {last}");
    }

    #[test]
    fn ticks_of_years_and_months_are_their_first_days() {
        check("2024-03-10T00:00:00Z", "2026-11-29T00:00:00Z", &["2025", "2026"]);
        check("2025-11-05T00:00:00Z", "2026-11-29T00:00:00Z", &["2026-01", "2026-04", "2026-07", "2026-10"]);
        check("2026-09-05T00:00:00Z", "2026-11-29T00:00:00Z", &["2026-10", "2026-11"]);
        assert_eq!(first_of_month(2026 * 12), Some(1_767_225_600_000.0));
    }

    #[test]
    fn no_tick_follows_the_last_value() {
        let times = ["2026-11-29 06:00", "11-29 09:00", "11-29 12:00", "11-29 15:00"];
        check("2026-11-29T06:00:00Z", "2026-11-29T17:45:00Z", &times);
        check("2026-11-29T17:00:00.7Z", "2026-11-29T17:00:00.7Z", &["2026-11-29 17:00:00"]);
    }

    #[test]
    fn the_first_label_alone_has_the_year_of_a_short_time() {
        let seconds = ["2026-11-29 17:00:00", "17:00:01", "17:00:02", "17:00:03"];
        check("2026-11-29T17:00:00Z", "2026-11-29T17:00:03Z", &seconds);
    }
}
