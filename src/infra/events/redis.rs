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
    ears: Arc<BusListener>,
    link: RedisHandle,
    prefix: String,
}

/// What is told to the listeners of this instance.
struct BusListener {
    local: LocalBus,
    state: watch::Sender<BusState>,
    letters_channel: String,
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
        let (events_channel, letters_channel) = (events_channel(&prefix), letters_channel(&prefix, &instance));
        let channels = vec![events_channel, letters_channel.clone()];
        let ears = Arc::new(BusListener {
            local: LocalBus::new(instance.clone()),
            state: watch::Sender::new(BusState::Lost),
            letters_channel,
        });
        let listener = Arc::clone(&ears);
        let (link, keeper) = RedisConnectionTask::new(settings, &instance, channels, move |news| listener.hear(&news))?;
        Ok((Self { ears, link, prefix }, keeper))
    }

    /// The way to Redis, for what else is shared.
    #[must_use]
    pub fn link(&self) -> &RedisHandle {
        &self.link
    }
}

impl EventBus for RedisBus {
    fn instance(&self) -> &InstanceId {
        self.ears.local.instance()
    }

    fn publish(&self, event: Event) {
        self.ears.local.publish(event);
        let notice = Envelope { from: self.instance().clone(), event };
        self.link.post(events_channel(&self.prefix), json(&notice));
    }

    fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.ears.local.subscribe()
    }

    fn send(&self, to: &InstanceId, body: String) {
        if to == self.instance() {
            return self.ears.local.send(to, body);
        }
        let letter = InstanceMessage { from: self.instance().clone(), body };
        self.link.post(letters_channel(&self.prefix, to), json(&letter));
    }

    fn letters(&self) -> broadcast::Receiver<InstanceMessage> {
        self.ears.local.letters()
    }

    fn state(&self) -> watch::Receiver<BusState> {
        self.ears.state.subscribe()
    }
}

impl BusListener {
    fn hear(&self, news: &ConnectionEvent<'_>) {
        match news {
            ConnectionEvent::Up => {
                self.state.send_replace(BusState::Connected);
                // Something may have been missed: listeners read the state again.
                Event::ALL.into_iter().for_each(|event| self.local.publish(event));
            }
            ConnectionEvent::Down => {
                self.state.send_replace(BusState::Lost);
            }
            ConnectionEvent::Message { channel, body } if *channel == self.letters_channel => {
                read(body).into_iter().for_each(|letter| self.local.deliver(letter));
            }
            ConnectionEvent::Message { body, .. } => {
                let notice: Option<Envelope> = read(body);
                let foreign = notice.filter(|notice| notice.from != *self.local.instance());
                foreign.into_iter().for_each(|notice| self.local.publish(notice.event));
            }
        }
    }
}

fn events_channel(prefix: &str) -> String {
    format!("{prefix}:events")
}

fn letters_channel(prefix: &str, to: &InstanceId) -> String {
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
