//! Shared ticks at which raw text is read and released. Their interval grows with the load of the machine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Minimum interval: hardly more than a screen shows, and many models send tokens faster.
const MIN_INTERVAL: Duration = Duration::from_millis(20);
const MAX_INTERVAL: Duration = Duration::from_millis(50);
/// Interval as a multiple of the mean delay of ticks.
const INTERVAL_FACTOR: u32 = 16;
/// Weight of a new measurement in the moving mean, as 1/N.
const MOVING_MEAN_LENGTH: u64 = 16;

/// Tick schedule of this process.
#[derive(Debug)]
pub struct RawPacingTicks {
    start: Instant,
    /// Moving mean of the delay of ticks in microseconds.
    late_micros: AtomicU64,
}

impl RawPacingTicks {
    /// Starts the ticks.
    #[must_use]
    pub fn start() -> Self {
        Self { start: Instant::now(), late_micros: AtomicU64::new(0) }
    }

    /// Records the delay of a tick that was due at this time and fired now.
    pub fn record_tick(&self, due: Instant) {
        let late = u64::try_from(due.elapsed().as_micros()).unwrap_or(u64::MAX).min(1_000_000);
        let mean = self.late_micros.load(Ordering::Relaxed);
        // Of two battles that measure at the same moment one may be lost.
        self.late_micros.store((mean * (MOVING_MEAN_LENGTH - 1) + late) / MOVING_MEAN_LENGTH, Ordering::Relaxed);
    }

    /// Returns the time of the next tick.
    pub fn next(&self) -> Instant {
        let late = Duration::from_micros(self.late_micros.load(Ordering::Relaxed));
        let until = self.start.elapsed() + (MIN_INTERVAL + INTERVAL_FACTOR * late).min(MAX_INTERVAL);
        let beyond = u64::try_from(until.as_nanos() % MIN_INTERVAL.as_nanos()).unwrap_or_default();
        self.start + until - Duration::from_nanos(beyond)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn millis(ticks: &RawPacingTicks) -> u128 {
        (ticks.next() - ticks.start).as_millis()
    }

    #[tokio::test(start_paused = true)]
    async fn ticks_are_the_same_for_all_and_further_apart_while_they_come_late() {
        let ticks = RawPacingTicks::start();
        for (at, next) in [(0, 20), (1, 20), (19, 20), (20, 40), (39, 40)] {
            advance(ticks.start + Duration::from_millis(at) - Instant::now()).await;
            assert_eq!(millis(&ticks), next, "at {at} ms");
        }
        for (second, (late, apart)) in (1..).zip([(1, 20), (2, 40), (3, 40), (10, 60), (2, 40), (0, 20)]) {
            let due = ticks.start + Duration::from_secs(second);
            advance(due + Duration::from_millis(late) - Instant::now()).await;
            (0..200).for_each(|_| ticks.record_tick(due));
            assert_eq!(millis(&ticks), u128::from(1_000 * second) + apart, "{late} ms late");
        }
    }
}
