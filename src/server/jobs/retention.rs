//! Deletes texts that are older than the settings allow: on the leader, and only after the clock has run for a while without a jump,
//! because deletion is final.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::infra::config::CurrentSettings;
use crate::infra::job_report::JobReport;
use crate::infra::rng::SharedRng;
use crate::infra::storage::Store;
use crate::infra::time::clock_jumps::JumpDetectingClock;
use crate::services::admin::actor::Actor;
use crate::services::retention::Retention;

/// Poll interval for old texts, whose age is in days. The clock must have been steady for as long before.
const POLL_INTERVAL: Duration = Duration::from_secs(600);
/// Actor of deletions in the audit log.
const AUDIT_ACTOR: &str = "langya";

/// Deletes old texts every ten minutes, and at once after a settings change. Not while the clock may be wrong: a machine may start with a
/// wrong time that is corrected soon after.
pub async fn delete_expired_texts(
    store: Store,
    rng: Arc<SharedRng>,
    clock: Arc<JumpDetectingClock>,
    settings: CurrentSettings,
    lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut ticker = tokio::time::interval(POLL_INTERVAL);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut changes, mut leads) = (settings.changes(), lead.clone());
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            // The senders exist as long as this job.
            _ = changes.changed() => {}
            _ = leads.changed() => {}
            () = shutdown.cancelled() => return,
        }
        if !*lead.borrow() || !clock.is_steady_for(POLL_INTERVAL) {
            continue;
        }
        // Separate step: its failure must not keep texts from being deleted.
        if let Err(error) = store.delete_returned_limits().await
            && !error.is_outage()
        {
            tracing::warn!(error = ?error, "expired counts of rate limits could not be deleted");
        }
        let retention = Retention {
            store: &store,
            rng: &rng,
            clock: clock.as_ref(),
            actor: Actor::of_command(AUDIT_ACTOR.to_owned()),
        };
        let settings = settings.now();
        let deleted = tokio::select! {
            deleted = report.run(retention.run(&settings.retention)) => deleted,
            () = shutdown.cancelled() => return,
        };
        report.runs_within(POLL_INTERVAL);
        match deleted {
            Ok(0) => {}
            Ok(battles) => tracing::info!(battles, "expired texts are deleted"),
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::warn!(error = ?error, "expired texts could not be deleted"),
        }
    }
}
