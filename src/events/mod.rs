//! Events say that something changed; the state is always read from where it is kept.
//!
//! In process for now: a broadcast channel. A listener that falls behind misses events, never state.

use tokio::sync::broadcast;

/// Something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A vote was committed.
    VoteRecorded,
    /// A new leaderboard was stored.
    LeaderboardPublished,
}

/// Tells every listener of this process.
#[derive(Debug, Clone)]
pub struct EventBus {
    sender: broadcast::Sender<Event>,
}

impl Default for EventBus {
    fn default() -> Self {
        Self { sender: broadcast::channel(64).0 }
    }
}

impl EventBus {
    /// Tells everyone who listens now.
    pub fn publish(&self, event: Event) {
        // No listener is fine: whoever comes later reads the state itself.
        let _ = self.sender.send(event);
    }

    /// Listens from now on.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.sender.subscribe()
    }
}
