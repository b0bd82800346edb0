//! Parsing and formatting of times on the command line.

use crate::domain::time::{Timestamp, parse_end, parse_moment};

/// Error of parsing a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write 2026-11-21 or 2026-11-21T08:00:00Z")]
pub(crate) struct InvalidTime;

/// Parses a date, which means midnight, or a time; in UTC if no zone is given.
pub(crate) fn parse_time(text: &str) -> Result<Timestamp, InvalidTime> {
    parse_moment(text).map(|moment| Timestamp(moment.as_millisecond())).ok_or(InvalidTime)
}

/// Parses the exclusive end of an "as of" date or time: a date includes its whole day.
pub(crate) fn parse_end_time(text: &str) -> Result<Timestamp, InvalidTime> {
    parse_end(text).map(|moment| Timestamp(moment.as_millisecond())).ok_or(InvalidTime)
}

/// Formats a time in UTC, such as `2026-11-21T08:00:00.5Z`.
pub(crate) fn show_time(time: Timestamp) -> String {
    time.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_begins_at_midnight_and_other_words_are_no_time() {
        assert_eq!(parse_time("2026-11-21"), Ok(Timestamp(1_795_219_200_000)));
        assert_eq!(parse_time("2026-11-21T08:00:00.5Z"), Ok(Timestamp(1_795_248_000_500)));
        assert_eq!(parse_time("1969-12-31T23:59:59Z"), Ok(Timestamp(-1_000)));
        assert_eq!(parse_time("2026-11-21T08:00:00"), Ok(Timestamp(1_795_248_000_000)), "no hour is lost");
        assert_eq!(show_time(Timestamp(1_795_248_000_500)), "2026-11-21T08:00:00.5Z");
        for text in ["", "soon", "2026-13-01", "1795219200"] {
            assert_eq!(parse_time(text), Err(InvalidTime), "{text:?}");
        }
    }
}
