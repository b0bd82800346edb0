//! Which instance does what has to be done once: the one that holds a lock which dies with its holder.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::infra::storage::{JobLock, Store, StoreError};

/// How often the lock is looked at, by its holder and by those who wait for it.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The lock's name.
const JOBS: &str = "jobs";

/// Takes the lead whenever nobody else has it, and sends through `leader_election` whether it has.
pub async fn elect_leader(
    store: Store,
    leader_election: watch::Sender<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let leader_election = Leadership(leader_election);
    let mut ticker = tokio::time::interval(LOOK_EVERY);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut lock: Option<JobLock> = None;
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = shutdown.cancelled() => break,
        }
        let leads = match report.run(keep(&mut lock, &store)).await {
            Ok(leads) => leads,
            Err(error) => {
                tracing::debug!(error = ?error, "the lock of the background jobs could not be requested");
                false
            }
        };
        report.runs_within(LOOK_EVERY);
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

/// The leader announces it. Leadership ends with the job, because its lock does.
struct Leadership(watch::Sender<bool>);

impl Drop for Leadership {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

async fn keep(lock: &mut Option<JobLock>, store: &Store) -> Result<bool, StoreError> {
    if let Some(held) = lock
        && held.is_held().await
    {
        return Ok(true);
    }
    *lock = None;
    *lock = store.job_lock(JOBS).await?;
    Ok(lock.is_some())
}
