//! The `Retry-After` header, with an upper limit.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// Upper limit; longer waits are cut to it.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60 * 60);

/// Returns the requested wait of a response's headers.
pub(super) fn from_headers(headers: &HeaderMap) -> Option<Duration> {
    parse(headers.get(RETRY_AFTER)?.to_str().ok()?)
}

/// Parses the seconds of a `Retry-After` header, [`MAX_RETRY_AFTER`] at most. A date is ignored: its clock is the provider's.
fn parse(value: &str) -> Option<Duration> {
    let digits = value.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Digits that overflow mean an unlimited wait.
    let seconds = || digits.parse().map_or(Duration::MAX, Duration::from_secs);
    is_number.then(|| seconds().min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, seconds: Option<u64>) {
        assert_eq!(parse(value), seconds.map(Duration::from_secs), "{value:?}");
    }

    #[test]
    fn a_wait_is_read_in_seconds_and_is_an_hour_at_the_most() {
        check(" 7 ", Some(7));
        check("0", Some(0));
        for ages in ["3601", "18446744073709551615", "18446744073709551616", "99999999999999999999999999999999"] {
            check(ages, Some(3_600));
        }
        for nothing in ["", "-1", "+1", "1.5", "1e308", "NaN", "soon", "7, 8", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            check(nothing, None);
        }
    }
}
