//! Events announce that something changed; the state itself is always read from storage.
//!
//! [`EventBus`] has one implementation for a single process and one for several instances of an arena. A slow listener, or a disconnected
//! instance, misses events and messages, but never state.

mod local;
mod redis;

use std::fmt;

use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};

pub use local::LocalBus;
pub use redis::RedisBus;

/// Notification of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A vote was committed.
    VoteRecorded,
    /// A new leaderboard was stored.
    LeaderboardPublished,
}

impl Event {
    /// All events.
    pub const ALL: [Self; 2] = [Self::VoteRecorded, Self::LeaderboardPublished];
}

/// One process of the arena; each start has a new name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstanceId(pub String);

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Message from one instance to another. It may get lost; a caller that needs an answer asks again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceMessage {
    /// The sender.
    pub from: InstanceId,
    /// Payload in the format of the sending service.
    pub body: String,
}

/// Connection state to other instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusState {
    /// There are no other instances.
    Alone,
    /// Other instances can be reached.
    Connected,
    /// Other instances cannot be reached at the moment.
    Lost,
}

/// Delivers events to every listener of every instance, and messages to one instance.
pub trait EventBus: Send + Sync {
    /// Returns the id of this process.
    fn instance(&self) -> &InstanceId;

    /// Publishes an event to the current listeners. Never waits and never fails: a later listener reads the state itself.
    fn publish(&self, event: Event);

    /// Subscribes to events of this and other instances.
    fn subscribe(&self) -> broadcast::Receiver<Event>;

    /// Sends a message to an instance without waiting.
    fn send(&self, to: &InstanceId, body: String);

    /// Subscribes to messages for this instance.
    fn messages(&self) -> broadcast::Receiver<InstanceMessage>;

    /// Returns a receiver of the connection state to other instances.
    fn state(&self) -> watch::Receiver<BusState>;
}
