//! Events say that something changed; the state is always read from where it is kept.
//!
//! [`EventBus`] has one implementation for a single process and one for several instances of an arena. A listener that
//! falls behind, or an instance that is cut off, misses events and messages, never state.

mod local;
mod redis;

use std::fmt;

use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};

pub use local::LocalBus;
pub use redis::RedisBus;

/// Something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A vote was committed.
    VoteRecorded,
    /// A new leaderboard was stored.
    LeaderboardPublished,
}

impl Event {
    /// Every one of them.
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

/// A message from one instance to another. It may get lost; a caller that needs an answer asks again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceMessage {
    /// The sender.
    pub from: InstanceId,
    /// What it says: the services' own words.
    pub body: String,
}

/// Whether other instances can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusState {
    /// There are no others.
    Alone,
    /// They can.
    Connected,
    /// They cannot at the moment.
    Lost,
}

/// Carries events to every listener of every instance, and messages to one of them.
pub trait EventBus: Send + Sync {
    /// The instance that this process is.
    fn instance(&self) -> &InstanceId;

    /// Publishes an event to the current listeners. Never waits and never fails: a later listener reads the state itself.
    fn publish(&self, event: Event);

    /// Events of this and of other instances from now on.
    fn subscribe(&self) -> broadcast::Receiver<Event>;

    /// Sends a message to an instance, without waiting.
    fn send(&self, to: &InstanceId, body: String);

    /// Messages to this instance from now on.
    fn messages(&self) -> broadcast::Receiver<InstanceMessage>;

    /// Whether other instances can be reached.
    fn state(&self) -> watch::Receiver<BusState>;
}
