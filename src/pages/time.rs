//! Moments as pages show them.

/// A time, in milliseconds since 1970, as people read it.
pub fn time_text(milliseconds: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(milliseconds).ok();
    time.map_or_else(|| "–".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}
