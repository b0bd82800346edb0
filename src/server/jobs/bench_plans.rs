//! Runs the started benchmark plan, on the leader: see [`crate::services::benchmark::plans`].

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::infra::storage::BenchPlanRow;
use crate::infra::tasks::Tasks;
use crate::services::benchmark::plans::BenchPlans;
use crate::services::benchmark::run_error::RunError;

/// Poll interval for plans.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Polls for a plan while this instance is the leader, and runs it until it ends or another instance takes over.
pub async fn run_plans(plans: Arc<BenchPlans>, mut lead: watch::Receiver<bool>, report: JobReport, tasks: Tasks) {
    let (shutdown, draining) = (tasks.shutdown(), tasks.draining());
    // A plan may name models whose discovery is not finished.
    let mut settled = plans.models.settled();
    tokio::select! {
        // The sender is owned by the models, which this job holds.
        _ = settled.wait_for(|settled| *settled) => {}
        () = shutdown.cancelled() => return,
    }
    let mut ticker = interval(POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = draining.cancelled() => return,
        }
        if !*lead.borrow() {
            continue;
        }
        let look = async {
            match plans.store.running_bench_plan().await? {
                None => Ok(()),
                Some(row) => {
                    let _paid_for = tasks.delay_drain();
                    run_while_leader(&plans, &row, &mut lead, &draining).await
                }
            }
        };
        let done = tokio::select! {
            done = report.run(look) => done,
            () = shutdown.cancelled() => return,
        };
        report.runs_within(POLL_INTERVAL);
        match done {
            Ok(()) => {}
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::error!(error = ?error, "a plan of benchmarks could not be run"),
        }
    }
}

/// Runs a plan. Starts no new request once leadership is lost or the instance drains.
async fn run_while_leader(
    plans: &BenchPlans,
    row: &BenchPlanRow,
    lead: &mut watch::Receiver<bool>,
    draining: &CancellationToken,
) -> Result<(), RunError> {
    let stop = CancellationToken::new();
    let watching = async {
        let lost = async { lead.wait_for(|leads| !leads).await.is_ok() };
        tokio::select! {
            _ = lost => {}
            () = draining.cancelled() => {}
        }
        stop.cancel();
        std::future::pending().await
    };
    tokio::select! {
        done = plans.run(row, stop.clone()) => done,
        never = watching => never,
    }
}
