//! Event bus of a single process: broadcast channels.

use tokio::sync::{broadcast, watch};

use super::{BusState, Event, EventBus, InstanceId, InstanceMessage};

/// Capacity of each channel: events and messages that a slow listener may lag behind before it misses some.
const EVENT_CAPACITY: usize = 64;
const MESSAGE_CAPACITY: usize = 1_024;

/// Event bus of a single-process arena.
#[derive(Debug)]
pub struct LocalBus {
    instance: InstanceId,
    events: broadcast::Sender<Event>,
    messages: broadcast::Sender<InstanceMessage>,
    state: watch::Sender<BusState>,
}

impl LocalBus {
    /// Creates a bus without listeners.
    #[must_use]
    pub fn new(instance: InstanceId) -> Self {
        Self {
            instance,
            events: broadcast::channel(EVENT_CAPACITY).0,
            messages: broadcast::channel(MESSAGE_CAPACITY).0,
            state: watch::Sender::new(BusState::Alone),
        }
    }
}

impl LocalBus {
    /// Delivers a message to the current receivers.
    pub(super) fn deliver(&self, message: InstanceMessage) {
        // No receiver is fine: messages are repeated.
        let _ = self.messages.send(message);
    }
}

impl EventBus for LocalBus {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    fn publish(&self, event: Event) {
        // No listener is fine: a later one reads the state itself.
        let _ = self.events.send(event);
    }

    fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    fn send(&self, to: &InstanceId, body: String) {
        if *to == self.instance {
            self.deliver(InstanceMessage { from: self.instance.clone(), body });
        }
    }

    fn messages(&self) -> broadcast::Receiver<InstanceMessage> {
        self.messages.subscribe()
    }

    fn state(&self) -> watch::Receiver<BusState> {
        self.state.subscribe()
    }
}
