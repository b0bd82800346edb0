//! Formats of times on pages.

/// Formats a time in milliseconds since 1970 for readers.
pub fn time_text(milliseconds: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(milliseconds).ok();
    time.map_or_else(|| "–".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// Time for a `<time>` element: in UTC, which `static/js/local_times.js` converts to the reader's time zone.
pub(crate) struct ShownTime {
    /// Value of the `datetime` attribute; empty for a time out of range.
    pub(crate) machine: String,
    /// Text in UTC, with the zone.
    pub(crate) text: String,
}

impl ShownTime {
    /// Creates a time from milliseconds since 1970.
    pub(crate) fn new(milliseconds: i64) -> Self {
        let machine = jiff::Timestamp::from_millisecond(milliseconds).map(|time| time.to_string());
        Self { machine: machine.unwrap_or_default(), text: time_text(milliseconds) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_said_in_utc_to_people_and_exactly_to_scripts() {
        let shown = ShownTime::new(1_700_000_000_000);
        assert_eq!([shown.machine.as_str(), shown.text.as_str()], ["2023-11-14T22:13:20Z", "2023-11-14 22:13 UTC"]);
        let never = ShownTime::new(i64::MAX);
        assert_eq!([never.machine.as_str(), never.text.as_str()], ["", "–"]);
    }
}
