//! How fast a reply came.

/// Speed after the first token; `None` where the time is too short to tell.
#[must_use]
pub fn chars_per_second(text: &str, first_token_ms: Option<u64>, duration_ms: u64) -> Option<f64> {
    let writing_ms = duration_ms.checked_sub(first_token_ms?).filter(|ms| *ms >= 100)?;
    let chars = u32::try_from(text.chars().count()).ok()?;
    let writing_ms = u32::try_from(writing_ms).ok()?;
    Some((f64::from(chars) * 1000.0 / f64::from(writing_ms) * 10.0).round() / 10.0)
}
