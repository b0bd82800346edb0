//! One of several instances, reduced to its Redis connection.

use langya::infra::config::RedisSettings;
use langya::infra::events::{BusState, EventBus, InstanceId, RedisBus};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::TIMEOUT;

/// Redis bus of one instance, with its connection task running on this thread.
pub(crate) struct Instance {
    pub(crate) bus: RedisBus,
    shutdown: CancellationToken,
    keeper: JoinHandle<()>,
}

impl Instance {
    /// Starts an instance; Redis need not be running.
    pub(crate) fn start(name: &str, settings: &RedisSettings) -> Self {
        let (bus, mut keeper) = RedisBus::new(settings, InstanceId(name.into())).unwrap();
        let shutdown = CancellationToken::new();
        let ended = shutdown.clone();
        let keeper = actix_web::rt::spawn(async move { keeper.run(ended).await });
        Self { bus, shutdown, keeper }
    }

    /// Starts an instance and waits until it is connected and its listeners are notified.
    pub(crate) async fn connected(name: &str, settings: &RedisSettings) -> Self {
        let instance = Self::start(name, settings);
        instance.until(BusState::Connected).await;
        instance
    }

    /// Waits until the bus has this state.
    pub(crate) async fn until(&self, state: BusState) {
        let reached = timeout(TIMEOUT, self.bus.state().wait_for(|now| *now == state)).await.map(|state| state.is_ok());
        assert_eq!(reached, Ok(true), "{state:?} was never reached");
    }

    /// Waits until Redis accepts writes, or does not.
    pub(crate) async fn wait_until_writable(&self, writable: bool) {
        timeout(TIMEOUT, self.bus.handle().wait_until_writable(writable)).await.unwrap();
    }

    /// Ends the instance like a process with an orderly shutdown.
    pub(crate) async fn end(self) {
        self.shutdown.cancel();
        timeout(TIMEOUT, self.keeper).await.unwrap().unwrap();
    }
}
