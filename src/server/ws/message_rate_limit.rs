//! A limit on the message rate of one socket: cheap, local to the socket, and far above human use.

use std::time::Duration;

use tokio::time::Instant;

/// Window in which messages are counted.
const COUNTING_WINDOW: Duration = Duration::from_secs(10);
/// Messages per window after which the client gets errors, and its messages are refused.
pub(super) const MAX_MESSAGES_PER_WINDOW: u32 = 500;
/// Messages per window after which the socket is closed.
const CLOSE_AFTER: u32 = 2 * MAX_MESSAGES_PER_WINDOW;

/// Decision on a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FloodVerdict {
    /// The message is accepted.
    Accept,
    /// The message is refused with an error.
    Refuse,
    /// The socket is closed.
    Close,
}

/// Message counter of one socket.
#[derive(Debug)]
pub(super) struct MessageCounter {
    began: Instant,
    messages: u32,
}

impl MessageCounter {
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now, messages: 0 }
    }

    /// Counts a message and decides on it.
    pub(super) fn judge(&mut self, now: Instant) -> FloodVerdict {
        if now.duration_since(self.began) >= COUNTING_WINDOW {
            *self = Self::new(now);
        }
        self.messages = self.messages.saturating_add(1);
        if self.messages <= MAX_MESSAGES_PER_WINDOW {
            FloodVerdict::Accept
        } else if self.messages <= CLOSE_AFTER {
            FloodVerdict::Refuse
        } else {
            FloodVerdict::Close
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_messages_are_refused_then_closed_and_a_new_span_begins_at_zero() {
        let start = Instant::now();
        let mut flood = MessageCounter::new(start);
        let verdicts: Vec<_> = (0..=CLOSE_AFTER).map(|_| flood.judge(start)).collect();
        let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        assert_eq!([FloodVerdict::Accept, FloodVerdict::Refuse, FloodVerdict::Close].map(count), [500, 500, 1]);
        assert_eq!(flood.judge(start + COUNTING_WINDOW), FloodVerdict::Accept);
    }
}
