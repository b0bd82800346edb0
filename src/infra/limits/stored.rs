//! Limits that all instances count together in PostgreSQL while Redis cannot be asked. The rule is that of `gcra.rs`; the server's
//! own clock decides.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::gcra::{Ahead, Count, LimitAnswer, LimitCounts};
use crate::storage::{LimitDues, LimitUpdate, LockedLimits, Store};

/// For so long an act waits for another instance that holds a count; then this instance counts by itself.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// Counts in the database.
#[derive(Clone)]
pub(super) struct StoredLimits {
    store: Store,
}

impl StoredLimits {
    pub(super) fn new(store: Store) -> Self {
        Self { store }
    }

    /// Counts one more on all of these, where all of them grant it. What the database does not know of starts with what this
    /// instance has learned in `known`, so that an outage of Redis gives nobody a limit anew.
    pub(super) async fn charge(&self, counts: &[Count], known: &[Ahead]) -> LimitAnswer {
        let names: Vec<&str> = counts.iter().map(|count| count.name.as_str()).collect();
        let charge = |locked: LockedLimits| charge(&locked, counts, known);
        match timeout(MAX_WAIT, self.store.charge_limits(&names, charge)).await {
            Ok(Ok(Some(answer))) => answer,
            Ok(Ok(None)) | Err(_) => LimitAnswer::Nothing,
            Ok(Err(error)) => {
                // Whoever writes the vote or the battle finds out and says what is wrong.
                tracing::debug!(error = ?error, "the database could not count");
                LimitAnswer::Nothing
            }
        }
    }
}

fn charge(locked: &LockedLimits, counts: &[Count], known: &[Ahead]) -> LimitUpdate<LimitAnswer> {
    let now = Instant::now();
    let mut used = LimitCounts::default();
    for ((count, dues), known) in counts.iter().zip(&locked.dues).zip(known) {
        used.set(&count.name, ahead(*dues, locked.now).unwrap_or(*known), now);
    }
    if let Some(wait) = used.wait(counts, now) {
        return LimitUpdate::Keep(LimitAnswer::Refused(wait));
    }
    used.charge(counts, now);
    let ahead: Vec<Ahead> = counts.iter().map(|count| used.ahead(&count.name, now)).collect();
    let dues = |ahead: &Ahead| ahead.map(|ahead| locked.now.saturating_add(micros(ahead)));
    LimitUpdate::Write(ahead.iter().map(dues).collect(), LimitAnswer::Granted(ahead))
}

/// How far ahead stored moments are; `None` where everything has come back, or nothing was counted.
fn ahead(dues: LimitDues, now: i64) -> Option<Ahead> {
    let ahead = dues.map(|due| Duration::from_micros(u64::try_from(due.saturating_sub(now)).unwrap_or_default()));
    ahead.iter().any(|ahead| !ahead.is_zero()).then_some(ahead)
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
