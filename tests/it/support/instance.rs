//! One instance of several, as far as Redis knows it.

use langya::infra::config::RedisSettings;
use langya::infra::events::{BusState, EventBus, InstanceId, RedisBus};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::PATIENCE;

/// One instance's bus, with its keeper running on this thread.
pub(crate) struct Instance {
    pub(crate) bus: RedisBus,
    shutdown: CancellationToken,
    keeper: JoinHandle<()>,
}

impl Instance {
    /// Starts one; Redis need not be there.
    pub(crate) fn start(name: &str, settings: &RedisSettings) -> Self {
        let (bus, mut keeper) = RedisBus::new(settings, InstanceId(name.into())).unwrap();
        let shutdown = CancellationToken::new();
        let ended = shutdown.clone();
        let keeper = actix_web::rt::spawn(async move { keeper.run(ended).await });
        Self { bus, shutdown, keeper }
    }

    /// Starts one and waits until it is connected and its listeners know that.
    pub(crate) async fn connected(name: &str, settings: &RedisSettings) -> Self {
        let instance = Self::start(name, settings);
        instance.until(BusState::Connected).await;
        instance
    }

    /// Waits until the others can be reached, or not.
    pub(crate) async fn until(&self, state: BusState) {
        let reached =
            timeout(PATIENCE, self.bus.state().wait_for(|now| *now == state)).await.map(|state| state.is_ok());
        assert_eq!(reached, Ok(true), "{state:?} was never reached");
    }

    /// Waits until Redis takes writes, or not.
    pub(crate) async fn until_writable(&self, writable: bool) {
        timeout(PATIENCE, self.bus.handle().until_writable(writable)).await.unwrap();
    }

    /// Ends it as a process that stops in order.
    pub(crate) async fn end(self) {
        self.shutdown.cancel();
        timeout(PATIENCE, self.keeper).await.unwrap().unwrap();
    }
}
