//! Tells webhooks what happened: the instance that leads writes the messages and sends them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::infra::storage::{StoreError, WebhookMessageRow};
use crate::services::leaderboard::refit::LatestLeaderboard;
use crate::services::webhooks::Webhooks;

/// Time between two looks for what is new or due.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Looks between two that delete old messages.
const LOOKS_BETWEEN: u32 = 3_600;
/// Messages that are sent at the same time: at most one of each webhook and event waits.
const AT_ONCE: usize = 64;

/// Looks for what is new or due every second while this instance leads. A receiver that does not answer holds up its own messages alone:
/// nobody waits for what is under way.
pub async fn send_webhooks(
    webhooks: Webhooks,
    leaderboard: Arc<LatestLeaderboard>,
    lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut ticker = interval(LOOK_EVERY);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut looks = 0_u32;
    let mut under_way: FuturesUnordered<BoxFuture<'_, Result<bool, StoreError>>> = FuturesUnordered::new();
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            Some(sent) = under_way.next() => {
                if let Err(error) = sent {
                    report.fail(&error);
                    tell(&error);
                }
                continue;
            }
            () = shutdown.cancelled() => return,
        }
        if !*lead.borrow() {
            continue;
        }
        let room = AT_ONCE.saturating_sub(under_way.len());
        let due = tokio::select! {
            due = report.run(look(&webhooks, &leaderboard, looks, room)) => due,
            () = shutdown.cancelled() => return,
        };
        looks = looks.wrapping_add(1);
        report.runs_within(LOOK_EVERY);
        match due {
            Ok(due) => under_way.extend(due.into_iter().map(|message| webhooks.send(message).boxed())),
            Err(error) => tell(&error),
        }
    }
}

async fn look(
    webhooks: &Webhooks,
    leaderboard: &LatestLeaderboard,
    looks: u32,
    room: usize,
) -> Result<Vec<WebhookMessageRow>, StoreError> {
    if looks.is_multiple_of(LOOKS_BETWEEN) {
        webhooks.delete_old().await?;
    }
    webhooks.due(&leaderboard.latest(), u32::try_from(room).unwrap_or(u32::MAX)).await
}

fn tell(error: &StoreError) {
    if !error.is_outage() {
        tracing::warn!(error = ?error, "webhook messages could not be prepared or sent");
    }
}
