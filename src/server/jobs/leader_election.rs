//! Leader election for jobs that must run on one instance: the leader holds a lock that is released if it dies.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::infra::storage::{JobLock, Store, StoreError};

/// Poll interval of the lock, for its holder and for waiting instances.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const LOCK_NAME: &str = "jobs";

/// Acquires the lead whenever it is free, and sends through `leader_election` whether this instance is the leader.
pub async fn elect_leader(
    store: Store,
    leader_election: watch::Sender<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let leader_election = Leadership(leader_election);
    let mut ticker = tokio::time::interval(POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut lock: Option<JobLock> = None;
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = shutdown.cancelled() => break,
        }
        let leads = match report.run(hold_or_acquire(&mut lock, &store)).await {
            Ok(leads) => leads,
            Err(error) => {
                tracing::debug!(error = ?error, "the lock of the background jobs could not be requested");
                false
            }
        };
        report.runs_within(POLL_INTERVAL);
        if leader_election.0.send_replace(leads) != leads {
            if leads {
                tracing::info!("this instance is now the leader: it runs the background jobs of the arena");
            } else {
                tracing::info!("this instance is no longer the leader: it stops the background jobs of the arena");
            }
        }
    }
    drop(leader_election);
    if let Some(lock) = lock {
        lock.release().await;
    }
}

/// Announces the leadership, which ends with the job because the lock does.
struct Leadership(watch::Sender<bool>);

impl Drop for Leadership {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

async fn hold_or_acquire(lock: &mut Option<JobLock>, store: &Store) -> Result<bool, StoreError> {
    if let Some(held) = lock
        && held.is_held().await
    {
        return Ok(true);
    }
    *lock = None;
    *lock = store.job_lock(LOCK_NAME).await?;
    Ok(lock.is_some())
}
