//! Shared time of day of an arena on several machines: that of their common database.
//!
//! Instances interpret each other's timestamps: how long a battle has waited, when a session ends. If the clock of one machine is hours
//! off, the others treat its battles as abandoned. So an instance compares its clock with the database's at every heartbeat, and uses the
//! database's time if they differ.
//!
//! Between two comparisons the machine's clock may be set. So each reading compares it with the time since boot, and a jump changes no
//! timestamp: the shared time continues until the next comparison.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::domain::time::Timestamp;
use crate::storage::{Store, StoreError};
use crate::time::clock::{Clock, time_since_boot};

/// Difference that a time server corrects: below it the machine's clock is used as it is.
const TOLERANCE_MS: i64 = 2_000;

/// A machine's clock, corrected by one shared by several machines.
pub struct SharedClock {
    clock: Arc<dyn Clock>,
    since_boot: Box<dyn Fn() -> Duration + Send + Sync>,
    correction: Mutex<ClockCorrection>,
}

/// Correction of a machine's clock.
struct ClockCorrection {
    offset_ms: i64,
    /// Whether the shared time is known. Otherwise, as with an embedded database, the machine's clock is used uncorrected.
    is_shared: bool,
    /// Machine's clock at the latest reading, and the time since boot.
    latest: (Timestamp, Duration),
}

impl SharedClock {
    /// Shows the time of this clock until it [follows](Clock::follow) another.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::with_time_since_boot(clock, Box::new(time_since_boot))
    }

    fn with_time_since_boot(clock: Arc<dyn Clock>, since_boot: Box<dyn Fn() -> Duration + Send + Sync>) -> Self {
        let latest = (clock.now(), since_boot());
        let correction = ClockCorrection { offset_ms: 0, is_shared: false, latest };
        Self { clock, since_boot, correction: Mutex::new(correction) }
    }
}

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        let mut correction = self.correction.lock();
        let shown = self.clock.now();
        correction.absorb_jump(shown, (self.since_boot)());
        Timestamp(shown.0.saturating_add(correction.offset_ms))
    }

    fn follow(&self, shared: Timestamp, asked_at: Timestamp) {
        let answered_at = self.now();
        // The other clock was read somewhere between question and answer. After a long wait the moment is uncertain, and an answer before
        // its question means that this clock jumped meanwhile.
        let waited = answered_at.0.saturating_sub(asked_at.0);
        if !(0..=TOLERANCE_MS).contains(&waited) {
            return;
        }
        let differs_by = shared.0.saturating_sub(asked_at.0.saturating_add(waited / 2));
        let mut correction = self.correction.lock();
        correction.is_shared = true;
        if differs_by.abs() > TOLERANCE_MS {
            correction.add(differs_by);
        }
    }
}

impl ClockCorrection {
    /// Compares both clocks of the machine. If its time of day was set, the shared time continues as before.
    fn absorb_jump(&mut self, shown: Timestamp, since_boot: Duration) {
        let (former, former_since_boot) = std::mem::replace(&mut self.latest, (shown, since_boot));
        let passed = since_boot.saturating_sub(former_since_boot).as_millis();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        let jump = shown.0.saturating_sub(former.0).saturating_sub(passed);
        if self.is_shared && jump.abs() > TOLERANCE_MS {
            self.add(-jump);
        }
    }

    fn add(&mut self, milliseconds: i64) {
        let offset = self.offset_ms.saturating_add(milliseconds);
        self.offset_ms = if offset.abs() <= TOLERANCE_MS { 0 } else { offset };
        match self.offset_ms {
            0 => tracing::info!("this machine's clock agrees with the database's again"),
            offset => tracing::warn!(
                seconds = -offset / 1_000,
                "this machine's clock differs from the database's, whose time is used: set both with NTP"
            ),
        }
    }
}

/// Synchronises the clock with that of a database server. An embedded database has no clock of its own.
///
/// # Errors
/// [`StoreError`].
pub async fn follow_database(clock: &dyn Clock, store: &Store) -> Result<(), StoreError> {
    let asked_at = clock.now();
    if let Some(shared) = store.time_of_day().await? {
        clock.follow(shared, asked_at);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

    use super::*;

    const HOUR: i64 = 3_600_000;
    const NOON: i64 = 12 * HOUR;

    /// A machine with its clock and the milliseconds since boot.
    struct ShownClock {
        shown: AtomicI64,
        since_boot: AtomicU64,
    }

    impl ShownClock {
        /// Advances both clocks.
        fn pass(&self, milliseconds: u32) {
            self.shown.fetch_add(milliseconds.into(), Relaxed);
            self.since_boot.fetch_add(milliseconds.into(), Relaxed);
        }

        /// Sets the time of day without advancing time.
        fn jump(&self, milliseconds: i64) {
            self.shown.fetch_add(milliseconds, Relaxed);
        }
    }

    impl Clock for ShownClock {
        fn now(&self) -> Timestamp {
            Timestamp(self.shown.load(Relaxed))
        }
    }

    fn clock(shown: i64) -> (Arc<ShownClock>, SharedClock) {
        let shown = Arc::new(ShownClock { shown: AtomicI64::new(shown), since_boot: AtomicU64::new(0) });
        let machine = Arc::clone(&shown);
        let since_boot = Box::new(move || Duration::from_millis(machine.since_boot.load(Relaxed)));
        let clock = SharedClock::with_time_since_boot(Arc::clone(&shown) as Arc<dyn Clock>, since_boot);
        (shown, clock)
    }

    /// Synchronises with a database at this time, after a wait of `waited`.
    fn ask(shown: &ShownClock, clock: &SharedClock, database: i64, waited: i64) {
        let asked_at = clock.now();
        match u32::try_from(waited) {
            Ok(waited) => shown.pass(waited),
            Err(_) => shown.jump(waited),
        }
        clock.follow(Timestamp(database), asked_at);
    }

    #[test]
    fn a_clock_that_is_hours_off_shows_the_shared_time() {
        for off in [-3 * HOUR, 3 * HOUR] {
            let (shown, clock) = clock(NOON + off);
            ask(&shown, &clock, NOON + 10, 20);
            assert_eq!(clock.now(), Timestamp(NOON + 20));
        }
    }

    #[test]
    fn a_clock_that_is_a_little_off_stays_as_it_is() {
        let (shown, clock) = clock(NOON + 1_500);
        ask(&shown, &clock, NOON, 20);
        assert_eq!(clock.now(), Timestamp(NOON + 1_520));
    }

    #[test]
    fn a_clock_that_is_set_right_shows_its_own_time_again() {
        let (shown, clock) = clock(NOON - 3 * HOUR);
        ask(&shown, &clock, NOON, 0);
        shown.shown.store(NOON + 1_000, Relaxed);
        ask(&shown, &clock, NOON, 0);
        assert_eq!(clock.now(), Timestamp(NOON + 1_000), "not to the millisecond that the database shows");
    }

    #[test]
    fn an_answer_that_took_long_or_crossed_a_jump_changes_nothing() {
        for waited in [5_000, -HOUR] {
            let (shown, clock) = clock(NOON + 3 * HOUR);
            ask(&shown, &clock, NOON, waited);
            assert_eq!(clock.now(), Timestamp(NOON + 3 * HOUR + waited));
        }
    }

    #[test]
    fn a_jump_between_two_answers_of_the_database_changes_no_date() {
        for by in [-HOUR, HOUR] {
            let (shown, clock) = clock(NOON);
            ask(&shown, &clock, NOON, 0);
            shown.pass(300);
            shown.jump(by);
            assert_eq!(clock.now(), Timestamp(NOON + 300));
            shown.pass(100);
            ask(&shown, &clock, NOON + 400, 0);
            assert_eq!(clock.now(), Timestamp(NOON + 400));
            shown.jump(-by);
            assert_eq!(clock.now(), Timestamp(NOON + 400), "set right again");
        }
    }

    #[test]
    fn a_jump_while_the_database_answers_changes_no_date() {
        let (shown, clock) = clock(NOON);
        ask(&shown, &clock, NOON, 0);
        ask(&shown, &clock, NOON, -HOUR);
        assert_eq!(clock.now(), Timestamp(NOON));
    }

    #[test]
    fn a_clock_that_nobody_shares_shows_its_jumps() {
        let (shown, clock) = clock(NOON);
        shown.jump(HOUR);
        assert_eq!(clock.now(), Timestamp(NOON + HOUR));
    }

    #[test]
    fn an_hour_that_the_machine_slept_through_is_no_jump() {
        let (shown, clock) = clock(NOON);
        ask(&shown, &clock, NOON, 0);
        shown.pass(3_600_000);
        assert_eq!(clock.now(), Timestamp(NOON + HOUR));
    }

    #[test]
    fn an_hour_that_only_the_time_of_day_counted_shows_after_the_next_answer_of_the_database() {
        // A paused virtual machine: the time since boot stood still.
        let (shown, clock) = clock(NOON);
        ask(&shown, &clock, NOON, 0);
        shown.jump(HOUR);
        ask(&shown, &clock, NOON + HOUR, 0);
        assert_eq!(clock.now(), Timestamp(NOON + HOUR));
    }
}
