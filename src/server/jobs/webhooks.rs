//! Sends events to webhooks: the leader writes the messages and delivers them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::infra::job_report::JobReport;
use crate::infra::storage::{StoreError, WebhookMessageRow};
use crate::infra::tasks::contain;
use crate::services::leaderboard::latest_leaderboard::LatestLeaderboard;
use crate::services::webhooks::Webhooks;

/// Poll interval for new and due messages.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Number of polls between deletions of old messages.
const POLLS_PER_CLEANUP: u32 = 3_600;
/// Maximum number of concurrent deliveries; per webhook and event at most one waits.
const MAX_CONCURRENT_DELIVERIES: usize = 64;

/// Checks every second for new and due messages while this instance is the leader. A receiver that does not answer delays only its own
/// messages: the job does not wait for deliveries in progress.
pub async fn send_webhooks(
    webhooks: Webhooks,
    leaderboard: Arc<LatestLeaderboard>,
    lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut ticker = interval(POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut looks = 0_u32;
    let webhooks = Arc::new(webhooks);
    // Separate tasks: a delivery may hold the writing connection of the database, which `poll` waits for.
    let mut deliveries = JoinSet::new();
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            Some(_) = deliveries.join_next() => continue,
            () = shutdown.cancelled() => return,
        }
        if !*lead.borrow() {
            continue;
        }
        let room = MAX_CONCURRENT_DELIVERIES.saturating_sub(deliveries.len());
        let due = tokio::select! {
            due = report.run(poll(&webhooks, &leaderboard, looks, room)) => due,
            () = shutdown.cancelled() => return,
        };
        looks = looks.wrapping_add(1);
        report.runs_within(POLL_INTERVAL);
        match due {
            Ok(due) => due.into_iter().for_each(|message| {
                deliveries.spawn(deliver(Arc::clone(&webhooks), message, report.clone()).in_current_span());
            }),
            Err(error) => log_failure(&error),
        }
    }
}

async fn poll(
    webhooks: &Webhooks,
    leaderboard: &LatestLeaderboard,
    looks: u32,
    room: usize,
) -> Result<Vec<WebhookMessageRow>, StoreError> {
    if looks.is_multiple_of(POLLS_PER_CLEANUP) {
        webhooks.delete_old().await?;
    }
    webhooks.due(&leaderboard.latest(), u32::try_from(room).unwrap_or(u32::MAX)).await
}

async fn deliver(webhooks: Arc<Webhooks>, message: WebhookMessageRow, report: JobReport) {
    if let Ok(Err(error)) = contain("send_webhooks", webhooks.send(message)).await {
        report.fail(&error);
        log_failure(&error);
    }
}

fn log_failure(error: &StoreError) {
    if !error.is_outage() {
        tracing::warn!(error = ?error, "webhook messages could not be prepared or sent");
    }
}
