//! Updates the model register: the leader records changes, and counts the battles of finished days.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::infra::job_report::JobReport;
use crate::infra::storage::StoreError;
use crate::services::model_register::recording::Recorder;

/// Poll interval for finished days, imports and failed writes to repeat.
const POLL_INTERVAL: Duration = Duration::from_secs(60);

/// Updates the register when the models, the settings or the leadership change, and every minute.
pub async fn record_model_changes(
    recorder: Recorder,
    mut lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut settled = recorder.models.settled();
    let mut settings = recorder.settings.changes();
    let mut ticker = interval(POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            // The senders exist as long as the arena's models, settings and leader election.
            _ = settled.changed() => {}
            _ = settings.changed() => {}
            _ = lead.changed(), if lead.has_changed().is_ok() => {}
            () = shutdown.cancelled() => return,
        }
        if *lead.borrow_and_update() && *settled.borrow_and_update() {
            tokio::select! {
                () = update(&recorder, &report) => report.runs_within(POLL_INTERVAL),
                () = shutdown.cancelled() => return,
            }
        }
    }
}

async fn update(recorder: &Recorder, report: &JobReport) {
    log_outcome("changes of models or of the pairing recorded", report.run(recorder.record_settings()).await);
    log_outcome("days and imports counted for the register of models", report.run(recorder.count_battles()).await);
}

fn log_outcome(done: &str, result: Result<u64, StoreError>) {
    match result {
        Ok(0) => {}
        Ok(rows) => tracing::info!(rows, "{done}"),
        Err(error) if error.is_outage() => {}
        Err(error) => tracing::warn!(error = ?error, "the register of models could not be updated"),
    }
}
