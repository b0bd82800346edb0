//! Waits for one kind of event.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::infra::events::Event;

/// Waits for an event of this kind. Lost events count as such an event.
pub(super) async fn wait_for_event(events: &mut broadcast::Receiver<Event>, wanted: Event) {
    loop {
        match events.recv().await {
            Ok(event) if event != wanted => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
