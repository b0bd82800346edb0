//! Exponential backoff for everything that retries. A pure function of failures, jitter and time, saturating for
//! any input.

use std::time::Duration;

use tokio::time::Instant;

/// Fallback delay for moments beyond the range of the clock: longer than any process runs.
const FALLBACK_DELAY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Exponential backoff: starts at `first`, doubles with each further failure and never exceeds `longest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Wait after the first failure.
    pub first: Duration,
    /// Upper bound of every wait.
    pub longest: Duration,
}

impl Backoff {
    /// Returns the wait after this number of consecutive failures, counted from 1.
    #[must_use]
    pub fn after(self, failures: u32) -> Duration {
        let factor = 2_u32.saturating_pow(failures.saturating_sub(1));
        self.first.saturating_mul(factor).min(self.longest)
    }

    /// Returns the wait with full jitter: `share` (0 to 1) of [`Backoff::after`].
    #[must_use]
    pub fn with_jitter(self, failures: u32, share: f64) -> Duration {
        let wait = self.after(failures);
        // Rounding may make the longest durations overflow.
        Duration::try_from_secs_f64(wait.as_secs_f64() * share).unwrap_or(wait).min(wait)
    }
}

/// Returns `from` plus `wait`; a sum beyond the range of the clock becomes a hundred years from `from`.
#[must_use]
pub fn later(from: Instant, wait: Duration) -> Instant {
    from.checked_add(wait).unwrap_or_else(|| from + FALLBACK_DELAY)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[track_caller]
    fn check(first: Duration, longest: Duration, waits: &[Duration]) {
        let backoff = Backoff { first, longest };
        let found: Vec<Duration> = (1..).take(waits.len()).map(|failures| backoff.after(failures)).collect();
        assert_eq!(found, waits);
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        check(SECOND, 5 * SECOND, &[SECOND, 2 * SECOND, 4 * SECOND, 5 * SECOND, 5 * SECOND]);
        check(Duration::ZERO, SECOND, &[Duration::ZERO; 3]);
        check(Duration::MAX, Duration::MAX, &[Duration::MAX; 3]);
        assert_eq!(Backoff { first: SECOND, longest: 60 * SECOND }.after(0), SECOND, "no failure waits like the first");
    }

    #[test]
    fn jitter_takes_a_share_of_the_wait() {
        let backoff = Backoff { first: SECOND, longest: 60 * SECOND };
        assert_eq!(backoff.with_jitter(3, 0.25), SECOND);
        assert_eq!((backoff.with_jitter(3, 0.0), backoff.with_jitter(3, 1.0)), (Duration::ZERO, 4 * SECOND));
    }

    #[test]
    fn a_moment_that_no_clock_can_hold_is_far_away() {
        let now = Instant::now();
        assert_eq!(later(now, SECOND), now + SECOND);
        assert_eq!(later(now, Duration::MAX), now + FALLBACK_DELAY);
    }

    proptest! {
        #[test]
        fn no_numbers_make_it_panic_or_wait_too_long(
            first in any::<Duration>(), longest in any::<Duration>(), failures in any::<u32>(), share in any::<f64>(),
        ) {
            let wait = Backoff { first, longest }.with_jitter(failures, share);
            prop_assert!(wait <= longest);
            let now = Instant::now();
            prop_assert!(later(now, wait) >= now);
        }
    }
}
