//! Has models work on newly voted battles in rounds, on the instance that leads: see
//! [`auto_judge`](crate::services::battle_judging::auto_judge) and [`leak_check`](crate::services::exclusions::leak_check).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::wait_for_event::wait_for_event;
use crate::infra::config::{CurrentSettings, Settings};
use crate::infra::events::{Event, EventBus};
use crate::infra::job_report::JobReport;
use crate::services::judging_rounds::{JudgingRounds, RoundOutcome};

/// Votes of so long are waited for, so that a round has more than one.
const GATHER: Duration = Duration::from_millis(500);
/// How often battles are looked for even though no vote was announced: another day may have begun.
const LOOK_ANYWAY: Duration = Duration::from_secs(60);
/// How long models that fail are left alone.
const REST: Duration = Duration::from_secs(600);

/// Works until the arena ends. What is under way then is dropped, and asked again later.
pub async fn run_judging_rounds<R: JudgingRounds>(
    mut rounds: R,
    settings: CurrentSettings,
    events: Arc<dyn EventBus>,
    mut lead: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut votes = events.subscribe();
    let mut changes = settings.changes();
    loop {
        let now = settings.now();
        let leads = *lead.borrow_and_update();
        let round = tokio::select! {
            round = round(&mut rounds, &now, &settings, lead.clone(), &report), if leads => round,
            () = std::future::ready(()), if !leads => RoundOutcome::Done,
            () = shutdown.cancelled() => return,
        };
        let wait = async {
            match round {
                RoundOutcome::More => {}
                RoundOutcome::Failing => {
                    report.runs_within(REST);
                    tokio::time::sleep(REST).await;
                }
                RoundOutcome::Done => {
                    report.runs_within(LOOK_ANYWAY);
                    let _ = tokio::time::timeout(LOOK_ANYWAY, wait_for_event(&mut votes, Event::VoteRecorded)).await;
                    tokio::time::sleep(GATHER).await;
                }
            }
        };
        tokio::select! {
            () = wait => {}
            // The sender lives in the job's own handle.
            _ = changes.changed() => {}
            // The sender ends with the arena.
            _ = lead.changed(), if lead.has_changed().is_ok() => {}
            () = shutdown.cancelled() => return,
        }
    }
}

/// One round. It begins nothing new once the lead is lost or other settings for it are in force.
async fn round<R: JudgingRounds>(
    rounds: &mut R,
    now: &Settings,
    settings: &CurrentSettings,
    mut lead: watch::Receiver<bool>,
    report: &JobReport,
) -> RoundOutcome {
    let stop = CancellationToken::new();
    let mut changes = settings.changes();
    let watching = async {
        let lost = async { lead.wait_for(|leads| !leads).await.is_ok() };
        let changed = async { changes.wait_for(|settings| R::is_changed(now, settings)).await.is_ok() };
        tokio::select! {
            _ = lost => {}
            _ = changed => {}
        }
        stop.cancel();
        std::future::pending::<()>().await;
    };
    let done = tokio::select! {
        done = report.run(rounds.round(now, stop.clone())) => done,
        () = watching => Ok(RoundOutcome::Done),
    };
    done.unwrap_or_else(|error| {
        if !error.is_outage() {
            tracing::error!(error = ?error, "a background pass over voted battles failed");
        }
        RoundOutcome::Failing
    })
}
