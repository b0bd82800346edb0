//! Webhook messages: an outbox, from which each is sent until it is accepted or abandoned, and the position of each webhook.

use sqlx::Connection;
use sqlx_macros::FromRow;

use crate::domain::time::Timestamp;
use crate::domain::webhook::{DeliveryState, WebhookEvent};
use crate::metrics::store_time;
use crate::storage::admin::audit::insert_audit;
use crate::storage::{NewAuditEntry, Store, StoreError, on_reader, on_writer, on_writer_once};

const SELECT_POSITION: &str = "SELECT position, state FROM webhook_positions WHERE webhook = $1 AND event = $2";
const BEGIN: &str = "INSERT INTO webhook_positions (webhook, event, position, state) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (webhook, event) DO NOTHING";
/// At most one message of a webhook and event waits, and of two instances that continue from the same position one succeeds.
const ADVANCE: &str = "UPDATE webhook_positions SET position = $3, state = $4 \
     WHERE webhook = $1 AND event = $2 AND position = $5 AND NOT EXISTS (SELECT 1 FROM webhook_messages w \
     WHERE w.webhook = $1 AND w.event = $2 AND w.state = 'waiting')";
const INSERT: &str = "INSERT INTO webhook_messages (id, webhook, event, body, created_at, failures, next_at, state, error) \
     VALUES ($1, $2, $3, $4, $5, 0, $5, 'waiting', '')";
const SELECT_DUE: &str = "SELECT id, webhook, event, body, created_at, failures, next_at, state, error, settled_at \
     FROM webhook_messages WHERE state = 'waiting' AND next_at <= $1 ORDER BY id LIMIT $2";
const SELECT: &str = "SELECT id, webhook, event, body, created_at, failures, next_at, state, error, settled_at \
     FROM webhook_messages WHERE ($1 = '' OR state = $1) ORDER BY id DESC LIMIT $2";
/// The instance that updates the time of the next attempt is the one that sends.
const CLAIM: &str = "UPDATE webhook_messages SET next_at = $3 WHERE id = $1 AND next_at = $2 AND state = 'waiting'";
const SETTLE: &str = "UPDATE webhook_messages SET failures = $2, next_at = $3, state = $4, error = $5, settled_at = $6 \
     WHERE id = $1 AND state = 'waiting'";
const RETRY: &str = "UPDATE webhook_messages SET failures = 0, next_at = $2, state = 'waiting', settled_at = NULL \
     WHERE id = $1 AND state = 'dead'";
const DELETE_OLD: &str = "DELETE FROM webhook_messages WHERE state = $1 AND settled_at < $2";

/// Position of a webhook for an event.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct WebhookPosition {
    /// Number of the last vote, or time of the last leaderboard.
    pub position: i64,
    /// State at that position, as JSON.
    pub state: String,
}

/// Message to insert.
#[derive(Debug, Clone, Copy)]
pub struct NewWebhookMessage<'m> {
    /// Id; sorts by time.
    pub id: &'m str,
    /// Id of the webhook.
    pub webhook: &'m str,
    /// Event of the message.
    pub event: WebhookEvent,
    /// Body of the message.
    pub body: &'m str,
    /// Current time.
    pub created_at: Timestamp,
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookMessageRow {
    /// Id of the message.
    pub id: String,
    /// Id of the webhook.
    pub webhook: String,
    /// Event of the message.
    pub event: WebhookEvent,
    /// Body of the message.
    pub body: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Number of failed attempts.
    pub failures: u32,
    /// Time of the next attempt.
    pub next_at: Timestamp,
    /// Delivery state.
    pub state: DeliveryState,
    /// Reason of the last failure; empty if there was none.
    pub error: String,
    /// Time at which it was accepted or abandoned.
    pub settled_at: Option<Timestamp>,
}

#[derive(FromRow)]
struct RawWebhookMessage {
    id: String,
    webhook: String,
    event: String,
    body: String,
    created_at: i64,
    failures: i64,
    next_at: i64,
    state: String,
    error: String,
    settled_at: Option<i64>,
}

impl TryFrom<RawWebhookMessage> for WebhookMessageRow {
    type Error = StoreError;

    fn try_from(raw: RawWebhookMessage) -> Result<Self, StoreError> {
        let wrong = |column: &'static str, value: &str| StoreError::Inconsistent {
            table: "webhook_messages",
            column,
            row: raw.id.clone(),
            value: value.to_owned(),
        };
        Ok(Self {
            event: raw.event.parse().map_err(|_| wrong("event", &raw.event))?,
            state: raw.state.parse().map_err(|_| wrong("state", &raw.state))?,
            failures: u32::try_from(raw.failures).map_err(|_| wrong("failures", &raw.failures.to_string()))?,
            id: raw.id,
            webhook: raw.webhook,
            body: raw.body,
            created_at: Timestamp(raw.created_at),
            next_at: Timestamp(raw.next_at),
            error: raw.error,
            settled_at: raw.settled_at.map(Timestamp),
        })
    }
}

impl Store {
    /// Reads the position of a webhook for an event; `None` if it has none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn webhook_position(
        &self,
        webhook: &str,
        event: WebhookEvent,
    ) -> Result<Option<WebhookPosition>, StoreError> {
        let _time = store_time("webhook_position");
        on_reader!(self, |pool| {
            sqlx::query_as(SELECT_POSITION).bind(webhook).bind(event.as_str()).fetch_optional(pool).await
        })
    }

    /// Stores the initial position of a webhook for an event without a message, unless it has one: it is notified of later events.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn begin_webhook(
        &self,
        webhook: &str,
        event: WebhookEvent,
        position: &WebhookPosition,
    ) -> Result<(), StoreError> {
        let _time = store_time("begin_webhook");
        on_writer!(self, |connection| {
            let query = sqlx::query(BEGIN).bind(webhook).bind(event.as_str());
            query.bind(position.position).bind(&position.state).execute(connection).await.map(drop)
        })
    }

    /// Inserts a message and advances the position, unless another message of its webhook and event is waiting, or another instance
    /// inserted one: then nothing changes, and the next message includes more. Returns whether it was inserted.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn insert_webhook_message(
        &self,
        message: NewWebhookMessage<'_>,
        former: i64,
        position: &WebhookPosition,
    ) -> Result<bool, StoreError> {
        let _time = store_time("insert_webhook_message");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let query = sqlx::query(ADVANCE).bind(message.webhook).bind(message.event.as_str());
            let query = query.bind(position.position).bind(&position.state).bind(former);
            let is_kept = query.execute(&mut *tx).await?.rows_affected() > 0;
            if is_kept {
                let query = sqlx::query(INSERT).bind(message.id).bind(message.webhook).bind(message.event.as_str());
                query.bind(message.body).bind(message.created_at.0).execute(&mut *tx).await?;
            }
            tx.commit().await.map(|()| is_kept)
        })
    }

    /// Reads the messages that are due, the oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn due_webhook_messages(&self, now: Timestamp, limit: u32) -> Result<Vec<WebhookMessageRow>, StoreError> {
        let _time = store_time("due_webhook_messages");
        let rows: Vec<RawWebhookMessage> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT_DUE).bind(now.0).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.into_iter().map(WebhookMessageRow::try_from).collect()
    }

    /// Reads messages in a state, or all, the latest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn webhook_messages(
        &self,
        state: Option<DeliveryState>,
        limit: u32,
    ) -> Result<Vec<WebhookMessageRow>, StoreError> {
        let _time = store_time("webhook_messages");
        let state = state.map_or("", DeliveryState::as_str);
        let rows: Vec<RawWebhookMessage> = on_reader!(self, |pool| {
            sqlx::query_as(SELECT).bind(state).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.into_iter().map(WebhookMessageRow::try_from).collect()
    }

    /// Claims a due message, so that no other instance sends it before `until`. Returns whether this one may send it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn claim_webhook_message(
        &self,
        message: &WebhookMessageRow,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let _time = store_time("claim_webhook_message");
        on_writer!(self, |connection| {
            let query = sqlx::query(CLAIM).bind(&message.id).bind(message.next_at.0).bind(until.0);
            query.execute(connection).await.map(|done| done.rows_affected() > 0)
        })
    }

    /// Stores the result of an attempt: the message's new state.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn settle_webhook_message(&self, message: &WebhookMessageRow) -> Result<(), StoreError> {
        let _time = store_time("settle_webhook_message");
        on_writer!(self, |connection| {
            let query = sqlx::query(SETTLE).bind(&message.id).bind(i64::from(message.failures));
            let query = query.bind(message.next_at.0).bind(message.state.as_str()).bind(&message.error);
            query.bind(message.settled_at.map(|at| at.0)).execute(connection).await.map(drop)
        })
    }

    /// Requeues an abandoned message, with an audit entry. Returns whether it was abandoned.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn retry_webhook_message(
        &self,
        id: &str,
        now: Timestamp,
        audit: &NewAuditEntry,
    ) -> Result<bool, StoreError> {
        let _time = store_time("retry_webhook_message");
        on_writer_once!(self, |connection| {
            let mut tx = connection.begin().await?;
            let waits = sqlx::query(RETRY).bind(id).bind(now.0).execute(&mut *tx).await?.rows_affected() > 0;
            if waits {
                insert_audit!(&mut *tx, audit)?;
            }
            tx.commit().await.map(|()| waits)
        })
    }

    /// Deletes messages accepted or abandoned before this time.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn delete_old_webhook_messages(
        &self,
        state: DeliveryState,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let _time = store_time("delete_old_webhook_messages");
        on_writer!(self, |connection| {
            sqlx::query(DELETE_OLD)
                .bind(state.as_str())
                .bind(before.0)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })
    }
}
