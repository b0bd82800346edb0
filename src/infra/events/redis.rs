//! Event bus between instances of one arena, through Redis.
//!
//! Events published here reach this instance at once, with or without Redis. Other instances receive them if they and Redis can be reached
//! at that moment; after each reconnection every event is published once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};

use super::{BusState, Event, EventBus, InstanceId, InstanceMessage, LocalBus};
use crate::config::RedisSettings;
use crate::redis::{AddressError, ConnectionEvent, RedisConnectionTask, RedisHandle};

/// Event bus of a multi-process arena.
pub struct RedisBus {
    listener: Arc<BusListener>,
    handle: RedisHandle,
    prefix: String,
}

/// Forwards messages from Redis to this instance.
struct BusListener {
    local: LocalBus,
    state: watch::Sender<BusState>,
    message_channel: String,
}

/// An event with its sender.
#[derive(Serialize, Deserialize)]
struct Envelope {
    from: InstanceId,
    event: Event,
}

impl RedisBus {
    /// Creates a bus and the task that keeps it connected, which the caller must run. Redis may still be unavailable.
    ///
    /// # Errors
    /// [`AddressError`] if the address is invalid.
    pub fn new(settings: &RedisSettings, instance: InstanceId) -> Result<(Self, RedisConnectionTask), AddressError> {
        let prefix = settings.prefix.clone();
        let (events_channel, message_channel) = (events_channel(&prefix), message_channel(&prefix, &instance));
        let channels = vec![events_channel, message_channel.clone()];
        let listener = Arc::new(BusListener {
            local: LocalBus::new(instance.clone()),
            state: watch::Sender::new(BusState::Lost),
            message_channel,
        });
        let of_task = Arc::clone(&listener);
        let (handle, task) =
            RedisConnectionTask::new(settings, &instance, channels, move |event| of_task.on_event(&event))?;
        Ok((Self { listener, handle, prefix }, task))
    }

    /// Returns the connection to Redis, for other shared state.
    #[must_use]
    pub fn handle(&self) -> &RedisHandle {
        &self.handle
    }
}

impl EventBus for RedisBus {
    fn instance(&self) -> &InstanceId {
        self.listener.local.instance()
    }

    fn publish(&self, event: Event) {
        self.listener.local.publish(event);
        let envelope = Envelope { from: self.instance().clone(), event };
        self.handle.post(events_channel(&self.prefix), json(&envelope));
    }

    fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.listener.local.subscribe()
    }

    fn send(&self, to: &InstanceId, body: String) {
        if to == self.instance() {
            return self.listener.local.send(to, body);
        }
        let message = InstanceMessage { from: self.instance().clone(), body };
        self.handle.post(message_channel(&self.prefix, to), json(&message));
    }

    fn messages(&self) -> broadcast::Receiver<InstanceMessage> {
        self.listener.local.messages()
    }

    fn state(&self) -> watch::Receiver<BusState> {
        self.listener.state.subscribe()
    }
}

impl BusListener {
    fn on_event(&self, event: &ConnectionEvent<'_>) {
        match event {
            ConnectionEvent::Up => {
                self.state.send_replace(BusState::Connected);
                // Events may have been missed: listeners read the state again.
                Event::ALL.into_iter().for_each(|event| self.local.publish(event));
            }
            ConnectionEvent::Down => {
                self.state.send_replace(BusState::Lost);
            }
            ConnectionEvent::Message { channel, body } if *channel == self.message_channel => {
                read(body).into_iter().for_each(|message| self.local.deliver(message));
            }
            ConnectionEvent::Message { body, .. } => {
                let envelope: Option<Envelope> = read(body);
                let foreign = envelope.filter(|envelope| envelope.from != *self.local.instance());
                foreign.into_iter().for_each(|envelope| self.local.publish(envelope.event));
            }
        }
    }
}

fn events_channel(prefix: &str) -> String {
    format!("{prefix}:events")
}

fn message_channel(prefix: &str, to: &InstanceId) -> String {
    format!("{prefix}:to:{to}")
}

fn json(message: &impl Serialize) -> String {
    serde_json::to_string(message).expect("messages are plain text")
}

/// Parses a message. An unreadable one is from another version, which is expected during a rolling update.
fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Option<T> {
    let read = serde_json::from_slice(body);
    if read.is_err() {
        tracing::debug!("a message of another instance could not be read");
    }
    read.ok()
}
