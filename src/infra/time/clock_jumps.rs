//! Detects jumps of the system clock, so that they do not shorten or extend the time that battles may wait for a vote.
//!
//! Rows carry the time of day. After a forward jump of a day, every waiting battle looks a day older; after a backward jump, battles seem
//! to come from the future and would wait that much longer. So jumps are detected by comparison with the monotonic clock and subtracted for
//! as long as a battle may wait. Jumps before the process started are unknown, so no battle is abandoned until the process has watched the
//! clock for that long.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::domain::time::Timestamp;
use crate::time::clock::Clock;

/// Difference between two readings below which it counts as drift or correction, not as a jump.
const TOLERANCE_MS: i64 = 5_000;

/// Clock that detects jumps at each reading, so that every timestamp is taken after the jumps before it are known.
pub struct JumpDetectingClock {
    clock: Arc<dyn Clock>,
    jumps: Mutex<ClockJumps>,
}

impl JumpDetectingClock {
    /// Starts to watch this clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let jumps = Mutex::new(ClockJumps::new(clock.now()));
        Self { clock, jumps }
    }

    /// Whether the time of day has had no jump for this long, all of it watched by this process.
    pub fn is_steady_for(&self, time: Duration) -> bool {
        let mut jumps = self.jumps.lock();
        jumps.compare_clocks(self.clock.now());
        jumps.last.1 - jumps.steady_since >= time
    }

    /// Returns the limits outside which battles are abandoned when each may wait for `patience`.
    pub fn wait_limits(&self, patience: Duration) -> WaitLimits {
        let mut jumps = self.jumps.lock();
        jumps.compare_clocks(self.clock.now());
        jumps.limits(patience)
    }
}

impl Clock for JumpDetectingClock {
    fn now(&self) -> Timestamp {
        let mut jumps = self.jumps.lock();
        let now = self.clock.now();
        jumps.compare_clocks(now);
        now
    }

    fn follow(&self, shared: Timestamp, asked_at: Timestamp) {
        self.clock.follow(shared, asked_at);
    }
}

/// Detected jumps of the time of day.
#[derive(Debug)]
struct ClockJumps {
    started: Instant,
    /// Time of the latest jump, or the start.
    steady_since: Instant,
    last: (Timestamp, Instant),
    /// Detection time and size of each jump in milliseconds; negative for a backward jump.
    jumps: Vec<(Instant, i64)>,
}

/// Time range of the last activity of waiting battles; battles outside it are abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitLimits {
    /// Lower limit: earlier activity means that the battle timed out. `None` while the clock may have jumped forward before it was watched.
    pub oldest: Option<Timestamp>,
    /// Upper limit: later activity was dated by a clock that has since jumped back. `None` while some of these battles may still wait.
    pub newest: Option<Timestamp>,
}

impl ClockJumps {
    /// Starts without jumps.
    fn new(now: Timestamp) -> Self {
        let started = Instant::now();
        Self { started, steady_since: started, last: (now, started), jumps: Vec::new() }
    }

    /// Compares both clocks and records a jump.
    fn compare_clocks(&mut self, now: Timestamp) {
        let at = Instant::now();
        let (former, former_at) = std::mem::replace(&mut self.last, (now, at));
        let jump = now.0.saturating_sub(former.0).saturating_sub(millis(at - former_at));
        if jump.abs() > TOLERANCE_MS {
            tracing::warn!(seconds = jump / 1_000, "the system clock jumped: open battles expire as if it had not");
            self.jumps.push((at, jump));
            self.steady_since = at;
        }
    }

    /// Computes the limits as of the last reading. Forgets jumps older than `patience`.
    fn limits(&mut self, patience: Duration) -> WaitLimits {
        let (now, at) = self.last;
        self.jumps.retain(|(found, _)| at - *found < patience);
        let went_on: i64 = self.jumps.iter().map(|(_, jump)| *jump).filter(|jump| *jump > 0).sum();
        let went_back = self.jumps.iter().any(|(_, jump)| *jump < 0);
        let all_have_waited = at - self.started >= patience;
        let patience = millis(patience);
        let oldest = Timestamp(now.0.saturating_sub(patience).saturating_sub(went_on));
        // Not less: the clocks of other instances may be a little ahead.
        let newest = Timestamp(now.0.saturating_add(patience));
        WaitLimits {
            oldest: all_have_waited.then_some(oldest),
            newest: (all_have_waited && !went_back).then_some(newest),
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

    use super::*;

    const MINUTE: i64 = 60_000;
    const DAY: i64 = 24 * 60 * MINUTE;
    const TIMEOUT: Duration = Duration::from_secs(60);

    /// Clock with a time set by a test.
    struct ShownClock(AtomicI64);

    impl Clock for ShownClock {
        fn now(&self) -> Timestamp {
            Timestamp(self.0.load(Relaxed))
        }
    }

    struct ClockFixture {
        shown: Arc<ShownClock>,
        watched: JumpDetectingClock,
    }

    impl ClockFixture {
        fn new(shown: i64) -> Self {
            let shown = Arc::new(ShownClock(shown.into()));
            Self { watched: JumpDetectingClock::new(Arc::clone(&shown) as Arc<dyn Clock>), shown }
        }

        /// Converts a shown time to the timestamp that a row gets.
        fn date(&self, shown: i64) -> Timestamp {
            self.shown.0.store(shown, Relaxed);
            self.watched.now()
        }

        /// Advances time by half a minute, then sets the clock to `shown`.
        async fn half_a_minute_later(&self, shown: i64) -> WaitLimits {
            tokio::time::advance(TIMEOUT / 2).await;
            self.shown.0.store(shown, Relaxed);
            self.watched.wait_limits(TIMEOUT)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_steady_clock_counts_as_it_is() {
        let fixture = ClockFixture::new(DAY);
        let limits = fixture.half_a_minute_later(DAY + MINUTE / 2).await;
        assert_eq!(limits, WaitLimits { oldest: None, newest: None }, "it may have jumped before");
        let limits = fixture.half_a_minute_later(DAY + MINUTE + 3_000).await;
        let newest = Some(Timestamp(DAY + 2 * MINUTE + 3_000));
        assert_eq!(limits, WaitLimits { oldest: Some(Timestamp(DAY + 3_000)), newest });
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_went_on_before_the_process_began_expires_nothing_early() {
        let former = ClockFixture::new(DAY);
        let touched = former.date(DAY);
        // A restart with a clock that is a day ahead.
        let fixture = ClockFixture::new(2 * DAY);
        assert_eq!(fixture.half_a_minute_later(2 * DAY + MINUTE / 2).await.oldest, None);
        let limits = fixture.half_a_minute_later(2 * DAY + MINUTE).await;
        assert!(limits.oldest.is_some_and(|oldest| touched < oldest), "it has waited for a minute by now");
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_is_steady_when_it_was_watched_without_a_jump() {
        let fixture = ClockFixture::new(DAY);
        assert!(!fixture.watched.is_steady_for(TIMEOUT), "nobody has watched it");
        fixture.half_a_minute_later(DAY + MINUTE / 2).await;
        fixture.half_a_minute_later(DAY + MINUTE).await;
        assert!(fixture.watched.is_steady_for(TIMEOUT));
        fixture.date(2 * DAY);
        assert!(!fixture.watched.is_steady_for(TIMEOUT));
        fixture.half_a_minute_later(2 * DAY + MINUTE / 2).await;
        assert!(!fixture.watched.is_steady_for(TIMEOUT));
        fixture.half_a_minute_later(2 * DAY + MINUTE).await;
        assert!(fixture.watched.is_steady_for(TIMEOUT));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_goes_on_expires_nothing_early() {
        let fixture = ClockFixture::new(DAY);
        fixture.half_a_minute_later(DAY + MINUTE / 2).await;
        let limits = fixture.half_a_minute_later(2 * DAY).await;
        assert_eq!(limits.oldest, Some(Timestamp(DAY)), "what was touched less than a minute before the jump waits on");
        fixture.half_a_minute_later(2 * DAY + MINUTE / 2).await;
        let limits = fixture.half_a_minute_later(2 * DAY + MINUTE).await;
        assert_eq!(limits.oldest, Some(Timestamp(2 * DAY)), "everything from before the jump has waited by now");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_dated_while_a_clock_is_away_for_a_moment_waits_on() {
        let fixture = ClockFixture::new(3 * DAY);
        fixture.half_a_minute_later(3 * DAY + MINUTE / 2).await;
        let dated = fixture.date(DAY);
        assert_eq!(dated, Timestamp(DAY));
        let limits = fixture.half_a_minute_later(3 * DAY + MINUTE).await;
        assert!(limits.oldest.is_some_and(|oldest| oldest < dated), "it has waited for half a minute: {limits:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_goes_back_lets_nothing_wait_for_ever() {
        let fixture = ClockFixture::new(2 * DAY);
        fixture.half_a_minute_later(2 * DAY + MINUTE / 2).await;
        fixture.half_a_minute_later(2 * DAY + MINUTE).await;
        let limits = fixture.half_a_minute_later(DAY).await;
        assert_eq!(
            limits,
            WaitLimits { oldest: Some(Timestamp(DAY - MINUTE)), newest: None },
            "they may have begun just now"
        );
        fixture.half_a_minute_later(DAY + MINUTE / 2).await;
        let limits = fixture.half_a_minute_later(DAY + MINUTE).await;
        assert_eq!(limits.newest, Some(Timestamp(DAY + 2 * MINUTE)));
    }
}
