//! Event bus between arenas of one test, in place of Redis, with a switch that cuts it and one that loses messages.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use langya::infra::events::{BusState, Event, EventBus, InstanceId, InstanceMessage};
use tokio::sync::{broadcast, watch};

/// Connection between the arenas.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Shared>);

struct Shared {
    ends: Mutex<HashMap<InstanceId, End>>,
    state: watch::Sender<BusState>,
    losing: AtomicUsize,
    delivered: watch::Sender<usize>,
}

#[derive(Clone)]
struct End {
    events: broadcast::Sender<Event>,
    messages: broadcast::Sender<InstanceMessage>,
}

impl Wire {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared {
            ends: Mutex::default(),
            state: watch::Sender::new(BusState::Connected),
            losing: AtomicUsize::new(0),
            delivered: watch::Sender::new(0),
        }))
    }

    /// Returns the bus of one arena.
    pub(crate) fn bus(&self, instance: &str) -> Arc<dyn EventBus> {
        let instance = InstanceId(instance.into());
        let end = End { events: broadcast::channel(64).0, messages: broadcast::channel(1_024).0 };
        self.0.ends.lock().unwrap().insert(instance.clone(), end.clone());
        Arc::new(WireBus { wire: self.clone(), instance, end })
    }

    /// Cuts the connection and notifies all arenas.
    pub(crate) fn cut(&self) {
        self.0.state.send_replace(BusState::Lost);
    }

    /// Loses the next messages silently.
    pub(crate) fn lose(&self, messages: usize) {
        self.0.losing.store(messages, Ordering::SeqCst);
    }

    /// Waits until all messages to lose were lost.
    pub(crate) async fn lost_all(&self) {
        super::until(async || (self.0.losing.load(Ordering::SeqCst) == 0).then_some(())).await;
    }

    /// Waits until this number of messages were delivered.
    pub(crate) async fn delivered(&self, messages: usize) {
        self.0.delivered.subscribe().wait_for(|count| *count >= messages).await.unwrap();
    }
}

struct WireBus {
    wire: Wire,
    instance: InstanceId,
    end: End,
}

impl EventBus for WireBus {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    fn publish(&self, event: Event) {
        let connected = *self.wire.0.state.borrow() == BusState::Connected;
        for (instance, end) in self.wire.0.ends.lock().unwrap().iter() {
            if connected || *instance == self.instance {
                let _ = end.events.send(event);
            }
        }
    }

    fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.end.events.subscribe()
    }

    fn send(&self, to: &InstanceId, body: String) {
        let losing = self.wire.0.losing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if losing.is_ok() || *self.wire.0.state.borrow() != BusState::Connected {
            return;
        }
        if let Some(end) = self.wire.0.ends.lock().unwrap().get(to) {
            let _ = end.messages.send(InstanceMessage { from: self.instance.clone(), body });
            self.wire.0.delivered.send_modify(|count| *count += 1);
        }
    }

    fn messages(&self) -> broadcast::Receiver<InstanceMessage> {
        self.end.messages.subscribe()
    }

    fn state(&self) -> watch::Receiver<BusState> {
        self.wire.0.state.subscribe()
    }
}
