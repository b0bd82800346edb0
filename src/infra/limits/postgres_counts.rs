//! Rate limits that all instances count together in PostgreSQL while Redis is unavailable. Same rule as in `gcra.rs`; the server's clock
//! decides.

use std::time::Duration;

use tokio::time::timeout;

use super::gcra::{Count, LimitAnswer, TimesUntilFull, WindowRate};
use crate::storage::{LimitCharge, Store};

/// Timeout of the database, after which this instance counts by itself.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(3);

/// Rate limit counters in the database.
#[derive(Clone)]
pub(super) struct PostgresCounts {
    store: Store,
}

impl PostgresCounts {
    pub(super) fn new(store: Store) -> Self {
        Self { store }
    }

    /// Counts one more use on all limits if all of them grant it. Uses that this instance learned in `known` and the database has not
    /// counted are added, so that an outage of Redis does not reset any limit.
    pub(super) async fn charge(&self, counts: &[Count], known: &[TimesUntilFull]) -> LimitAnswer {
        let charge = limit_charge(counts, known);
        match timeout(DATABASE_TIMEOUT, self.store.charge_limits(&charge)).await {
            Ok(Ok(Some(answer))) => {
                let answer: Vec<u64> = answer.iter().map(|micros| u64::try_from(*micros).unwrap_or_default()).collect();
                LimitAnswer::read(&answer, counts)
            }
            Ok(Ok(None)) | Err(_) => LimitAnswer::Nothing,
            Ok(Err(error)) => {
                // The write of the vote or the battle fails too, and reports the reason.
                tracing::debug!(error = ?error, "the database could not count");
                LimitAnswer::Nothing
            }
        }
    }
}

fn limit_charge(counts: &[Count], known: &[TimesUntilFull]) -> LimitCharge {
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
