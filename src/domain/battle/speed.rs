//! Writing speed of a reply.

/// Characters per second after the first token, to a tenth; `None` without a first token or below 100 ms of writing.
#[must_use]
pub fn chars_per_second(text: &str, first_token_ms: Option<u64>, duration_ms: u64) -> Option<f64> {
    let chars = u32::try_from(text.chars().count()).ok()?;
    Some((per_second(chars, first_token_ms?, duration_ms)? * 10.0).round() / 10.0)
}

/// Units written per second after the first token, for `written` units in total; `None` below 100 ms of writing.
#[must_use]
pub fn per_second(written: u32, first_token_ms: u64, duration_ms: u64) -> Option<f64> {
    let writing_ms = duration_ms.checked_sub(first_token_ms).filter(|ms| *ms >= 100)?;
    Some(f64::from(written) * 1000.0 / f64::from(u32::try_from(writing_ms).ok()?))
}
