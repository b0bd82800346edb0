//! Time as an argument: wall-clock time for records, monotonic time for durations.
//!
//! The only place that asks the system for the time of day; everything else is handed a [`Clock`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::domain::time::Timestamp;

/// Returns the time of day. Durations are never measured with it: they come from `tokio::time::Instant`.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Takes over the time of a clock that several machines share, which was asked for it at `asked_at` and has just
    /// answered. A clock that does not follow another stays as it is.
    fn follow(&self, shared: Timestamp, asked_at: Timestamp) {
        let _ = (shared, asked_at);
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one home of the system clock")]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The clock that counts from boot, including time asleep.
#[cfg(target_os = "linux")]
const SINCE_BOOT: ClockId = ClockId::Boottime;
/// On macOS the monotonic clock also counts time asleep.
#[cfg(not(target_os = "linux"))]
const SINCE_BOOT: ClockId = ClockId::Monotonic;

/// Time since the machine started, with what it slept through: no setting of the time of day changes it.
#[must_use]
pub fn time_since_boot() -> Duration {
    Duration::try_from(clock_gettime(SINCE_BOOT)).unwrap_or_default()
}
