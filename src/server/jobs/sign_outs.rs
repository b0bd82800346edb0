//! Closes the sockets of sessions that were ended elsewhere.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::services::arena::access::Access;
use crate::services::arena::instances::ArenaInstances;

/// Poll interval for sign-outs: a socket outlives its session by less than a second.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Polls for sessions that other instances or the command line have ended.
pub async fn follow_sign_outs(
    access: Arc<Access>,
    instances: Arc<ArenaInstances>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut looks = tokio::time::interval(POLL_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = shutdown.cancelled() => return,
        }
        let looked = report.run(access.follow_sign_outs(&instances)).await;
        report.runs_within(POLL_INTERVAL);
        if let Err(error) = looked
            && !error.is_outage()
        {
            tracing::warn!(error = ?error, "sign-outs could not be read from the database");
        }
    }
}
