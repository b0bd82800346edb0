//! Single-use tokens across all instances: stored in Redis, in PostgreSQL while Redis is unavailable, and in each instance's memory, so
//! that an emptied or lost Redis does not forget what this instance has seen.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use redis::{ExistenceCheck, SetExpiry, SetOptions};
use tokio::time::Instant;

use super::gcra::{Count, LimitAnswer, WINDOW_COUNT, WindowRate};
use super::postgres_counts::PostgresCounts;
use super::{LimitScope, SharedBackends};
use crate::metrics;
use crate::redis::RedisHandle;

/// Maximum number of names in memory; beyond it, those that expire soonest are evicted.
const MAX_NAMES: usize = 100_000;

/// Stores used names until they expire.
pub struct SingleUse {
    kind: &'static str,
    seen: Mutex<HashMap<String, Instant>>,
    shared: Option<(RedisHandle, PostgresCounts)>,
}

impl SingleUse {
    /// Creates an empty store for names of a kind.
    #[must_use]
    pub fn new(kind: &'static str, shared: Option<SharedBackends>) -> Self {
        let shared = shared.map(|SharedBackends { redis, store }| (redis, PostgresCounts::new(store)));
        Self { kind, seen: Mutex::default(), shared }
    }

    /// Claims a name; `false` if it was used before.
    pub async fn claim(&self, name: &str, remembered: Duration) -> bool {
        if !self.claim_locally(name, remembered) {
            return false;
        }
        let Some((redis, stored)) = &self.shared else { return true };
        match self.claim_in_redis(redis, name, remembered).await {
            Some(granted) => granted,
            None => self.claim_stored(stored, name, remembered).await,
        }
    }

    fn claim_locally(&self, name: &str, remembered: Duration) -> bool {
        let (mut seen, now) = (self.seen.lock(), Instant::now());
        if seen.len() >= MAX_NAMES {
            seen.retain(|_, until| *until > now);
        }
        if seen.len() >= MAX_NAMES {
            let mut ends: Vec<Instant> = seen.values().copied().collect();
            let middle = ends.len() / 2;
            let median = *ends.select_nth_unstable(middle).1;
            seen.retain(|_, until| *until > median);
        }
        seen.insert(name.to_owned(), now + remembered).is_none_or(|until| until <= now)
    }

    /// A rate limit of one use per `remembered`.
    async fn claim_stored(&self, stored: &PostgresCounts, name: &str, remembered: Duration) -> bool {
        let once = WindowRate::new(1, remembered);
        let name = format!("{}:{name}", self.kind);
        let count = Count { name, scope: LimitScope::Arena, rates: [once, None, None] };
        match stored.charge(&[count], &[[Duration::ZERO; WINDOW_COUNT]]).await {
            LimitAnswer::Granted(_) => true,
            LimitAnswer::Refused(_) => false,
            LimitAnswer::Nothing => {
                metrics::count_local_fallback();
                true
            }
        }
    }

    /// Claims a name in Redis; `None` if Redis is unavailable.
    async fn claim_in_redis(&self, link: &RedisHandle, name: &str, remembered: Duration) -> Option<bool> {
        let mut connection = link.connection()?;
        let expiry = SetExpiry::PX(u64::try_from(remembered.as_millis()).unwrap_or(u64::MAX));
        let options = SetOptions::default().conditional_set(ExistenceCheck::NX).with_expiration(expiry);
        let mut command = redis::cmd("SET");
        let command = command.arg(link.key(self.kind, &name)).arg(1).arg(options);
        let set: Result<Option<String>, _> = command.query_async(&mut connection).await;
        set.ok().map(|answer| answer.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_name_is_used_once_until_it_expires() {
        let uses = SingleUse::new("test", None);
        let remembered = Duration::from_secs(10);
        assert!(uses.claim("one", remembered).await);
        assert!(!uses.claim("one", remembered).await);
        assert!(uses.claim("other", remembered).await);
        tokio::time::advance(Duration::from_secs(21)).await;
        assert!(uses.claim("one", remembered).await);
    }

    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded() {
        let uses = SingleUse::new("test", None);
        for name in 0..2 * MAX_NAMES {
            tokio::time::advance(Duration::from_micros(1)).await;
            assert!(uses.claim(&name.to_string(), Duration::from_secs(100)).await);
        }
        assert!(uses.seen.lock().len() <= MAX_NAMES);
        assert!(!uses.claim(&(2 * MAX_NAMES - 1).to_string(), Duration::from_secs(100)).await);
    }
}
