//! Delivers webhook messages: writes them to the outbox, and sends them until they are accepted or given up.
//!
//! Messages are derived from the database, by the last position of each webhook, so a lost event or a restart loses nothing. An instance
//! claims a message before sending it, so that two instances do not send it at once, and sends nothing while claims cannot be stored. A
//! message is sent a second time if an instance ends between the response and storing the result: receivers recognise the duplicate by its
//! id.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use super::admin::actor::{Actor, audit_json};
use crate::domain::admin::action::AdminAction;
use crate::domain::rating::leaderboards::leaderboard_snapshot::LeaderboardSnapshot;
use crate::domain::time::Timestamp;
use crate::domain::webhook::{
    ChangedLeaderboard, DeliveryState, RecordedVotes, WebhookEvent, WebhookMessage, rank_changes, wait_after,
};
use crate::infra::metrics;
use crate::infra::rng::SharedRng;
use crate::infra::storage::{NewWebhookMessage, Store, StoreError, WebhookMessageRow, WebhookPosition};
use crate::infra::time::clock::Clock;
use crate::infra::webhooks::{WebhookError, WebhookSender};

/// Lease of a claimed message in milliseconds, in which the instance sends it and stores the result: longer than the request timeout.
const CLAIM_LEASE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 3_600_000;
/// Retention of delivered messages: a busy arena has one every second.
const DELIVERED_RETENTION_MS: i64 = DAY_MS;
/// Retention of messages that were given up.
const DEAD_RETENTION_MS: i64 = 30 * DAY_MS;

/// Error of retrying a webhook message.
#[derive(Debug, thiserror::Error)]
pub enum WebhookRetryError {
    /// No message has this id.
    #[error("no message that was given up has the id {0:?}: `langya webhooks list` shows them")]
    Unknown(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The outbox with its sender.
pub struct Webhooks {
    store: Store,
    sender: Arc<WebhookSender>,
    rng: Arc<SharedRng>,
    clock: Arc<dyn Clock>,
}

impl Webhooks {
    /// Creates the service.
    #[must_use]
    pub fn new(store: Store, sender: Arc<WebhookSender>, rng: Arc<SharedRng>, clock: Arc<dyn Clock>) -> Self {
        Self { store, sender, rng, clock }
    }

    /// Writes new messages to the outbox, and returns those that are due, at most `limit`, for [`Webhooks::send`].
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn due(&self, snapshot: &LeaderboardSnapshot, limit: u32) -> Result<Vec<WebhookMessageRow>, StoreError> {
        if self.sender.webhooks().next().is_some() {
            self.write_votes().await?;
            self.write_leaderboard(snapshot).await?;
        }
        self.store.due_webhook_messages(self.clock.now(), limit).await
    }

    /// Deletes messages delivered more than a day ago, or given up more than 30 days ago.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn delete_old(&self) -> Result<u64, StoreError> {
        let mut deleted = 0;
        for (state, kept) in
            [(DeliveryState::Delivered, DELIVERED_RETENTION_MS), (DeliveryState::Dead, DEAD_RETENTION_MS)]
        {
            deleted += self.store.delete_old_webhook_messages(state, Timestamp(self.clock.now().0 - kept)).await?;
        }
        Ok(deleted)
    }

    async fn write_votes(&self) -> Result<(), StoreError> {
        let event = WebhookEvent::VotesRecorded;
        let upto = self.store.last_vote_seq().await?;
        let now = WebhookPosition { position: upto, state: "{}".to_owned() };
        for webhook in self.subscribed_webhooks(event) {
            match self.store.webhook_position(webhook, event).await? {
                None => self.store.begin_webhook(webhook, event, &now).await?,
                Some(former) if former.position < upto => {
                    let data = RecordedVotes { after: former.position, upto };
                    self.write(webhook, event, data, former.position, &now).await?;
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    async fn write_leaderboard(&self, snapshot: &LeaderboardSnapshot) -> Result<(), StoreError> {
        let event = WebhookEvent::LeaderboardChanged;
        let fitted_at = snapshot.fitted_at.unwrap_or(Timestamp(0));
        let ranks = snapshot.ranks();
        let state = serde_json::to_string(&ranks).unwrap_or_default();
        let now = WebhookPosition { position: fitted_at.0, state };
        for webhook in self.subscribed_webhooks(event) {
            let Some(former) = self.store.webhook_position(webhook, event).await? else {
                self.store.begin_webhook(webhook, event, &now).await?;
                continue;
            };
            // A state that cannot be parsed counts as a leaderboard without models.
            let changes = rank_changes(&serde_json::from_str(&former.state).unwrap_or_default(), &ranks);
            if !changes.is_empty() && former.position < fitted_at.0 {
                let last_vote_seq = snapshot.last_vote_seq;
                let data = ChangedLeaderboard { as_of: fitted_at.0, last_vote_seq, changes };
                self.write(webhook, event, data, former.position, &now).await?;
            }
        }
        Ok(())
    }

    fn subscribed_webhooks(&self, event: WebhookEvent) -> impl Iterator<Item = &str> {
        self.sender.webhooks().filter(move |webhook| webhook.wants(event)).map(|webhook| webhook.id.as_str())
    }

    async fn write<T: Serialize>(
        &self,
        webhook: &str,
        event: WebhookEvent,
        data: T,
        former: i64,
        position: &WebhookPosition,
    ) -> Result<(), StoreError> {
        let (id, created_at) = (self.rng.id(&*self.clock), self.clock.now());
        let message = WebhookMessage { id: id.clone(), event, created_at: created_at.0, data };
        // Only maps with non-string keys fail to serialise, and none is sent here.
        let body = serde_json::to_string(&message).unwrap_or_default();
        let message = NewWebhookMessage { id: &id, webhook, event, body: &body, created_at };
        self.store.insert_webhook_message(message, former, position).await.map(drop)
    }

    /// Sends a message once and stores the result, unless this instance or another one is sending it already. Returns whether it was sent.
    ///
    /// # Errors
    /// [`StoreError`]: where the message could not be claimed, it was not sent; where the result could not be stored, it is sent again.
    pub async fn send(&self, message: WebhookMessageRow) -> Result<bool, StoreError> {
        let now = self.clock.now();
        if !self.store.claim_webhook_message(&message, Timestamp(now.0 + CLAIM_LEASE_MS)).await? {
            return Ok(false);
        }
        let sent = self.sender.send(&message.webhook, message.event, message.body.clone(), now).await;
        let settled = with_attempt_result(&message, sent, self.clock.now());
        self.store.settle_webhook_message(&settled).await?;
        if settled.state == DeliveryState::Dead {
            metrics::webhook_abandoned();
        }
        Ok(true)
    }
}

/// Returns the message updated with the result of an attempt.
fn with_attempt_result(
    message: &WebhookMessageRow,
    sent: Result<(), WebhookError>,
    now: Timestamp,
) -> WebhookMessageRow {
    let mut settled = message.clone();
    let Err(error) = sent else {
        (settled.state, settled.settled_at) = (DeliveryState::Delivered, Some(now));
        return settled;
    };
    settled.failures = message.failures.saturating_add(1);
    settled.error = error.to_string();
    if let Some(wait) = wait_after(settled.failures) {
        settled.next_at = Timestamp(now.0.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)));
        tracing::warn!(webhook = message.webhook, failures = settled.failures, %error, "webhook delivery failed: it is retried");
    } else {
        (settled.state, settled.settled_at) = (DeliveryState::Dead, Some(now));
        tracing::error!(webhook = message.webhook, %error, "webhook delivery is abandoned: `langya webhooks retry` sends the message again");
    }
    settled
}

/// Schedules a message that was given up for another delivery.
///
/// # Errors
/// [`WebhookRetryError`].
pub async fn retry(
    store: &Store,
    rng: &SharedRng,
    clock: &dyn Clock,
    id: &str,
    actor: &Actor,
) -> Result<(), WebhookRetryError> {
    let mut entry = actor.entry(rng, clock, AdminAction::RetryWebhook, id);
    entry.latter = audit_json(&json!({ "state": DeliveryState::Waiting.as_str() }));
    let waits = store.retry_webhook_message(id, clock.now(), &entry).await?;
    if waits { Ok(()) } else { Err(WebhookRetryError::Unknown(id.to_owned())) }
}
