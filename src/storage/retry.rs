//! What passes is tried again: a lost connection, a restart of the server, two transactions in each other's way.
//!
//! One place for all statements: the macros that run them ask [`Patience`] after each failure. So every statement of this
//! folder is safe to send again when nobody knows whether its commit came through.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Database, StoreError};

/// No further try begins after this long: enough for a server that restarts, and short of a visitor's patience.
const LONGEST: Duration = Duration::from_secs(4);
/// The first wait; doubled up to the longest one.
const FIRST_WAIT: Duration = Duration::from_millis(25);
const LONGEST_WAIT: Duration = Duration::from_millis(800);
/// An outage is told once, not for each statement that meets it.
const QUIET: Duration = Duration::from_secs(10);

/// What all statements on one database know of its failures.
#[derive(Debug, Default)]
pub(super) struct Outage {
    told_at: Mutex<Option<Instant>>,
    open: AtomicBool,
    waits: AtomicU32,
}

impl Outage {
    fn begins(&self, error: &StoreError) {
        let mut told_at = self.told_at.lock().unwrap_or_else(PoisonError::into_inner);
        if told_at.is_none_or(|at| at.elapsed() > QUIET) {
            *told_at = Some(Instant::now());
            self.open.store(true, Ordering::Relaxed);
            tracing::warn!(error = ?error, "the database does not answer as it should; trying again");
        }
    }

    fn ends(&self) {
        if self.open.swap(false, Ordering::Relaxed) {
            tracing::info!("the database answers again");
        }
    }

    /// Spreads the waits of many callers evenly over a half to one and a half of `wait`, in steps of the golden ratio.
    fn spread(&self, wait: Duration) -> Duration {
        let step = self.waits.fetch_add(1, Ordering::Relaxed).wrapping_add(std::process::id());
        wait / 2 + wait.mul_f64(f64::from(step.wrapping_mul(0x9E37_79B9)) / f64::from(u32::MAX))
    }
}

/// The further tries of one statement.
pub(super) struct Patience<'a> {
    database: &'a Database,
    began: Instant,
    wait: Duration,
}

impl<'a> Patience<'a> {
    pub(super) fn with(database: &'a Database) -> Self {
        Self { database, began: Instant::now(), wait: FIRST_WAIT }
    }

    /// Whether to try once more, after a pause.
    pub(super) async fn wait_after(&mut self, error: &StoreError) -> bool {
        if !self.database.passes(error) {
            return false;
        }
        let outage = self.database.outage();
        outage.begins(error);
        let pause = outage.spread(self.wait);
        if self.began.elapsed() + pause > LONGEST {
            return false;
        }
        sleep(pause).await;
        self.wait = (2 * self.wait).min(LONGEST_WAIT);
        true
    }

    /// The statement came through.
    pub(super) fn rewarded(self) {
        if self.wait > FIRST_WAIT {
            self.database.outage().ends();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn waits_are_spread_evenly_around_their_middle() {
        let (outage, wait) = (Outage::default(), Duration::from_millis(100));
        let waits: Vec<u128> = (0..100).map(|_| outage.spread(wait).as_millis()).collect();
        assert!(waits.iter().all(|wait| (50..=150).contains(wait)), "{waits:?}");
        for tenth in (50..150).step_by(10) {
            let within = waits.iter().filter(|wait| (tenth..tenth + 10).contains(*wait)).count();
            assert!((8..=12).contains(&within), "{within} of 100 waits from {tenth} ms: {waits:?}");
        }
    }

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(line)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_outage_is_told_once_and_so_is_its_end() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || {
            let (outage, error) = (Outage::default(), StoreError::Database(sqlx::Error::PoolTimedOut));
            outage.ends();
            outage.begins(&error);
            outage.begins(&error);
            outage.ends();
            outage.ends();
        });
        let told = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 2, "{told}");
        assert!(lines[0].contains("trying again") && lines[1].contains("answers again"), "{told}");
    }
}
