//! Keeps the leaderboard up to date: the refit loop of the leading instance, and the loop of those that follow it.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::wait_for_event::wait_for_event;
use crate::infra::events::{BusState, Event};
use crate::infra::job_report::JobReport;
use crate::infra::metrics;
use crate::infra::stored_votes::vote_tally::StoreWhen;
use crate::services::leaderboard::latest_leaderboard::{RefitError, Refitter};

/// Interval of the checks for new votes, in case an event was lost.
const LOOK_ANYWAY: Duration = Duration::from_secs(30);
/// The same while other instances cannot be reached, or after a failure.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Interval of the checks for changed exclusions, which no event announces: a command beside the arena may write them.
const LOOK_FOR_EXCLUSIONS: Duration = Duration::from_millis(250);

/// What an instance does for the leaderboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeaderboardDuty {
    /// Fits it.
    Leader,
    /// Loads what the leader has fitted.
    Follower,
}

/// Updates the leaderboard at the start, after votes, after a change of the settings, and a last time at the end. The leader
/// fits `rating.debounce_ms` after the first new vote where enough have come or the clock says so (see
/// [`Refitter::wait_for_votes`]); the others load what it has fitted. After each fit the leader waits four times its duration,
/// so that fitting never takes more than a fifth of a core.
pub async fn fit_leaderboard(
    mut refitter: Refitter,
    mut leader_election: watch::Receiver<bool>,
    report: JobReport,
    shutdown: CancellationToken,
) {
    let mut events = refitter.events.subscribe();
    let mut changes = refitter.settings.changes();
    let bus = refitter.events.state();
    let (mut leads, mut changed) = (false, false);
    loop {
        let started = Instant::now();
        let over = shutdown.is_cancelled();
        // At shutdown the lead is given up at once; the former leader still counts the last votes.
        leads = *leader_election.borrow_and_update() || over && leads;
        let role = if leads { LeaderboardDuty::Leader } else { LeaderboardDuty::Follower };
        let store = if over { StoreWhen::AnyNew } else { StoreWhen::ManyNew };
        let wait =
            if role == LeaderboardDuty::Leader && !over && !changed { waiting_votes(&refitter).await } else { None };
        let done = wait.is_some() || update(&mut refitter, role, store, &report).await;
        if over {
            return;
        }
        changed = false;
        let look_anyway = if done && *bus.borrow() != BusState::Lost { LOOK_ANYWAY } else { LOOK_AGAIN };
        let look_anyway = wait.unwrap_or(look_anyway).min(look_anyway);
        report.runs_within(look_anyway);
        let debounce = Duration::from_millis(refitter.settings.now().rating.debounce_ms);
        let (news, pause) = if leads {
            (Event::VoteRecorded, debounce.max(started.elapsed().saturating_mul(4)))
        } else {
            (Event::LeaderboardPublished, Duration::ZERO)
        };
        let next = async {
            let excluded = tokio::select! {
                // No news for a while: look anyway, in case an event was lost.
                _ = tokio::time::timeout(look_anyway, wait_for_event(&mut events, news)) => false,
                () = exclusions_changed(&refitter) => true,
            };
            tokio::time::sleep(pause).await;
            excluded
        };
        tokio::select! {
            excluded = next => changed = excluded,
            // The sender lives in the refitter's own handle.
            _ = changes.changed() => changed = true,
            // The sender ends with the arena.
            _ = leader_election.changed(), if leader_election.has_changed().is_ok() => {}
            () = shutdown.cancelled() => {}
        }
    }
}

/// How long new votes wait for others; a database that does not answer is left to the update.
async fn waiting_votes(refitter: &Refitter) -> Option<Duration> {
    refitter.wait_for_votes().await.ok().flatten()
}

/// Ends once exclusions changed. A failure is left to the next look at the votes, which reports it.
async fn exclusions_changed(refitter: &Refitter) {
    loop {
        tokio::time::sleep(LOOK_FOR_EXCLUSIONS).await;
        if matches!(refitter.exclusions_changed().await, Ok(true)) {
            return;
        }
    }
}

/// Whether it went well.
async fn update(refitter: &mut Refitter, role: LeaderboardDuty, store: StoreWhen, report: &JobReport) -> bool {
    let done = report.run(bring_up_to_date(refitter, role, store)).await;
    match done {
        Ok(true) => tracing::debug!(votes = refitter.tally.counts.read, "leaderboard fitted"),
        Ok(false) => {}
        Err(error) => {
            metrics::refit_failed();
            if !error.is_outage() {
                tracing::error!(error = ?error, "the leaderboard could not be updated");
            }
            return false;
        }
    }
    true
}

/// Whether a leaderboard was fitted.
async fn bring_up_to_date(
    refitter: &mut Refitter,
    role: LeaderboardDuty,
    store: StoreWhen,
) -> Result<bool, RefitError> {
    if role == LeaderboardDuty::Follower {
        return refitter.follow().await.map(|()| false);
    }
    let fitted = refitter.refit().await?;
    refitter.store_counts(store).await?;
    Ok(fitted)
}
