//! Creates the partitions of the next months ahead of time.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::infra::storage::Store;

/// Poll interval for partitions. They are created months ahead, so a failure can be repaired by the next check.
const POLL_INTERVAL: Duration = Duration::from_secs(600);

/// Creates the partitions of the next months, on the leader.
pub async fn create_partitions(
    store: Store,
    lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut ticker = tokio::time::interval(POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = shutdown.cancelled() => return,
        }
        if !*lead.borrow() {
            continue;
        }
        let added = report.run(store.add_partitions()).await;
        report.runs_within(POLL_INTERVAL);
        match added {
            Ok(0) => {}
            Ok(partitions) => tracing::info!(partitions, "partitions for the next months created"),
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::warn!(error = ?error, "partitions for the next months could not be created"),
        }
    }
}
