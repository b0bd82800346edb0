//! Handle of Redis: the current connection, and a bounded queue of messages to other instances.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use redis::aio::MultiplexedConnection;
use redis::{Client, IntoConnectionInfo, ProtocolVersion, RedisError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::config::RedisSettings;

/// Maximum number of queued messages, and of their bytes; further ones are dropped.
const MAX_QUEUED_MESSAGES: usize = 4_096;
const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// `redis.url` is not a valid Redis address.
#[derive(Debug, thiserror::Error)]
#[error(
    "redis.url cannot be used ({reason}): write redis://[:PASSWORD@]HOST[:PORT]/[DB], or rediss://… for a connection \
     over TLS"
)]
pub struct AddressError {
    reason: String,
}

impl From<RedisError> for AddressError {
    fn from(error: RedisError) -> Self {
        // The client's messages on addresses are fixed texts that never repeat the address.
        Self { reason: error.to_string() }
    }
}

/// Events of the Redis connection.
#[derive(Debug)]
pub enum ConnectionEvent<'a> {
    /// The subscription is active from now on. Messages may have been missed before.
    Up,
    /// The connection is lost.
    Down,
    /// A message.
    Message {
        /// Channel of the message.
        channel: &'a str,
        /// Payload.
        body: &'a [u8],
    },
}

/// Handles an event on the connection's task; must not block.
pub(super) type Listener = Arc<dyn Fn(ConnectionEvent<'_>) + Send + Sync>;

/// Shared access to Redis; clones share the connection.
#[derive(Clone)]
pub struct RedisHandle(Arc<SharedHandle>);

struct SharedHandle {
    prefix: String,
    outbox: mpsc::Sender<OutboundMessage>,
    room: Arc<Semaphore>,
    dropped: AtomicU64,
    up: AtomicBool,
    /// Set while Redis accepts writes.
    connection: watch::Sender<Option<MultiplexedConnection>>,
}

/// A queued message; dropping it releases its room in the queue.
pub(super) struct OutboundMessage {
    pub(super) channel: String,
    pub(super) body: String,
    _room: OwnedSemaphorePermit,
}

impl RedisHandle {
    /// Creates a handle without a connection yet, and the queue of messages that [`RedisConnectionTask`] sends.
    ///
    /// [`RedisConnectionTask`]: super::RedisConnectionTask
    pub(super) fn new(prefix: &str) -> (Self, mpsc::Receiver<OutboundMessage>) {
        let (outbox, waiting) = mpsc::channel(MAX_QUEUED_MESSAGES);
        let handle = Self(Arc::new(SharedHandle {
            prefix: prefix.to_owned(),
            outbox,
            room: Arc::new(Semaphore::new(MAX_QUEUED_BYTES)),
            dropped: AtomicU64::new(0),
            up: AtomicBool::new(false),
            connection: watch::Sender::new(None),
        }));
        (handle, waiting)
    }

    /// Returns a key or channel name: prefix, kind, name.
    #[must_use]
    pub fn key(&self, kind: &str, name: &impl fmt::Display) -> String {
        format!("{}:{kind}:{name}", self.0.prefix)
    }

    /// Returns a connection for queries and writes, whose every response has its timeout; `None` while Redis is unavailable or refuses
    /// writes.
    #[must_use]
    pub fn connection(&self) -> Option<MultiplexedConnection> {
        self.0.connection.borrow().clone()
    }

    /// Waits until the connection is writable (`true`) or not (`false`).
    pub async fn wait_until_writable(&self, writable: bool) {
        let mut connection = self.0.connection.subscribe();
        // The sender lives as long as this handle, so the wait cannot fail.
        let _ = connection.wait_for(|connection| connection.is_some() == writable).await;
    }

    /// Queues a message without waiting. It is dropped if the queue is full or Redis is unavailable.
    pub fn post(&self, channel: String, body: String) {
        if !self.0.up.load(Ordering::Acquire) {
            return;
        }
        let bytes = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let queued = match Arc::clone(&self.0.room).try_acquire_many_owned(bytes) {
            Ok(room) => self.0.outbox.try_send(OutboundMessage { channel, body, _room: room }).is_ok(),
            Err(_) => false,
        };
        if !queued {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the number of messages dropped because of a full queue since the last call.
    pub(super) fn take_dropped_count(&self) -> u64 {
        self.0.dropped.swap(0, Ordering::Relaxed)
    }

    pub(super) fn mark_connected(&self) {
        self.0.up.store(true, Ordering::Release);
    }

    pub(super) fn mark_disconnected(&self) {
        self.0.up.store(false, Ordering::Release);
    }

    pub(super) fn set_connection(&self, connection: Option<MultiplexedConnection>) {
        self.0.connection.send_replace(connection);
    }
}

/// Creates a client with version 3 of the protocol, which pushes messages beside responses.
pub(super) fn client(settings: &RedisSettings) -> Result<Client, RedisError> {
    // For `rediss://`; an error means that a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let info = settings.url.expose().into_connection_info()?;
    let redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    Client::open(info.set_redis_settings(redis))
}
