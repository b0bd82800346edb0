//! A handle to Redis: the current connection, and a bounded queue of messages to other instances.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use redis::aio::MultiplexedConnection;
use redis::{Client, IntoConnectionInfo, ProtocolVersion, RedisError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::config::RedisSettings;

/// Messages that wait to be sent, and their bytes, at most; further ones are dropped.
const WAITING: usize = 4_096;
const WAITING_BYTES: usize = 16 * 1024 * 1024;

/// `redis.url` is no address of a Redis.
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
        // The client's texts on addresses are fixed ones; they never repeat the address.
        Self { reason: error.to_string() }
    }
}

/// Messages that Redis pushes.
#[derive(Debug)]
pub enum ConnectionEvent<'a> {
    /// Messages come and go from now on. Some may have been missed before.
    Up,
    /// They do not any more.
    Down,
    /// A message.
    Message {
        /// Where it was sent.
        channel: &'a str,
        /// What it says.
        body: &'a [u8],
    },
}

/// Handles a message on the task of the connection; must not block.
pub(super) type Listener = Arc<dyn Fn(ConnectionEvent<'_>) + Send + Sync>;

/// The way to Redis; cloning shares it.
#[derive(Clone)]
pub struct RedisHandle(Arc<SharedHandle>);

struct SharedHandle {
    prefix: String,
    outbox: mpsc::Sender<OutboundMessage>,
    room: Arc<Semaphore>,
    dropped: AtomicU64,
    up: AtomicBool,
    /// While Redis takes writes.
    connection: watch::Sender<Option<MultiplexedConnection>>,
}

/// A message on its way out; it gives back its room in the queue when it is dropped.
pub(super) struct OutboundMessage {
    pub(super) channel: String,
    pub(super) body: String,
    _room: OwnedSemaphorePermit,
}

impl RedisHandle {
    /// A handle without a connection yet, and the queue of messages that [`RedisConnectionTask`] sends.
    ///
    /// [`RedisConnectionTask`]: super::RedisConnectionTask
    pub(super) fn new(prefix: &str) -> (Self, mpsc::Receiver<OutboundMessage>) {
        let (outbox, waiting) = mpsc::channel(WAITING);
        let handle = Self(Arc::new(SharedHandle {
            prefix: prefix.to_owned(),
            outbox,
            room: Arc::new(Semaphore::new(WAITING_BYTES)),
            dropped: AtomicU64::new(0),
            up: AtomicBool::new(false),
            connection: watch::Sender::new(None),
        }));
        (handle, waiting)
    }

    /// A key or channel: prefix, kind, name.
    #[must_use]
    pub fn key(&self, kind: &str, name: &impl fmt::Display) -> String {
        format!("{}:{kind}:{name}", self.0.prefix)
    }

    /// A connection to ask and to write through, whose every answer has its timeout; `None` while Redis is lost or
    /// takes no writes.
    #[must_use]
    pub fn connection(&self) -> Option<MultiplexedConnection> {
        self.0.connection.borrow().clone()
    }

    /// Waits until the connection can be written to (`true`) or not (`false`).
    pub async fn until_writable(&self, writable: bool) {
        let mut connection = self.0.connection.subscribe();
        // The sender lives as long as this link, so the wait cannot fail.
        let _ = connection.wait_for(|connection| connection.is_some() == writable).await;
    }

    /// Sends a message without waiting. Where the queue is full or Redis is lost, it is dropped.
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

    /// How many messages found the queue full since this was asked last.
    pub(super) fn take_dropped(&self) -> u64 {
        self.0.dropped.swap(0, Ordering::Relaxed)
    }

    pub(super) fn mark_up(&self) {
        self.0.up.store(true, Ordering::Release);
    }

    pub(super) fn mark_down(&self) {
        self.0.up.store(false, Ordering::Release);
    }

    pub(super) fn set_connection(&self, connection: Option<MultiplexedConnection>) {
        self.0.connection.send_replace(connection);
    }
}

/// Messages are pushed beside answers, which takes the third version of the protocol.
pub(super) fn client(settings: &RedisSettings) -> Result<Client, RedisError> {
    // For `rediss://`; an error says that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let info = settings.url.expose().into_connection_info()?;
    let redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    Client::open(info.set_redis_settings(redis))
}
