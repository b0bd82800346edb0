//! Time as an argument: wall-clock time for records, monotonic time for durations.
//!
//! The only module that reads the system's time of day; all other code receives a [`Clock`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::domain::time::Timestamp;

/// Source of the time of day. Durations are never measured with it: they come from `tokio::time::Instant`.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Adopts the time of a clock shared by several machines, requested at `asked_at` and just received. A clock that follows no other
    /// ignores it.
    fn follow(&self, shared: Timestamp, asked_at: Timestamp) {
        let _ = (shared, asked_at);
    }
}

/// The machine's system clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one home of the system clock")]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Clock that counts from boot, including time asleep.
#[cfg(target_os = "linux")]
const BOOT_CLOCK: ClockId = ClockId::Boottime;
/// Clock that counts from boot: on macOS the monotonic clock includes time asleep.
#[cfg(not(target_os = "linux"))]
const BOOT_CLOCK: ClockId = ClockId::Monotonic;

/// Returns the time since boot, including time asleep; changes of the time of day do not affect it.
#[must_use]
pub fn time_since_boot() -> Duration {
    Duration::try_from(clock_gettime(BOOT_CLOCK)).unwrap_or_default()
}
