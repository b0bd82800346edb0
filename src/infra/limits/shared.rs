//! Limits that all instances count together, in Redis. One script asks and counts, so that no two instances can grant
//! the last use twice; Redis's own clock decides, so that theirs need not agree.

use std::time::Duration;

use redis::Script;

use super::gcra::Count;
use crate::infra::redis::RedisHandle;

/// The rule of `gcra.rs`. Arguments: interval and span in microseconds, for each key. Answers with the microseconds to
/// wait; 0 where all grant it, and only then counts. A key expires when everything of it has come back.
const SCRIPT: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local wait, dues = 0, {}
for i, key in ipairs(KEYS) do
    local interval, span = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
    local due = tonumber(redis.call('GET', key) or now) or now
    due = math.min(math.max(due, now), now + span) + interval
    wait = math.max(wait, due - now - span)
    dues[i] = due
end
if wait > 0 then return wait end
for i, key in ipairs(KEYS) do
    redis.call('SET', key, string.format('%.0f', dues[i]), 'PX', math.ceil((dues[i] - now) / 1000))
end
return 0
";

/// What Redis says.
pub(super) enum LimitAnswer {
    Granted,
    Refused(Duration),
    /// Redis is lost, takes no writes, or did not answer in time.
    Nothing,
}

/// Counts in Redis.
pub(super) struct SharedCounts {
    link: RedisHandle,
    script: Script,
}

impl SharedCounts {
    pub(super) fn new(link: RedisHandle) -> Self {
        Self { link, script: Script::new(SCRIPT) }
    }

    /// Whether Redis can be asked now.
    pub(super) fn can_be_asked(&self) -> bool {
        self.link.connection().is_some()
    }

    /// Counts one more on all of these, where all of them grant it.
    pub(super) async fn charge(&self, counts: &[Count]) -> LimitAnswer {
        let Some(mut connection) = self.link.connection() else { return LimitAnswer::Nothing };
        let mut call = self.script.prepare_invoke();
        for Count { name, rate } in counts {
            call.key(self.link.key("limit", name)).arg(micros(rate.interval)).arg(micros(rate.span));
        }
        match call.invoke_async(&mut connection).await {
            Ok(0_u64) => LimitAnswer::Granted,
            Ok(wait) => LimitAnswer::Refused(Duration::from_micros(wait)),
            Err(error) => {
                // The link's keeper finds out and says what is wrong.
                tracing::debug!(reason = error.category(), "redis could not count");
                LimitAnswer::Nothing
            }
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
