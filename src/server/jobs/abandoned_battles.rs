//! Removes idle battles from memory and marks idle battles without a vote as abandoned.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::domain::time::Timestamp;
use crate::infra::config::CurrentSettings;
use crate::infra::job_report::JobReport;
use crate::infra::metrics;
use crate::infra::storage::Store;
use crate::infra::time::clock_jumps::JumpDetectingClock;
use crate::services::arena::battles::Battles;

/// Interval of the sweeps.
const SWEEP_INTERVAL: Duration = Duration::from_secs(20);

/// Removes idle battles from memory; the leader also marks idle battles without a vote as abandoned.
pub async fn abandon_battles(
    battles: Arc<Battles>,
    store: Store,
    clock: Arc<JumpDetectingClock>,
    settings: CurrentSettings,
    leader_election: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut ticker = tokio::time::interval(SWEEP_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            () = shutdown.cancelled() => return,
        }
        battles.sweep();
        let minutes = settings.now().battle.abandon_after_minutes;
        let limits = clock.wait_limits(Duration::from_secs(minutes.saturating_mul(60)));
        if !*leader_election.borrow() {
            continue;
        }
        let oldest = limits.oldest.unwrap_or(Timestamp(i64::MIN));
        let newest = limits.newest.unwrap_or(Timestamp(i64::MAX));
        let marked = report.run(store.abandon_battles(oldest, newest)).await;
        report.runs_within(SWEEP_INTERVAL);
        match marked {
            Ok(0) => {}
            Ok(count) => {
                metrics::battles_abandoned(count);
                tracing::info!(battles = count, "battles were left without a vote");
            }
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::error!(error = ?error, "abandoned battles could not be marked"),
        }
    }
}
