//! What the instances of one arena share through Redis: messages, counts for limits, and open circuit breakers.
//!
//! Redis never holds the only copy of anything. Without it events and messages stay in their instance and limits are counted in
//! PostgreSQL; each instance reconnects by itself. [`RedisHandle`] is the way to it, and [`RedisConnectionTask`] the one task that keeps it open.
//!
//! | key or channel | what | expires |
//! |---|---|---|
//! | channel `{prefix}:events` | events for every instance | |
//! | channel `{prefix}:to:{instance}` | messages to one instance | |
//! | `{prefix}:instance:{instance}` | this instance is there | 3 s |
//! | `{prefix}:limit:{what}:{who}` | how much of a limit is used | when none of it is used, a day at most |
//! | `{prefix}:breaker:{model}` | this circuit breaker open after failures | when it closes again |

mod check;
mod connection_task;
mod handle;
mod problem;
mod shared_breakers;

pub use check::{check, check_address};
pub use connection_task::RedisConnectionTask;
pub use handle::{AddressError, ConnectionEvent, RedisHandle};
pub use shared_breakers::{BreakerRemaining, SharedBreakers};
