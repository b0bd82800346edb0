//! The task that keeps the Redis connection open: connects, subscribes, sends queued messages and checks the
//! connection twice a second.
//!
//! The client's own `ConnectionManager` is not used: it keeps a failed log-in for good, so that a corrected password would need a restart,
//! and it does not report when subscriptions are restored.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::handle::{AddressError, ConnectionEvent, Listener, OutboundMessage, RedisHandle, client};
use super::problem::Problem;
use crate::config::RedisSettings;
use crate::metrics;

/// Interval of heartbeats, and lifetime of the instance's presence key.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);
const PRESENCE_LIFETIME: Duration = Duration::from_secs(3);
/// Wait before reconnecting.
const RECONNECT_DELAY: Duration = Duration::from_millis(250);
/// Maximum number of messages sent together.
const BATCH_SIZE: usize = 256;

/// Keeps the connection of a [`RedisHandle`] open while it runs.
#[must_use = "the connection opens only while this task runs"]
pub struct RedisConnectionTask {
    handle: RedisHandle,
    client: Client,
    /// Address without the password.
    shown_address: String,
    timeout: Duration,
    /// Key that announces this instance.
    presence: String,
    channels: Vec<String>,
    waiting: mpsc::Receiver<OutboundMessage>,
    listener: Listener,
    /// Problem that was logged last.
    reported: Option<Problem>,
}

/// A connection, and the signal that fires when it is closed.
struct Open {
    connection: MultiplexedConnection,
    closed: CancellationToken,
}

impl RedisConnectionTask {
    /// Creates the handle of an instance, and the task that opens its connection and keeps it open. Redis may still be unavailable.
    ///
    /// # Errors
    /// [`AddressError`] if `redis.url` is not a valid address.
    pub fn new(
        settings: &RedisSettings,
        instance: &impl fmt::Display,
        channels: Vec<String>,
        listener: impl Fn(ConnectionEvent<'_>) + Send + Sync + 'static,
    ) -> Result<(RedisHandle, Self), AddressError> {
        let client = client(settings)?;
        let (handle, waiting) = RedisHandle::new(&settings.prefix);
        let task = Self {
            client,
            shown_address: settings.url.to_string(),
            timeout: Duration::from_millis(settings.timeout_ms),
            presence: handle.key("instance", instance),
            channels,
            waiting,
            listener: Arc::new(listener),
            handle: handle.clone(),
            reported: None,
        };
        Ok((handle, task))
    }

    /// Maintains the connection until `shutdown`, then sends waiting messages and deregisters the instance.
    pub async fn run(&mut self, shutdown: CancellationToken) {
        let _down_at_the_end = MarkDownOnDrop { handle: self.handle.clone(), listener: self.listener.clone() };
        loop {
            let problem = tokio::select! {
                problem = self.connect_and_serve() => problem,
                () = shutdown.cancelled() => break,
            };
            self.handle_connection_loss(problem);
            tokio::select! {
                () = sleep(RECONNECT_DELAY) => {}
                () = shutdown.cancelled() => break,
            }
        }
        self.sign_off().await;
        self.drop_queued_messages();
    }

    async fn connect_and_serve(&mut self) -> Problem {
        let served = match self.open().await {
            Ok(open) => self.serve(open).await,
            Err(error) => Err(error),
        };
        match served {
            Ok(()) => Problem::Unreachable("the connection was closed".into()),
            Err(error) => Problem::from_error(&error),
        }
    }

    async fn open(&self) -> RedisResult<Open> {
        let closed = CancellationToken::new();
        let (listener, on_close) = (self.listener.clone(), closed.clone());
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(Some(self.timeout))
            .set_push_sender(move |push: PushInfo| -> Result<(), ()> {
                handle_push(&push, &listener, &on_close);
                Ok(())
            });
        let mut connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        connection.subscribe(&self.channels).await?;
        Ok(Open { connection, closed })
    }

    /// Serves a connection until it fails or is closed.
    async fn serve(&mut self, Open { mut connection, closed }: Open) -> RedisResult<()> {
        self.heartbeat(&mut connection).await?;
        self.drop_queued_messages();
        self.handle.mark_connected();
        (self.listener)(ConnectionEvent::Up);
        let mut heartbeat = interval(HEARTBEAT_INTERVAL);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut batch = Vec::with_capacity(BATCH_SIZE);
        let depth = metrics::queue_depth("redis");
        loop {
            depth.set(metrics::float(self.waiting.len()));
            tokio::select! {
                _ = heartbeat.tick() => self.heartbeat(&mut connection).await?,
                _ = self.waiting.recv_many(&mut batch, BATCH_SIZE) => send(&mut connection, &mut batch).await?,
                () = closed.cancelled() => return Ok(()),
            }
        }
    }

    /// Writes the presence key of this instance. The response shows whether Redis is available and accepts writes.
    async fn heartbeat(&mut self, connection: &mut MultiplexedConnection) -> RedisResult<()> {
        let written: RedisResult<()> = redis::cmd("SET")
            .arg(&self.presence)
            .arg(1)
            .arg("PX")
            .arg(milliseconds(PRESENCE_LIFETIME))
            .query_async(connection)
            .await;
        let problem = written.as_ref().err().map(Problem::from_error);
        match problem {
            None => self.allow_writes(connection),
            Some(problem) if problem.refuses_writes_only() => self.forbid_writes(problem),
            Some(_) => return written,
        }
        match self.handle.take_dropped_count() {
            0 => {}
            count => tracing::warn!(messages = count, "messages to other instances were dropped: their queue was full"),
        }
        Ok(())
    }

    fn allow_writes(&mut self, connection: &MultiplexedConnection) {
        if self.handle.connection().is_none() {
            self.handle.set_connection(Some(connection.clone()));
            self.reported = None;
            tracing::info!(redis.address = %self.shown_address, "redis is connected");
        }
    }

    fn forbid_writes(&mut self, problem: Problem) {
        self.log_once(
            problem,
            "redis refuses writes: until it takes them, limits are counted without it, apart from instances whose writes it takes",
        );
        self.handle.set_connection(None);
    }

    fn handle_connection_loss(&mut self, problem: Problem) {
        report_disconnection(&self.handle, &self.listener);
        self.drop_queued_messages();
        self.log_once(
            problem,
            "redis is lost: until it is back, limits are counted without it, apart from instances that reach it, and live updates are late",
        );
    }

    /// Logs each problem once, however often it occurs.
    fn log_once(&mut self, problem: Problem, what: &'static str) {
        if !self.reported.as_ref().is_some_and(|former| former.same_as(&problem)) {
            tracing::warn!(redis.address = %self.shown_address, reason = %problem, "{what}");
            self.reported = Some(problem);
        }
    }

    /// Drops messages queued before a connection loss: senders that need an answer repeat them.
    fn drop_queued_messages(&mut self) {
        while self.waiting.try_recv().is_ok() {}
    }

    async fn sign_off(&mut self) {
        let Some(mut connection) = self.handle.connection() else { return };
        let mut batch = Vec::new();
        while let Ok(parcel) = self.waiting.try_recv() {
            batch.push(parcel);
        }
        // Lost messages cause only a delay, and the key expires by itself.
        let _ = send(&mut connection, &mut batch).await;
        let _: RedisResult<()> = redis::cmd("DEL").arg(&self.presence).query_async(&mut connection).await;
    }
}

/// Marks the connection as down when its task ends, also by a panic.
struct MarkDownOnDrop {
    handle: RedisHandle,
    listener: Listener,
}

impl Drop for MarkDownOnDrop {
    fn drop(&mut self) {
        report_disconnection(&self.handle, &self.listener);
    }
}

fn report_disconnection(handle: &RedisHandle, listener: &Listener) {
    handle.mark_disconnected();
    handle.set_connection(None);
    listener(ConnectionEvent::Down);
}

/// Sends messages in one pipeline and empties the batch.
async fn send(connection: &mut MultiplexedConnection, batch: &mut Vec<OutboundMessage>) -> Result<(), RedisError> {
    if batch.is_empty() {
        return Ok(());
    }
    let mut pipeline = redis::pipe();
    for parcel in batch.drain(..) {
        pipeline.cmd("PUBLISH").arg(parcel.channel).arg(parcel.body).ignore();
    }
    pipeline.query_async(connection).await
}

fn handle_push(push: &PushInfo, listener: &Listener, closed: &CancellationToken) {
    match (&push.kind, push.data.as_slice()) {
        (PushKind::Disconnection, _) => closed.cancel(),
        (PushKind::Message, [Value::BulkString(channel), Value::BulkString(body)]) => {
            if let Ok(channel) = std::str::from_utf8(channel) {
                listener(ConnectionEvent::Message { channel, body });
            }
        }
        _ => {}
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
