//! Points in time and their text formats.

use std::fmt;

/// Milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl fmt::Display for Timestamp {
    /// Formats the time in UTC, such as `2026-11-21T08:00:00.5Z`; as milliseconds where it is outside the calendar's range.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment}"),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}

/// Parses a date and time, in UTC without a zone, or a date, which is its midnight in UTC. Returns `None` for a zone name without its
/// offset, as in `2026-11-21T08:00:00[Asia/Shanghai]`: the offset would need a lookup.
#[must_use]
pub fn parse_moment(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok().or_else(|| {
        if text.contains('[') {
            return None;
        }
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    })
}

/// Parses the exclusive end of an "as of" period: the moment itself, or the end of a day in UTC.
#[must_use]
pub fn parse_end(text: &str) -> Option<jiff::Timestamp> {
    let is_day = !text.contains(['T', 't', ' ']);
    let day = jiff::SignedDuration::from_hours(if is_day { 24 } else { 0 });
    parse_moment(text)?.checked_add(day).ok()
}

/// Milliseconds per day.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Returns the beginning of a moment's day in UTC.
#[must_use]
pub fn day_of(moment: Timestamp) -> Timestamp {
    Timestamp(moment.0 - moment.0.rem_euclid(DAY_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_counts_by_its_offset_and_its_name_alone_is_refused() {
        let moment = |text: &str| parse_moment(text).map(|moment| moment.to_string());
        let midnight = Some("2026-11-21T00:00:00Z".to_owned());
        for text in
            ["2026-11-21", "2026-11-21T00:00", "2026-11-21T08:00:00+08:00", "2026-11-21T08:00:00+08:00[Asia/Shanghai]"]
        {
            assert_eq!(moment(text), midnight, "{text}");
        }
        for text in ["2026-11-21T08:00:00[Asia/Shanghai]", "2026-11-21[Asia/Shanghai]"] {
            assert_eq!((moment(text), parse_end(text)), (None, None), "{text}");
        }
    }

    #[test]
    fn a_moment_is_written_in_utc() {
        assert_eq!(Timestamp(1_795_248_000_500).to_string(), "2026-11-21T08:00:00.5Z");
        assert_eq!(Timestamp(-1_000).to_string(), "1969-12-31T23:59:59Z");
        assert_eq!(Timestamp(i64::MAX).to_string(), i64::MAX.to_string());
    }

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        assert_eq!(day_of(Timestamp(DAY_MS + 1)), Timestamp(DAY_MS));
        assert_eq!(day_of(Timestamp(2 * DAY_MS - 1)), Timestamp(DAY_MS));
        assert_eq!(day_of(Timestamp(-1)), Timestamp(-DAY_MS));
    }
}
