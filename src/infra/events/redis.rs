//! Events between instances of one arena, through Redis.
//!
//! What is published here reaches this instance at once, whether Redis is there or not. The others hear of it where
//! they and Redis can be reached in that moment; after each connection everything counts as changed once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};

use super::{BusState, Event, EventBus, InstanceId, InstanceMessage, LocalBus};
use crate::config::RedisSettings;
use crate::redis::{AddressError, ConnectionEvent, RedisConnectionTask, RedisHandle};

/// The bus of an arena that is several processes.
pub struct RedisBus {
    listener: Arc<BusListener>,
    handle: RedisHandle,
    prefix: String,
}

/// Passes what Redis says on to this instance.
struct BusListener {
    local: LocalBus,
    state: watch::Sender<BusState>,
    message_channel: String,
}

/// An event on its way.
#[derive(Serialize, Deserialize)]
struct Envelope {
    from: InstanceId,
    event: Event,
}

impl RedisBus {
    /// A bus, and the task that keeps it connected, which somebody has to run. Redis need not be there yet.
    ///
    /// # Errors
    /// [`AddressError`] where the address cannot be one.
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

    /// The connection to Redis, for what else is shared.
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
                // Something may have been missed: listeners read the state again.
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

/// A message that cannot be read is of another version, which is to be expected while instances are renewed.
fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Option<T> {
    let read = serde_json::from_slice(body);
    if read.is_err() {
        tracing::debug!("a message of another instance could not be read");
    }
    read.ok()
}
