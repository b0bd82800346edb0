//! Liveness of a socket's client: a client that misses several pings is considered gone.

use std::time::Duration;

use tokio::time::Instant;

use crate::infra::time::process_stalls::has_stalled_past;

/// Ping interval of a quiet client.
pub(super) const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Time without any message after which a client is considered gone.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(65);

/// Time since the client's last message.
#[derive(Debug)]
pub(super) struct ClientSilence {
    began: Instant,
}

impl ClientSilence {
    /// Starts at a message from the client.
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now }
    }

    /// Whether the client is gone, as seen at a ping that was due at `ping_due`. If this process has stalled past that, messages received
    /// meanwhile are unread, and the silence starts again.
    pub(super) fn check_at_ping(&mut self, ping_due: Instant) -> bool {
        if has_stalled_past(ping_due) {
            *self = Self::new(Instant::now());
        }
        self.began.elapsed() > SILENCE_TIMEOUT
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Interval, MissedTickBehavior, advance, interval};

    use super::*;

    /// Returns a client at its last message, and its ping interval.
    async fn client() -> (ClientSilence, Interval) {
        let mut pings = interval(PING_INTERVAL);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        (ClientSilence::new(pings.tick().await), pings)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_answers_no_ping_is_gone_at_the_fourth() {
        let (mut silence, mut pings) = client().await;
        for is_gone in [false, false, false, true] {
            assert_eq!(silence.check_at_ping(pings.tick().await), is_gone);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_for_which_the_process_stalled_is_no_silence_of_the_client() {
        let (mut silence, mut pings) = client().await;
        advance(Duration::from_secs(3_600)).await;
        for is_gone in [false, false, false, false, true] {
            assert_eq!(silence.check_at_ping(pings.tick().await), is_gone);
        }
    }
}
