//! Times on the command line.

use crate::domain::time::{Timestamp, parse_end, parse_moment};

/// Text that is no time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write 2026-11-21 or 2026-11-21T08:00:00Z")]
pub(super) struct NoTime;

/// Reads a date, which begins at midnight, or a time; in UTC where no zone is named.
pub(super) fn parse_time(text: &str) -> Result<Timestamp, NoTime> {
    parse_moment(text).map(|moment| Timestamp(moment.as_millisecond())).ok_or(NoTime)
}

/// Reads the first moment that is too late for what is "as of" a date or time: a date means all of its day.
pub(super) fn parse_end_time(text: &str) -> Result<Timestamp, NoTime> {
    parse_end(text).map(|moment| Timestamp(moment.as_millisecond())).ok_or(NoTime)
}

/// A time in UTC as commands print it, such as `2026-11-21T08:00:00.5Z`.
pub(super) fn show_time(time: Timestamp) -> String {
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
            assert_eq!(parse_time(text), Err(NoTime), "{text:?}");
        }
    }
}
