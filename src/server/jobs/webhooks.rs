//! Tells webhooks what happened: the instance that leads writes the messages and sends them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::services::leaderboard::refit::LatestLeaderboard;
use crate::services::webhooks::Webhooks;

/// Time between two looks for what is new or due.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Looks between two that delete old messages.
const LOOKS_BETWEEN: u32 = 3_600;

/// Looks for what is new or due every second while this instance leads.
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
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = shutdown.cancelled() => return,
        }
        if !*lead.borrow() {
            continue;
        }
        let latest = leaderboard.latest();
        let look = async {
            if looks.is_multiple_of(LOOKS_BETWEEN) {
                webhooks.delete_old().await?;
            }
            webhooks.run(&latest).await
        };
        let done = tokio::select! {
            done = report.run(look) => done,
            () = shutdown.cancelled() => return,
        };
        looks = looks.wrapping_add(1);
        report.runs_within(LOOK_EVERY);
        match done {
            Ok(_) => {}
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::warn!(error = ?error, "webhook messages could not be prepared or sent"),
        }
    }
}
