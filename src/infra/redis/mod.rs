//! State that the instances of one arena share through Redis: messages, rate limit counts, and open circuit breakers.
//!
//! Redis never holds the only copy of anything. Without it events and messages stay in their instance and limits are counted in PostgreSQL;
//! each instance reconnects by itself. [`RedisHandle`] gives access, and [`RedisConnectionTask`] keeps the connection open.
//!
//! | key or channel | content | expiry |
//! |---|---|---|
//! | channel `{prefix}:events` | events for every instance | |
//! | channel `{prefix}:to:{instance}` | messages to one instance | |
//! | `{prefix}:instance:{instance}` | presence of an instance | 3 s |
//! | `{prefix}:limit:{what}:{who}` | used part of a rate limit | when the quota is full again, a day at most |
//! | `{prefix}:breaker:{model}` | open circuit breaker | when it may close again |

mod check;
mod connection_task;
mod handle;
mod problem;
mod shared_breakers;

pub use check::{check, check_address};
pub use connection_task::RedisConnectionTask;
pub use handle::{AddressError, ConnectionEvent, RedisHandle};
pub use shared_breakers::{BreakerRemaining, SharedBreakers};
