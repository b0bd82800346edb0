//! Runs judging rounds on newly voted battles, on the leader: see [`auto_judge`](crate::services::battle_judging::auto_judge) and
//! [`leak_check`](crate::services::exclusions::leak_check).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::wait_for_event::wait_for_event;
use crate::infra::config::{CurrentSettings, Settings};
use crate::infra::events::{Event, EventBus};
use crate::infra::job_report::JobReport;
use crate::services::judging_rounds::{BackgroundJudging, RoundOutcome};

/// Time to collect votes, so that a round has more than one.
const VOTE_COLLECTION_PERIOD: Duration = Duration::from_millis(500);
/// Poll interval without new votes: another day may have begun.
const FALLBACK_POLL_INTERVAL: Duration = Duration::from_secs(60);
/// Cool-down of failing models.
const FAILURE_COOL_DOWN: Duration = Duration::from_secs(600);

/// Runs rounds until the arena ends. Requests under way then are dropped, and repeated later.
pub async fn run_judging_rounds<R: BackgroundJudging>(
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
                    report.runs_within(FAILURE_COOL_DOWN);
                    tokio::time::sleep(FAILURE_COOL_DOWN).await;
                }
                RoundOutcome::Done => {
                    report.runs_within(FALLBACK_POLL_INTERVAL);
                    let _ =
                        tokio::time::timeout(FALLBACK_POLL_INTERVAL, wait_for_event(&mut votes, Event::VoteRecorded))
                            .await;
                    tokio::time::sleep(VOTE_COLLECTION_PERIOD).await;
                }
            }
        };
        tokio::select! {
            () = wait => {}
            // The sender is owned by the job's own handle.
            _ = changes.changed() => {}
            // The sender is dropped at the end of the arena.
            _ = lead.changed(), if lead.has_changed().is_ok() => {}
            () = shutdown.cancelled() => return,
        }
    }
}

/// Runs one round. Starts no new request once leadership is lost or the settings of the round change.
async fn round<R: BackgroundJudging>(
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
