//! Deletes texts that are older than the settings allow: on the instance that leads, and only by a clock that was watched
//! for a while and did not jump, because nothing brings a text back.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::infra::clock_jumps::JumpDetectingClock;
use crate::infra::config::CurrentSettings;
use crate::infra::job_report::JobReport;
use crate::infra::rng::SharedRng;
use crate::infra::storage::Store;
use crate::services::admin::actor::Actor;
use crate::services::retention::Retention;

/// How often is looked for old texts; their age is in days. For so long the clock has to be steady before.
const LOOK_EVERY: Duration = Duration::from_secs(600);
/// Who deletes, as the audit log names it.
const PROGRAM: &str = "langya";

/// Deletes old texts every ten minutes, and at once after a change of the settings. Not while the clock may be wrong: a
/// machine may start with another time of day than the one that it gets soon after.
pub async fn delete_expired_texts(
    store: Store,
    (rng, clock): (Arc<SharedRng>, Arc<JumpDetectingClock>),
    settings: CurrentSettings,
    lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut ticker = tokio::time::interval(LOOK_EVERY);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut changes, mut leads) = (settings.changes(), lead.clone());
    loop {
        tokio::select! {
            _ = ticker.tick() => {}
            // The senders live as long as this job.
            _ = changes.changed() => {}
            _ = leads.changed() => {}
            () = shutdown.cancelled() => return,
        }
        if !*lead.borrow() || !clock.is_steady_for(LOOK_EVERY) {
            continue;
        }
        // On its own: whatever hinders it must not keep a text.
        if let Err(error) = store.delete_returned_limits().await
            && !error.is_outage()
        {
            tracing::warn!(error = ?error, "expired counts of rate limits could not be deleted");
        }
        let retention =
            Retention { store: &store, rng: &rng, clock: clock.as_ref(), actor: Actor::of_command(PROGRAM.to_owned()) };
        let settings = settings.now();
        let deleted = tokio::select! {
            deleted = report.run(retention.run(&settings.retention)) => deleted,
            () = shutdown.cancelled() => return,
        };
        report.runs_within(LOOK_EVERY);
        match deleted {
            Ok(0) => {}
            Ok(battles) => tracing::info!(battles, "expired texts are deleted"),
            Err(error) if error.is_outage() => {}
            Err(error) => tracing::warn!(error = ?error, "expired texts could not be deleted"),
        }
    }
}
