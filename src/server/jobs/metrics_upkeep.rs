//! Bounds the memory of metrics.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::infra::metrics;

/// Interval of the upkeep.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Sorts samples into their buckets, so that they do not accumulate while nothing scrapes `/metrics`.
pub async fn run_metrics_upkeep(report: JobReport, shutdown: CancellationToken) {
    let mut ticker = tokio::time::interval(UPKEEP_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = shutdown.cancelled() => return,
        }
        let upkeep = async {
            metrics::run_upkeep();
            Ok::<(), Infallible>(())
        };
        let Ok(()) = report.run(upkeep).await;
        report.runs_within(UPKEEP_INTERVAL);
    }
}
