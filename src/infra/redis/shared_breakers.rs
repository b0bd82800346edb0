//! Circuit breakers shared by all instances: the first instance that opens one sets its duration, and the key expires with it.

use std::time::Duration;

use redis::RedisResult;

use crate::redis::handle::RedisHandle;

/// A model and the remaining open time of its breaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerRemaining {
    /// Id of the model.
    pub model: String,
    /// Remaining time; `None` if it is not open.
    pub remaining: Option<Duration>,
}

/// Open circuit breakers in Redis.
pub struct SharedBreakers {
    link: RedisHandle,
}

impl SharedBreakers {
    /// Creates the store on this connection.
    #[must_use]
    pub fn new(link: RedisHandle) -> Self {
        Self { link }
    }

    /// Publishes the breakers that are open here, and returns the remaining open time of each on any instance, in the given order; `None`
    /// if Redis is unavailable. A breaker that is already known to be open is not extended.
    pub async fn exchange(&self, own: &[BreakerRemaining]) -> Option<Vec<Option<Duration>>> {
        let mut connection = self.link.connection().filter(|_| !own.is_empty())?;
        let mut pipeline = redis::pipe();
        for BreakerRemaining { model, remaining } in own {
            let key = self.link.key("breaker", model);
            let milliseconds = remaining.map_or(0, |open_for| u64::try_from(open_for.as_millis()).unwrap_or(u64::MAX));
            if milliseconds > 0 {
                pipeline.cmd("SET").arg(&key).arg(1).arg("PX").arg(milliseconds).arg("NX").ignore();
            }
            pipeline.cmd("PTTL").arg(&key);
        }
        let remaining: RedisResult<Vec<i64>> = pipeline.query_async(&mut connection).await;
        // The connection task detects and reports the reason.
        Some(remaining.ok()?.into_iter().map(milliseconds).collect())
    }
}

/// Converts milliseconds; Redis returns -2 for no key.
fn milliseconds(remaining: i64) -> Option<Duration> {
    u64::try_from(remaining).ok().filter(|remaining| *remaining > 0).map(Duration::from_millis)
}
