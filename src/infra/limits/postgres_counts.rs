//! Limits that all instances count together in PostgreSQL while Redis cannot be asked. The rule is that of `gcra.rs`; the server's
//! own clock decides.

use std::time::Duration;

use tokio::time::timeout;

use super::gcra::{Ahead, Count, LimitAnswer, WindowRate};
use crate::storage::{LimitCharge, Store};

/// For so long an act waits for the database; then this instance counts by itself.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// Counts in the database.
#[derive(Clone)]
pub(super) struct PostgresCounts {
    store: Store,
}

impl PostgresCounts {
    pub(super) fn new(store: Store) -> Self {
        Self { store }
    }

    /// Counts one more on all of these, where all of them grant it. What this instance has learned in `known` and the database has
    /// not counted is taken as used, so that an outage of Redis does not reset anybody's limits.
    pub(super) async fn charge(&self, counts: &[Count], known: &[Ahead]) -> LimitAnswer {
        let charge = limit_charge(counts, known);
        match timeout(MAX_WAIT, self.store.charge_limits(&charge)).await {
            Ok(Ok(Some(answer))) => {
                let answer: Vec<u64> = answer.iter().map(|micros| u64::try_from(*micros).unwrap_or_default()).collect();
                LimitAnswer::read(&answer, counts)
            }
            Ok(Ok(None)) | Err(_) => LimitAnswer::Nothing,
            Ok(Err(error)) => {
                // The write of the vote or the battle fails, too, and says what is wrong.
                tracing::debug!(error = ?error, "the database could not count");
                LimitAnswer::Nothing
            }
        }
    }
}

fn limit_charge(counts: &[Count], known: &[Ahead]) -> LimitCharge {
    let rates = |part: fn(WindowRate) -> Duration| -> Vec<i64> {
        let rates = counts.iter().flat_map(|count| count.rates);
        rates.map(|rate| rate.map_or(0, |rate| micros(part(rate)))).collect()
    };
    LimitCharge {
        names: counts.iter().map(|count| count.name.clone()).collect(),
        intervals: rates(|rate| rate.interval),
        spans: rates(|rate| rate.span),
        known: known.iter().flatten().map(|ahead| micros(*ahead)).collect(),
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
