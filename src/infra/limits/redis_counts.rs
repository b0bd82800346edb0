//! Rate limits that all instances count together, in Redis. One script checks and counts, so that no two instances can both grant the last
//! use; Redis's clock decides, so that the instances' clocks need not agree. While Redis is unavailable, PostgreSQL counts.

use std::time::Duration;

use redis::Script;

use super::SharedBackends;
use super::gcra::{Count, LimitAnswer, TimesUntilFull, WindowRate};
use super::postgres_counts::PostgresCounts;
use crate::redis::RedisHandle;

/// The rule of `gcra.rs`. Arguments: interval, span and how far ahead the due moment is as the caller knows, in microseconds, for each key
/// and window; an interval of 0 means no limit. A key holds the due moments of its windows, separated by spaces, and expires when its
/// quotas are full again. Moments known to callers are merged, so that an emptied Redis soon has them again. Answers with the microseconds
/// to wait and the number of the refusing key, or, if all grant the use, counts it and answers with 0 and how far ahead the due moment of
/// each key and window is.
const GCRA_SCRIPT: &str = r"
local windows = 3
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local wait, slowest, dues = 0, 0, {}
for i, key in ipairs(KEYS) do
    local stored = {}
    for due in string.gmatch(redis.call('GET', key) or '', '%S+') do stored[#stored + 1] = tonumber(due) end
    for w = 1, windows do
        local at = windows * (i - 1) + w
        local interval, span, known = tonumber(ARGV[3 * at - 2]), tonumber(ARGV[3 * at - 1]), tonumber(ARGV[3 * at])
        dues[at] = now
        if interval > 0 then
            dues[at] = math.min(math.max(stored[w] or now, now + known), now + span) + interval
            if dues[at] - now - span > wait then wait, slowest = dues[at] - now - span, i end
        end
    end
end
if wait > 0 then return {wait, slowest} end
local answer = {0}
for i, key in ipairs(KEYS) do
    local moments, latest = {}, now
    for w = 1, windows do
        local due = dues[windows * (i - 1) + w]
        moments[w] = string.format('%.0f', due)
        latest = math.max(latest, due)
        answer[#answer + 1] = due - now
    end
    redis.call('SET', key, table.concat(moments, ' '), 'PX', math.ceil((latest - now) / 1000))
end
return answer
";

/// Rate limit counters in Redis, with the database as fallback.
pub(super) struct SharedCounts {
    link: RedisHandle,
    script: Script,
    stored: PostgresCounts,
}

impl SharedCounts {
    pub(super) fn new(SharedBackends { redis, store }: SharedBackends) -> Self {
        Self { link: redis, script: Script::new(GCRA_SCRIPT), stored: PostgresCounts::new(store) }
    }

    /// Counts one more use on all limits if all of them grant it. `known` is how far ahead each of them is as this instance knows.
    pub(super) async fn charge(&self, counts: &[Count], known: &[TimesUntilFull]) -> LimitAnswer {
        match self.charge_in_redis(counts, known).await {
            LimitAnswer::Nothing => self.stored.charge(counts, known).await,
            answer => answer,
        }
    }

    async fn charge_in_redis(&self, counts: &[Count], known: &[TimesUntilFull]) -> LimitAnswer {
        let Some(mut connection) = self.link.connection() else { return LimitAnswer::Nothing };
        let mut call = self.script.prepare_invoke();
        for (Count { name, rates, .. }, known) in counts.iter().zip(known) {
            call.key(self.link.key("limit", name));
            for (rate, known) in rates.iter().zip(known) {
                let of_rate = |part: fn(WindowRate) -> Duration| rate.map_or(0, |rate| micros(part(rate)));
                call.arg(of_rate(|rate| rate.interval)).arg(of_rate(|rate| rate.span)).arg(micros(*known));
            }
        }
        let answer: Result<Vec<u64>, _> = call.invoke_async(&mut connection).await;
        match answer {
            Ok(answer) => LimitAnswer::read(&answer, counts),
            Err(error) => {
                // The connection task detects and reports the reason.
                tracing::debug!(reason = error.category(), "redis could not count");
                LimitAnswer::Nothing
            }
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
