//! Points in time, and how texts name them.

/// Milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// The moment that a text names: a date and time, in UTC where it names no zone, or a date, which begins at midnight UTC.
#[must_use]
pub fn parse_moment(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok().or_else(|| {
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
    fn a_day_begins_at_midnight_in_utc() {
        assert_eq!(day_of(Timestamp(DAY + 1)), Timestamp(DAY));
        assert_eq!(day_of(Timestamp(2 * DAY - 1)), Timestamp(DAY));
        assert_eq!(day_of(Timestamp(-1)), Timestamp(-DAY));
    }
}
