//! One time of day for an arena on several machines: that of the database that they share.
//!
//! One instance dates what another reads: how long a ballot has waited, when a session ends. Where the clock of a machine is
//! hours off, the others take the battles that it dates for left. So an instance compares its clock with the database's whenever it
//! shows that it is there, and dates by the database's where they differ.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::Clock;
use crate::domain::time::Timestamp;
use crate::storage::{Store, StoreError};

/// Less than this is what a time server corrects: the machine's clock stays as it is.
const TOLERANCE_MS: i64 = 2_000;

/// A machine's clock, set right by one that several machines share.
pub struct SharedClock {
    clock: Arc<dyn Clock>,
    offset_ms: AtomicI64,
}

impl SharedClock {
    /// Shows the time of this clock until it [follows](Clock::follow) another.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, offset_ms: AtomicI64::new(0) }
    }
}

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.clock.now().0.saturating_add(self.offset_ms.load(Ordering::Relaxed)))
    }

    fn follow(&self, shared: Timestamp, asked_at: Timestamp) {
        let answered_at = self.now();
        // Somewhere between question and answer the other clock showed its time. After a long wait nobody knows where,
        // and an answer before its question is a jump of this clock meanwhile.
        let waited = answered_at.0.saturating_sub(asked_at.0);
        if !(0..=TOLERANCE_MS).contains(&waited) {
            return;
        }
        let offset = self.offset_ms.load(Ordering::Relaxed);
        let differs_by = shared.0.saturating_sub(asked_at.0.saturating_add(waited / 2));
        if differs_by.abs() <= TOLERANCE_MS {
            return;
        }
        let found = offset.saturating_add(differs_by);
        let found = if found.abs() <= TOLERANCE_MS { 0 } else { found };
        self.offset_ms.store(found, Ordering::Relaxed);
        match found {
            0 => tracing::info!("this machine's clock agrees with the database's again"),
            _ => tracing::warn!(
                seconds = -found / 1_000,
                "this machine's clock differs from the database's, whose time is used: set both with NTP"
            ),
        }
    }
}

/// Has the clock follow that of a database on a server. One in this machine's files has no clock of its own.
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
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    const HOUR: i64 = 3_600_000;
    const NOON: i64 = 12 * HOUR;

    /// A clock that shows what a test sets.
    struct ShownClock(AtomicI64);

    impl Clock for ShownClock {
        fn now(&self) -> Timestamp {
            Timestamp(self.0.load(Relaxed))
        }
    }

    fn clock(shown: i64) -> (Arc<ShownClock>, SharedClock) {
        let shown = Arc::new(ShownClock(shown.into()));
        (Arc::clone(&shown), SharedClock::new(shown))
    }

    /// The database shows this time, and answers after so long.
    fn ask(shown: &ShownClock, clock: &SharedClock, database: i64, waited: i64) {
        let asked_at = clock.now();
        shown.0.fetch_add(waited, Relaxed);
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
        shown.0.store(NOON + 1_000, Relaxed);
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
}
