//! A limit on how many messages one socket may send: cheap, for this socket alone, and far above what a person does.

use std::time::Duration;

use tokio::time::Instant;

/// The span in which messages are counted.
const SPAN: Duration = Duration::from_secs(10);
/// Messages in one span after which the client is warned, and what it sends is refused.
pub(super) const WARN_AFTER: u32 = 500;
/// Messages in one span after which the socket is closed.
const CLOSE_AFTER: u32 = 2 * WARN_AFTER;

/// What is to be done with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FloodVerdict {
    /// It is accepted.
    Accept,
    /// It is refused with an error.
    Refuse,
    /// The socket is closed.
    Close,
}

/// Counts the messages of one socket.
#[derive(Debug)]
pub(super) struct Flood {
    began: Instant,
    messages: u32,
}

impl Flood {
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now, messages: 0 }
    }

    /// Counts a message.
    pub(super) fn judge(&mut self, now: Instant) -> FloodVerdict {
        if now.duration_since(self.began) >= SPAN {
            *self = Self::new(now);
        }
        self.messages = self.messages.saturating_add(1);
        if self.messages <= WARN_AFTER {
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
        let mut flood = Flood::new(start);
        let verdicts: Vec<_> = (0..=CLOSE_AFTER).map(|_| flood.judge(start)).collect();
        let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        assert_eq!([FloodVerdict::Accept, FloodVerdict::Refuse, FloodVerdict::Close].map(count), [500, 500, 1]);
        assert_eq!(flood.judge(start + SPAN), FloodVerdict::Accept);
    }
}
