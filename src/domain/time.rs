//! Points in time, and how texts name them.

use std::fmt;

/// Milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl fmt::Display for Timestamp {
    /// In UTC, such as `2026-11-21T08:00:00.5Z`; the milliseconds where no calendar has the day.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment}"),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}

/// The moment that a text names: a date and time, in UTC where it names no zone, or a date, which begins at midnight UTC. `None` where a zone's
/// name stands without its offset, as in `2026-11-21T08:00:00[Asia/Shanghai]`: the offset would have to be looked up.
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

/// The first moment that is too late for what is "as of" a text: the moment itself, or the end of a day in UTC.
#[must_use]
pub fn parse_end(text: &str) -> Option<jiff::Timestamp> {
    let is_day = !text.contains(['T', 't', ' ']);
    let day = jiff::SignedDuration::from_hours(if is_day { 24 } else { 0 });
    parse_moment(text)?.checked_add(day).ok()
}

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// When the day of a moment began, in UTC.
#[must_use]
pub fn day_of(moment: Timestamp) -> Timestamp {
    Timestamp(moment.0 - moment.0.rem_euclid(DAY))
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
        assert_eq!(day_of(Timestamp(DAY + 1)), Timestamp(DAY));
        assert_eq!(day_of(Timestamp(2 * DAY - 1)), Timestamp(DAY));
        assert_eq!(day_of(Timestamp(-1)), Timestamp(-DAY));
    }
}
